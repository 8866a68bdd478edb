#!/usr/bin/env python3
"""Goal: `mpiexec -n N forebay tune` makes its trials in one job, keeps its budget, writes a profile that a session takes,
and leaves nothing else behind; another program may choose the trials; wrong calls are refused.

Method: the smallest trials on 2 ranks in a folder; a program that answers by the two files of --ask and --tell; a session
of the profile by `forebay tune`'s own lines.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = pathlib.Path(os.environ["FOREBAY_AGENT"]) if "FOREBAY_AGENT" in os.environ else \
    pathlib.Path(os.environ["FOREBAY_BINARY_DIR"], "bin/forebay")
SMALL = ["--bytes-per-rank", "400000", "--saves", "1"]


def tune(scratch, *options, ranks=2):
    command = ["mpiexec", "-n", str(ranks), str(PROGRAM), "tune", "--run", f"{scratch}/target", "--staging", f"{scratch}/node",
               *SMALL, *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(job, code=0):
    out, errors = job.communicate(timeout=300)
    assert job.returncode == code, f"{job.args}: {job.returncode}\n{out}\n{errors}"
    return out, errors


def value(row, name):
    return next(one["value"] for one in row["measures"] if one["name"] == name)


def check_search(scratch):
    out, _ = ended(tune(scratch, "--budget", "5", "--out", f"{scratch}/profile.json"))
    profile = json.loads(pathlib.Path(scratch, "profile.json").read_text(encoding="utf-8"))
    assert profile["kind"] == "profile" and len(profile["rows"]) >= 8, profile
    assert sum(value(row, "share_of_bytes") for row in profile["rows"]) <= 5, profile
    assert profile["rows"][0]["remarks"] == ["seed"]
    names = [one["name"] for one in profile["chosen"]]
    assert {"stream.file", "agent.block_bytes", "agent.in_flight", "virtual_nodes"} <= set(names), names
    key = {one["name"]: one["value"] for one in profile["key"]}
    assert key["nodes"] == "1" and key["ranks_per_node"] == "2" and key["durable"] == "committed", key
    assert value(profile, "drain_rate_bytes_per_second") > 0 and value(profile, "save_rate_bytes_per_second") > 0
    assert all(line in out for line in profile["lines"]), out
    assert "runs: " in out and "until a save is committed" in out, out
    # Cost counts what a save costs the simulation, and --json prints what --out holds.
    out, _ = ended(tune(scratch, "--budget", "4", "--interval", "60", "--json", "--out", f"{scratch}/profile.json"))
    profile = json.loads(out)
    assert out == pathlib.Path(scratch, "profile.json").read_text(encoding="utf-8")
    best = profile["rows"][0]
    seconds = value(best, "visible_seconds") + 0.02 * value(best, "drain_seconds")
    assert abs(value(best, "cost_seconds") - seconds) < 1e-9, best


def check_foreign(scratch):
    ask, tell = pathlib.Path(scratch, "ask"), pathlib.Path(scratch, "tell")
    ask.write_text("", encoding="ascii")
    job = tune(scratch, "--budget", "9", "--ask", str(ask), "--tell", str(tell), "--json")

    def told(count):
        for _ in range(3000):
            lines = tell.read_text(encoding="utf-8").splitlines() if tell.exists() else []
            if len(lines) >= count:
                return json.loads(lines[count - 1])
            assert job.poll() is None, job.communicate()
            time.sleep(0.02)
        raise AssertionError("nothing is told")

    knobs = {one["name"]: one for one in told(1)["knobs"]}
    assert knobs["agent.in_flight"]["default"] == "4"
    for count, (wanted, share) in enumerate([("1", 1), ("8", 0.25), ("8", 1)], start=2):
        with ask.open("a", encoding="ascii") as file:
            file.write(json.dumps({"setting": {"agent.in_flight": wanted}, "share": share}) + "\n")
        answer = told(count)
        assert answer["setting"]["agent.in_flight"] == wanted and answer["cost"] > 0 and answer["learned"], answer
    assert answer["spent"] == 2.25, answer
    with ask.open("a", encoding="ascii") as file:
        file.write('{"done": true}\n')
    out, _ = ended(job)
    assert len(json.loads(out)["rows"]) == 3
    ask.write_text('{"setting": {"agent.in_flight": "5"}}\n', encoding="ascii")
    tell.unlink()
    _, errors = ended(tune(scratch, "--ask", str(ask), "--tell", str(tell)), 2)
    assert "agent.in_flight has no such value" in errors, errors


def check_signal(scratch):
    """What has been learned so far is told, and all that was made is removed."""
    out_file = pathlib.Path(scratch, "cut.json")
    job = tune(scratch, "--budget", "500", "--out", str(out_file), ranks=1)
    while not list(pathlib.Path(scratch, "target").glob("forebay-bench-*/tune")):
        time.sleep(0.01)
        assert job.poll() is None, job.communicate()
    time.sleep(1)
    children = subprocess.run(["pgrep", "-P", str(job.pid)], capture_output=True, text=True, check=True).stdout.split()
    os.kill(int(children[0]), signal.SIGTERM)
    out, _ = ended(job)
    assert "interrupted" in out and json.loads(out_file.read_text(encoding="utf-8"))["rows"], out


def main():
    if not PROGRAM.with_name("forebay-mpi").exists() or not shutil.which("mpiexec"):
        print("skipped: a build without MPI, or no mpiexec")
        return 77
    with tempfile.TemporaryDirectory(prefix="forebay-tune-") as scratch:
        for name in ("target", "node"):
            pathlib.Path(scratch, name).mkdir()
        mine = pathlib.Path(scratch, "target/tune/mine.txt")
        mine.parent.mkdir()
        mine.write_text("a user's", encoding="ascii")
        for check in (check_search, check_foreign, check_signal):
            check(scratch)
            left = sorted(str(one.relative_to(scratch)) for one in pathlib.Path(scratch).rglob("*") if one.parent.name in ("target", "node"))
            assert left == ["target/tune"], left
    for options, says in [(["--budget", "3"], "--budget must be 4 or more"), (["--durable", "soon"], "staged or committed"),
                          (["--durable", "staged"], "needs --interval"), (["--ask", "x"], "--ask and --tell go together"),
                          (["--exclude", "x"], "no number of an OST")]:
        refused = subprocess.run([PROGRAM, "tune", *options, *SMALL], capture_output=True, text=True, check=False)
        assert refused.returncode == 2 and says in refused.stderr, refused
    return 0


if __name__ == "__main__":
    sys.exit(main())
