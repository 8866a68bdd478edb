#!/usr/bin/env python3
"""Goal: what `forebay` prints and how it exits is exactly what it printed when a person last looked.

A script that this build cannot run exits with 77 and is passed over.

Each NAME.sh here runs in an empty directory with `forebay` and `make_small_run` in PATH; NAME.stdout, NAME.stderr and
NAME.exit hold what it must give. `snapshots_test.py --update [NAME...]` rewrites them: read the difference before you
commit it. FOREBAY_BINARY_DIR says which build is tested.
"""

import difflib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("FOREBAY_BINARY_DIR", HERE.parent.parent / "build")).resolve()
STREAMS = ("stdout", "stderr", "exit")


def outcome_of(script):
    """What the script gives, by the endings of the files that hold it."""
    environment = {
        "PATH": f"{BUILD / 'bin'}:{BUILD / 'tests'}:{os.environ['PATH']}",
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "100",
    }
    for kept in ("LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
        if kept in os.environ:
            environment[kept] = os.environ[kept]
    with tempfile.TemporaryDirectory(prefix="forebay-cli-") as scratch:
        done = subprocess.run(["sh", "-eu", script], cwd=scratch, env=environment, capture_output=True, text=True,
                              check=False, timeout=600, stdin=subprocess.DEVNULL)
        if scratch in done.stdout + done.stderr:
            raise AssertionError(f"{script.name} prints the name of its scratch directory; let it use relative paths")
    return {"stdout": done.stdout, "stderr": done.stderr, "exit": f"{done.returncode}\n"}


def differences(script, outcome):
    for ending in STREAMS:
        expected_file = script.with_suffix("." + ending)
        expected = expected_file.read_text(encoding="utf-8") if expected_file.exists() else ""
        if not expected_file.exists():
            yield f"{expected_file.name} is missing: run with --update and look at it"
        yield from difflib.unified_diff(expected.splitlines(), outcome[ending].splitlines(), expected_file.name, "found",
                                        lineterm="")
    if script.stem.startswith("json-"):
        try:
            json.loads(outcome["stdout"])
        except ValueError as wrong:
            yield f"{script.name}: standard output is not JSON: {wrong}"


def main(arguments):
    update = arguments[:1] == ["--update"]
    names = arguments[1:] if update else arguments
    if not (BUILD / "bin" / "forebay").exists():
        print(f"skipped: {BUILD / 'bin' / 'forebay'} is not built")
        return 77
    scripts = [script for script in sorted(HERE.glob("*.sh")) if not names or script.stem in names]
    if not scripts:
        print(f"no script of that name in {HERE}")
        return 2
    failed = 0
    skipped = []
    for script in scripts:
        outcome = outcome_of(script)
        if outcome["exit"] == "77\n":
            skipped.append(script.stem)
            continue
        if update:
            for ending in STREAMS:
                script.with_suffix("." + ending).write_text(outcome[ending], encoding="utf-8")
            continue
        found = list(differences(script, outcome))
        if found:
            failed += 1
            print(f"--- {script.name}\n" + "\n".join(found))
    if skipped:
        print("not in this build: " + ", ".join(skipped))
    print(f"{len(scripts)} scripts, {failed} differ" if not update else f"{len(scripts)} rewritten")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
