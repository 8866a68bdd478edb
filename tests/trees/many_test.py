"""Goal: a directory of a million files, and a million empty files in a thousand directories, are walked, copied, compared,
synced and deleted, in memory that does not follow the number of entries.

Method: both trees in memory; each verb runs in a process whose memory is measured. FOREBAY_MANY_FACTOR is the part of a
million (0.02 here, 1 nightly).
"""

import os
import pathlib
import tempfile
import unittest

import conformance
import judge
import make_tree
import peak
from forebay_test import FOREBAY, expect, measures_memory

FACTOR = float(os.environ.get("FOREBAY_MANY_FACTOR", "0.02"))
MEMORY_MIB_MAX = 256


def measured(*words):
    """Runs the program, which must end with 0; gives the MiB that it needed at most."""
    code, used_bytes = peak.run((FOREBAY, *words))
    expect(code == 0, f"{words} exits with 0, not {code}")
    return used_bytes >> 20


def check(place, tree):
    source, target = place / tree, place / f"copy-of-{tree}"
    made = make_tree.make(tree, source, FACTOR).made["files"]
    used = {"walk": measured("walk", source, "--threads", 4), "copy": measured("copy", source, target, "--threads", 4)}
    verdict = judge.judge(source, target)
    expect(verdict.equal, f"the copy of {tree} is equal, not without {verdict.failed()}", judge.text(verdict))
    used["compare"] = measured("compare", source, target, "--threads", 4)
    used["sync"] = measured("sync", source, target, "--delete", "--threads", 4)
    used["delete"] = measured("delete", target, "--threads", 4)
    expect(not target.exists(), f"the copy of {tree} is removed")
    conformance.removed(source)
    print(f"{tree}: {made} files, MiB: {used}")
    return used


def check_memory(used):
    expect(max(used.values()) <= MEMORY_MIB_MAX, f"at most {MEMORY_MIB_MAX} MiB are used, not {used}")


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-many-", dir="/dev/shm") as scratch:
        for tree in ("many", "empty"):
            try:
                measures_memory(check_memory)(check(pathlib.Path(scratch), tree))
            except unittest.SkipTest as reason:
                print(f"left out, the memory: {reason}")


main()
