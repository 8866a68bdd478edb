"""Goal: `forebay compare` sees whatever two trees do not have alike, and `forebay sync` makes them equal again, whatever it
was; neither says anything of trees that are equal, and a dry run changes nothing.

Method: trees of every kind of entry. One thing is broken at a time in a copy, as the test of the judge does it; then the
verbs are called, and the judge looks. Bytes that differ under the same size and time are found by `--checksum` alone, and a
hole that was filled by none: it reads as before.
"""

import json
import pathlib
import subprocess
import tempfile

import conformance
import judge
import make_tree
from forebay_test import FOREBAY, expect, run
from judge_test import BROKEN, BROKEN_BY_ROOT, ROOT, Copy

SAME_SIZE_AND_TIME = {"a byte"}
EQUAL = {"a hole"}  # bytes that are zero are equal to a hole


def report_of(*words, codes=(0,)):
    done = run(FOREBAY, *words, "--json", code=None)
    expect(done.returncode in codes, f"{words} exits with one of {codes}, not {done.returncode}", done.stdout + done.stderr)
    return json.loads(done.stdout)


def check(left, right, name, act):
    subprocess.run(["cp", "-a", left, right], check=True)
    act(Copy(right))
    report = report_of("compare", left, right, "--threads", 2, codes=(1,))
    expect(report["first"], f"of {name}: compare says what differs", str(report))
    before = judge.text(judge.judge(left, right))
    report_of("sync", left, right, "--delete", "--dry-run", codes=(0, 1))
    expect(judge.text(judge.judge(left, right)) == before, f"of {name}: a dry run changes nothing")
    report = report_of("sync", left, right, "--delete", *(["--checksum"] if name in SAME_SIZE_AND_TIME else []))
    verdict = judge.judge(left, right)
    expect(verdict.equal, f"of {name}: sync heals, not without {verdict.failed()}", f"{report}\n{judge.text(verdict)}")
    report = report_of("compare", left, right)
    expect(not report["first"], f"of {name}: compare has nothing to say afterwards", str(report))
    again = report_of("sync", left, right, "--delete")
    idle = all(again[key] == 0 for key in ("copied", "linked", "adjusted", "removed"))
    expect(idle, f"of {name}: a second sync has nothing to do", str(again))
    conformance.removed(right)


def main():
    broken = {name: one for name, one in (BROKEN | (BROKEN_BY_ROOT if ROOT else {})).items() if name not in EQUAL}
    failed = []
    with tempfile.TemporaryDirectory(prefix="forebay-heal-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        left = place / "left"
        for tree, factor in (("TS", 0.04), ("special", 1)):
            make_tree.make(tree, left / tree.lower(), factor)
        for name, (act, _) in broken.items():
            try:
                check(left, place / "right", name, act)
            except AssertionError as problem:
                failed.append(name)
                print(f"FAILED: {problem}", flush=True)
                conformance.removed(place / "right")
        conformance.removed(left)
    expect(not failed, f"all {len(broken)} things are seen and healed, not so {failed}")
    print(f"heal: {len(broken)} things broken, seen and healed")


main()
