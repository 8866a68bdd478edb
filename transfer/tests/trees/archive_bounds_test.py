"""Goal: no archive makes its restore, or its check, need more memory than the guide says: one that asks for more is refused as
damaged, or restored a head at a time.

Method: archives of a kind each, written by this test alone: common records that are long or never the same, maps of holes of
a million pieces, and long texts; a path of a million names, which is named. Memory is that of the program at its highest.
"""

import pathlib
import tempfile
import unittest

import peak
from archive_blocks import END, block, records, whole
from forebay_test import FOREBAY, expect, measures_memory, run

MEMORY_MIB_MAX = 256


def long_common(file):
    for number in range(17):
        file.write(records(b"g", (b"key%d" % number, b"x" * (16_000_000))) + block(f"file{number}"))


def many_common(file):
    for number in range(20_000):
        file.write(records(b"g", (b"key", b"%d" % number), (b"other", b"x" * 2000)) + block(f"file{number}"))


def same_common(file):
    for number in range(20_000):
        file.write(records(b"g", (b"key", b"value"), (b"other", b"x" * 2000)) + block(f"file{number}"))


def maps_in_records(file):
    pieces = 1_500_000
    text = b",".join(b"%d,1" % (2 * number) for number in range(pieces))
    for number in range(10):
        head = records(b"x", (b"GNU.sparse.size", b"%d" % (2 * pieces)), (b"GNU.sparse.map", text))
        file.write(head + block(f"file{number}", size=pieces) + whole(b"a" * pieces))


def maps_before(file):
    pieces = 4_000_000
    text = whole(b"%d\n" % pieces + b"".join(b"%d\n1\n" % (2 * number) for number in range(pieces)))
    for number in range(4):
        head = records(b"x", (b"GNU.sparse.major", b"1"), (b"GNU.sparse.minor", b"0"), (b"GNU.sparse.realsize", b"%d" % (2 * pieces)))
        file.write(head + block(f"file{number}", size=len(text) + pieces) + whole(text + b"a" * pieces))


def long_texts(file):
    attributes = [(b"SCHILY.xattr.user.%d" % number, b"x" * 60_000) for number in range(260)]
    for number in range(12):
        file.write(records(b"x", *attributes) + block(f"file{number}"))


def check(place, make, codes, said):
    archive, target, report = place / "archive", place / "target", place / "report"
    with open(archive, "wb") as file:
        make(file)
        file.write(END)
    used = {}
    restores = ((archive, target), codes) if codes != [0] or make is same_common else None  # a call for each piece
    for words, wanted in filter(None, ((("--check", archive), codes[:1]), restores)):
        ended, used_bytes = peak.run((FOREBAY, "restore-archive", *words, "--threads", "4"))
        expect(ended in wanted, f"{make.__name__}: restore-archive {words[0]} ends with one of {wanted}, not {ended}")
        used[words[0]] = used_bytes >> 20
    print(f"{make.__name__}: {archive.stat().st_size >> 20} MiB, of memory {list(used.values())}")
    if said:
        done = run(FOREBAY, "restore-archive", archive, target, "--report", report, code=codes[0])
        told = done.stderr + (report.read_text() if report.exists() else "")
        expect(said in told, f"{make.__name__}: it is said", told[:1000])
    run("rm", "-rf", target)
    return used


def check_memory(used):
    expect(max(used.values()) <= MEMORY_MIB_MAX, f"at most {MEMORY_MIB_MAX} MiB are used, not {used}")


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-bounds-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        deep = lambda file: file.write(records(b"x", (b"path", b"a/" * 1_000_000 + b"a")) + block("deep") + block("file"))
        deep.__name__ = "a path of a million names"
        # Few file systems have room for so many attributes.
        for make, codes, said in ((long_common, [4], "common records"), (many_common, [4], "common records"), (same_common, [0], ""),
                                  (maps_in_records, [0], ""), (maps_before, [0], ""), (long_texts, [0, 1], ""),
                                  (deep, [1], "takes at most 10000")):
            used = check(place, make, codes, said)
            try:
                measures_memory(check_memory)(used)
            except unittest.SkipTest as reason:
                print(f"left out, the memory: {reason}")


main()
