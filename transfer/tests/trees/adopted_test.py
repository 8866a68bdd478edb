"""Goal: sync --checksum takes over a copy that another tool has made: where bytes are equal, what an entry lacks
is set and nothing is copied; one that differs in a byte is copied.

Method: copies by the standard library that lose all times, with older and newer ones than the source has, with and without
`times` in --preserve; one file of equal size has another byte. The judge, which has no code of ours, compares.
"""

import json
import os
import pathlib
import shutil
import tempfile
import time

from forebay_test import expect, forebay
from own_mounts import expect_equal

FILES = 20
BYTES = 100_000


def make(place, target_age_s):
    source, target = place / "source", place / "target"
    (source / "below").mkdir(parents=True)
    for number in range(FILES):
        (source / "below" / f"file{number}").write_bytes(os.urandom(BYTES))
    shutil.copytree(source, target, copy_function=shutil.copyfile)
    with open(target / "below/file7", "r+b") as file:
        byte = file.read(1)
        file.seek(0)
        file.write(bytes([byte[0] ^ 1]))
    then = time.time() - target_age_s
    for path in target.rglob("*"):
        os.utime(path, (then, then))
    return source, target


def inodes(tree):
    return {path.name: path.stat().st_ino for path in tree.rglob("file*")}


def taken_over(place, words, target_age_s):
    source, target = make(place, target_age_s)
    what = f"{words}, of an age of {target_age_s} s"
    before = inodes(target)
    report = json.loads(forebay("sync", source, target, "--checksum", "--json", *words))
    expect((report["copied"], report["bytes"]) == (1, BYTES), f"{what}: the one that differs is copied", str(report))
    same = [name for name, number in inodes(target).items() if before[name] == number]
    expect(len(same) == FILES - 1, f"{what}: the others stay", str(same))
    has_times = not words
    expect(report["adjusted" if has_times else "equal"] == FILES - 1, f"{what}: and get their times, or are equal", str(report))
    report = json.loads(forebay("sync", source, target, "--checksum", "--json", *words))
    expect(report["equal"] == FILES, f"{what}: then all are equal", str(report))
    if has_times:
        report = json.loads(forebay("sync", source, target, "--json"))
        expect(report["equal"] == FILES, f"{what}: without --checksum, too", str(report))
        expect_equal(source, target, what)
    else:
        forebay("compare", source, target, "--preserve", "none")


def main():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        place = pathlib.Path(name)
        for words in ((), ("--preserve", "none")):
            for age_s in (-3600, 1_000_000):
                taken_over(place / f"{len(words)}{age_s}", words, age_s)
    print("adopted: no bytes that are there are copied")


main()
