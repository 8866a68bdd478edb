"""Goal: a restore whose patterns leave out the first name of a file names its further names as failed and exits with 1; no
name gets the bytes of another file that has the first name at the target.

Method: small and large files of four names through `forebay archive` and GNU tar; a target where an older file has the first
name.
"""

import json
import os
import pathlib
import tempfile

import conformance
from forebay_test import expect, forebay, run

NAMES = ("a/{}", "b/2-{}", "b/3-{}", "b/{}")
KINDS = (("small", 100), ("large", 5 << 20))


def make(top):
    for folder in "ab":
        (top / folder).mkdir(parents=True)
    for kind, size in KINDS:
        (top / "a" / kind).write_bytes(os.urandom(size))
        for name in NAMES[1:]:
            os.link(top / "a" / kind, top / name.format(kind))


def check(top, path, target):
    for before in (False, True):
        if before:
            (target / "a").mkdir(parents=True)
            for kind, _ in KINDS:
                (target / "a" / kind).write_text("older")
        told = json.loads(forebay("restore-archive", path, target, "--exclude", "a", "--json", code=1))
        expect(told["remarks"]["failed"] == 6 and told["linked"] == 0, "six further names fail", str(told))
        expect(not any((target / name.format(kind)).exists() for name in NAMES[1:] for kind, _ in KINDS), "none of them is there")
        conformance.removed(target)
    told = json.loads(forebay("restore-archive", path, target, "--exclude", "3-*", "--json"))
    expect(told["linked"] == 4 and (target / "b/small").read_bytes() == (top / "a/small").read_bytes(), "others are linked", str(told))
    conformance.removed(target)


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-left-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        top = place / "names"
        make(top)
        forebay("archive", top, place / "ours.tar", "--threads", 1)
        run("tar", "--sort=name", "-cf", place / "tars.tar", "-C", top, ".")
        for path in (place / "ours.tar", place / "tars.tar"):
            check(top, path, place / "target")
    print("ok: further names of a file that was left out")


main()
