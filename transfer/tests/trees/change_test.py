"""Goal: a source that changes while it is copied is seen: no torn file gets its final name, what vanished or changed is told,
by name and by the exit code, and stops nothing.

Method: while `forebay copy` copies at a limited rate, others rewrite a file in place, append to a log, cut a file and let it
grow again, and remove files. Each version of the first three is told apart by its bytes: a copy must be one version, whole.
"""

import json
import pathlib
import subprocess
import tempfile

import make_tree
import movers
from changers import Changers, check_versions, told
from forebay_test import FOREBAY, SECONDS_MAX, expect

FACTOR = 0.1  # a file of 19 MiB that is rewritten
RATE = "20M"  # a second: the copy takes a second and more, so the others are at work meanwhile


def check_code(done, remarks):
    expected = 1 if remarks else 0
    expect(done.returncode == expected, f"exit code {expected}, not {done.returncode}", done.stdout + done.stderr)


def check_source_changes(place, threads):
    source, target = place / f"source-{threads}", place / f"target-{threads}"
    make_tree.make("change", source, FACTOR)
    first_log = (source / "growing.log").read_bytes()
    command = [FOREBAY, "copy", source, target, "--threads", str(threads), "--rate", RATE, "--json"]
    with Changers(source) as changers:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, timeout=SECONDS_MAX)
    expect(done.stdout, "there is a report", done.stderr)
    remarks = told(json.loads(done.stdout))
    check_code(done, remarks)
    missing = check_versions(changers, source, target, remarks, first_log)
    print(f"{threads} threads: told {len(remarks)}, {missing} of {len(changers.unlinked)} that were removed are not at the target")
    return source, target


def check_renamed(place):
    """What leaves a directory that is still to be copied, for one that was, is seen by neither: it is not removed."""
    source, target = place / "renamed", place / "of-renamed"
    for name in "abc":
        (source / name / "moves/below").mkdir(parents=True)
        for file in ("moves/below/file", "moving"):
            (source / name / file).write_text(name)
    sync = [FOREBAY, "sync", source, target, "--delete"]
    subprocess.run(sync, check=True, stdout=subprocess.DEVNULL)
    for name in "abc":
        (source / name / "large").write_bytes(bytes(2 << 20))
    process = subprocess.Popen([*sync, "--threads", "1", "--rate", "2M"], stdout=subprocess.PIPE, text=True)
    done, going = [], []
    while not (done and going):
        expect(process.poll() is None, "the sync goes on")
        done = [name for name in "abc" if (target / name / "large").exists()]
        going = [name for name in "abc" if list((target / name).glob(".fb-*"))]
    left = min(set("abc") - {done[0], going[0]})
    for name in ("moves", "moving"):
        (source / left / name).rename(source / done[0] / f"new-{name}")
    said, _ = process.communicate(timeout=SECONDS_MAX)
    expect(process.returncode == 1 and f"{done[0]}/new-moves  changed" in said and f"{done[0]}/new-moving  changed" in said, "it is named", said)
    there = (target / left / "moves/below/file").exists() and (target / left / "moving").exists()
    expect(there, "and what the target has of it stays", said)
    subprocess.run(sync, check=True, stdout=subprocess.DEVNULL)
    code, said = movers.Mover("diff", ("diff", "-r", "{source}", "{target}"), ("diff",)).copy(source, target)
    expect(code == 0, "the next sync makes both equal", said)


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-change-", dir="/dev/shm") as scratch:
        check_renamed(pathlib.Path(scratch))
        for threads in (1, 4):
            source, target = check_source_changes(pathlib.Path(scratch), threads)
            done = subprocess.run([FOREBAY, "sync", source, target, "--json"], capture_output=True, text=True, check=False)
            expect(done.returncode == 0, "once nothing changes, a sync heals all", done.stdout + done.stderr)
            code, said = movers.Mover("diff", ("diff", "-r", "{source}", "{target}"), ("diff",)).copy(source, target)
            missing = [line for line in said.splitlines() if "Only in" in line and str(source) in line]
            expect(code in (0, 1) and not missing and "differ" not in said, "what is at the source is at the target", said)


main()
