"""Goal: where patterns leave out the first of several names of one inode, a restore gives the bytes to the next one that is
wanted, whoever made the archive; a name never gets bytes that came behind it.

Method: small and large files of four names through `forebay archive` and GNU tar, with patterns that leave out the first
names; an archive in which another file takes the first name behind the second.
"""

import io
import os
import pathlib
import sys
import tarfile
import tempfile

import conformance
from forebay_test import expect, forebay, run

NAMES = ("a/{}", "b/2-{}", "b/3-{}", "b/{}")


def make(top):
    for folder in "ab":
        (top / folder).mkdir(parents=True)
    for kind, size in (("small", 100), ("large", 5 << 20)):
        (top / "a" / kind).write_bytes(os.urandom(size))
        for name in NAMES[1:]:
            os.link(top / "a" / kind, top / name.format(kind))


def check_names(top, path, target):
    for words, wanted in ((("--exclude", "a"), 3), (("--include", "2-*", "--include", "3-*"), 2)):
        forebay("restore-archive", path, target, *words)
        for kind in ("small", "large"):
            there = [target / name.format(kind) for name in NAMES if (target / name.format(kind)).exists()]
            expect(len(there) == wanted and len({one.stat().st_ino for one in there}) == 1, f"{words}: {wanted} names of one inode", str(there))
            expect(there[0].read_bytes() == (top / "a" / kind).read_bytes(), f"{words}: with the bytes")
        conformance.removed(target)


def check_later(place):
    with tarfile.open(place / "later.tar", "w") as archive:
        for name, kind, data in (("first", tarfile.REGTYPE, b"old"), ("name", tarfile.LNKTYPE, "first"), ("first", tarfile.REGTYPE, b"newer")):
            entry = tarfile.TarInfo(name)
            entry.type = kind
            if kind == tarfile.LNKTYPE:
                entry.linkname = data
            entry.size = len(data) if kind == tarfile.REGTYPE else 0
            archive.addfile(entry, io.BytesIO(data) if kind == tarfile.REGTYPE else None)
    forebay("restore-archive", place / "later.tar", place / "later", "--exclude", "first")
    expect((place / "later/name").read_bytes() == b"old", "the bytes that were there before the name")


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-left-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        top = place / "names"
        make(top)
        forebay("archive", top, place / "ours.tar", "--threads", 1)
        run("tar", "--sort=name", "-cf", place / "tars.tar", "-C", top, ".")
        for path in (place / "ours.tar", place / "tars.tar"):
            check_names(top, path, place / "target")
        check_later(place)
    print("left out: the next name has the bytes")


if __name__ == "__main__":
    sys.exit(main())
