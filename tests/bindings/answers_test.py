"""Goal: errors are reported by name. A damaged snapshot that a restart skips is reported without a log, `verify`
separates abandoned from living snapshots, and the files of a living session are not deleted.

Method: a simulation of one array, damaged files, and the program beside it.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"])
if not list((BUILD / "python/forebay").glob("_forebay.*so")):
    print("skipped: the Python package is not built (it needs nanobind in build/venv)")
    sys.exit(77)
SIMULATION = """
import os, sys
import numpy as np
import forebay
back = {"restart_from": int(os.environ["RESTART_FROM"])} if "RESTART_FROM" in os.environ else {}
u = np.zeros(5000)
try:
    with forebay.Session(sys.argv[1], staging=sys.argv[2]) as session:
        stream = session.stream("restart", keep=0, **back)
        stream.array("u", u)
        found = stream.restore()
        print("from", found.step if found else None, flush=True)
        for step in map(int, sys.argv[3:]):
            stream.save(step)
        if not sys.argv[3:]:
            sys.stdin.read()
except forebay.Error as error:
    print(type(error).__name__, error)
"""


def environment(**more):
    kept = {key: value for key, value in os.environ.items() if not key.startswith("FOREBAY_LOG")}
    return kept | {"PYTHONPATH": str(BUILD / "python"), "FOREBAY_AGENT": str(BUILD / "bin/forebay")} | more


def simulate(work, *steps, **more):
    done = subprocess.run([sys.executable, "-c", SIMULATION, work / "run", work / "memory", *map(str, steps)],
                          env=environment(**more), capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    return done.stdout, done.stderr


def forebay(*words):
    done = subprocess.run([BUILD / "bin/forebay", *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def spoil(node_file):
    with open(node_file, "r+b") as file:
        file.seek(-5000, os.SEEK_END)
        file.write(b"XXXX")


def damage_is_seen(work):
    out, error = simulate(work, 1, 2, 3)
    assert out == "from None\n" and not error, (out, error)
    newest = work / "run/restart/step-000003/node-00000.h5"
    spoil(newest)
    out, error = simulate(work)
    assert out == "from 2\n" and error.count("\n") == 1, (out, error)
    assert "step 3" in error and str(newest) in error, error
    out, error = simulate(work, FOREBAY_LOG="1")
    assert error.count("step 3 is skipped") == 1, error


def abandoned_are_told(work):
    assert simulate(work, 3)[0] == "from 2\n"
    code, text = forebay("verify", work / "run", "--json")
    found = [(one["step"], one.get("state"), one["whole"]) for one in json.loads(text)]
    assert code == 1 and found == [(3, None, True), (2, None, True), (1, None, True), (3, "abandoned", False)], found


def errors_say_where_to(work):
    missing = work / "run/restart/step-000003/node-00000.h5"
    missing.rename(work / "away")
    out, _ = simulate(work)
    assert out.startswith("RetryError") and str(missing) in out and out.count("FOREBAY_RESTART=2 ") == 1, out
    (work / "away").rename(missing)
    records = work / "run/forebay/restarts"
    records.touch()
    out, _ = simulate(work, RESTART_FROM="2")
    assert out.startswith("RefusedError") and str(records) in out and "Next: repair" in out, out
    records.unlink()


def living_is_not_deleted(work):
    with subprocess.Popen([sys.executable, "-c", SIMULATION, work / "run", work / "memory"], env=environment(),
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
        assert session.stdout.readline() == "from 3\n"
        for place in ("run", "run/restart", "run/restart/step-000002", "run/forebay"):
            code, text = forebay("delete", work / place)
            assert code == 2 and f"process {session.pid}" in text and (work / place).is_dir(), (place, code, text)
        session.stdin.close()
    assert forebay("delete", work / "run/restart/step-000002")[0] == 0
    assert not (work / "run/restart/step-000002").exists()
    assert forebay("delete", work / "run")[0] == 0


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-answers-") as scratch:
        work = pathlib.Path(scratch)
        (work / "memory").mkdir()
        for case in (damage_is_seen, abandoned_are_told, errors_say_where_to, living_is_not_deleted):
            case(work)
            print(case.__name__)


if __name__ == "__main__":
    main()
