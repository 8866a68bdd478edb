"""Goal: a directory of a million files, and a million empty files in a thousand directories, are walked, copied, compared,
synced and deleted, in memory that does not follow the number of entries; nor does that of a list of paths.

Method: both trees in memory; each verb runs in a process whose memory is measured. FOREBAY_MANY_FACTOR is the part of a
million (0.02 here, 1 nightly). A list of three million paths, in no order, names all files of a copy among them.
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
LISTED = 3_000_000


def measured(*words, code=0):
    """Runs the program, which must end with `code`; gives the MiB that it needed at most."""
    ended, used_bytes = peak.run((FOREBAY, *words))
    expect(ended == code, f"{words} exits with {code}, not {ended}")
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


def check_list(place):
    source, target, listed = place / "empty", place / "listed", place / "list"
    make_tree.make("empty", source, FACTOR)
    files = [path.relative_to(source) for path in source.rglob("*") if path.is_file()]
    step = LISTED // len(files)
    with open(listed, "w", encoding="ascii") as text:
        for number in range(LISTED):
            text.write(f"{files[number // step % len(files)] if number % step == 0 else f'gone/{number % 1000}/{number}'}\n")
    used = {"copy --files-from": measured("copy", source, target, "--files-from", listed, "--threads", 4, code=1)}
    verdict = judge.judge(source, target)
    expect(verdict.equal, f"all files of the list are copied, not without {verdict.failed()}", judge.text(verdict))
    conformance.removed(source)
    print(f"a list of {LISTED} paths, MiB: {used}")
    return used


def check_memory(used):
    expect(max(used.values()) <= MEMORY_MIB_MAX, f"at most {MEMORY_MIB_MAX} MiB are used, not {used}")


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-many-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        for made in (lambda: check(place, "many"), lambda: check(place, "empty"), lambda: check_list(place)):
            try:
                measures_memory(check_memory)(made())
            except unittest.SkipTest as reason:
                print(f"left out, the memory: {reason}")


main()
