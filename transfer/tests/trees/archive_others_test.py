"""Goal: archives of other programs come back as tar restores them: absolute names below the target, directories without an entry
with mkdir's permissions; what no system can hold of an entry is named, and what lies behind it is restored.

Method: archives of GNU tar, with the directories that it makes of them itself; heads that this test writes alone, with numbers
and times that are none.
"""

import json
import os
import pathlib
import stat
import tempfile

from archive_blocks import END, block, records, whole
from forebay_test import all_of_forebay, expect, forebay, run

DATA = b"restored"


def told(*words, code=0):
    return json.loads(forebay(*words, "--json", code=code))


def check_absolute(place):
    source, out = place / "absolute", place / "absolute-out"
    source.mkdir()
    (source / "f").write_bytes(DATA)
    os.link(source / "f", source / "g")
    run("tar", "-cPf", place / "absolute.tar", source)
    answer = told("restore-archive", place / "absolute.tar", out)
    there = out / source.relative_to("/")
    expect(answer["absolute_names"] == 3 and (there / "f").read_bytes() == DATA, "names come without their slash", str(answer))
    expect((there / "g").stat().st_ino == (there / "f").stat().st_ino, "those that links stand for, too")
    expect(told("restore-archive", place / "absolute.tar", "--dry-run")["absolute_names"] == 3, "a dry run counts them")


def modes(top):
    return {str(path.relative_to(top)): (oct(stat.S_IMODE(path.stat().st_mode)), path.stat().st_gid) for path in top.rglob("*")}


def check_implied(place):
    source = place / "implied"
    (source / "a/b").mkdir(parents=True)
    (source / "a/b/f").write_bytes(DATA)
    run("tar", "-cf", place / "implied.tar", "-C", source, "a/b/f")
    for mode in (0o755, 0o2775):
        for umask in (0o022, 0o077, 0o002):
            by_tar, by_forebay = place / f"tar-{mode}-{umask}", place / f"forebay-{mode}-{umask}"
            for top in (by_tar, by_forebay):
                top.mkdir()
                top.chmod(mode)
            old = os.umask(umask)
            run("tar", "-xf", place / "implied.tar", "-C", by_tar)
            forebay("restore-archive", place / "implied.tar", by_forebay)
            os.umask(old)
            expect(modes(by_forebay) == modes(by_tar), f"as tar makes them in {mode:o} by {umask:o}", str((modes(by_forebay), modes(by_tar))))


def odd_archive(path):
    """Entries that no system can hold as they are, each before one that is fine."""
    def file(name, **fields):
        return block(name, size=len(DATA), **fields) + whole(DATA)

    odd = [records(b"x", (b"mtime", b"99999999999999999999")) + file("late"),
           records(b"x", (b"uid", b"-1")) + file("nobody"),
           records(b"x", (b"gid", b"x" * 30)) + file("no-group"),
           file("user", user=b"-000001\0"), file("time", modified=b"not a time\0\0"), file("mode", mode=b"rwxr-x-\0"),
           file("future", modified=b"\x80" + b"\xff" * 11)]
    path.write_bytes(b"".join(one + file(f"good{number}") for number, one in enumerate(odd)) + END)
    return {"late": "modified", "nobody": "user", "no-group": "group", "user": "user", "time": "modified", "mode": "permissions",
            "future": "modified"}


def check_odd(place):
    archive, out = place / "odd.tar", place / "odd"
    odd = odd_archive(archive)
    answer = told("restore-archive", archive, out, code=1)
    named = {one["path"]: one["why"] for one in answer["first"] if one["kind"] == "not_kept"}
    expect(set(named) == set(odd), "each odd one is named, and no other", str(named))
    for path, part in odd.items():
        expect(part in named[path], f"{path}: with what it is", named[path])
    expect(all((out / f"good{number}").read_bytes() == DATA for number in range(len(odd))), "all others are restored")
    told("restore-archive", archive, place / "dropped", "--cannot-keep", "drop", code=1)
    expect(all((place / "dropped" / path).read_bytes() == DATA for path in odd), "with --cannot-keep drop all are")
    expect(told("restore-archive", "--check", archive)["uncompared_files"] == 2 * len(odd), "a check reads them all")


def check_texts(place):
    archive = place / "one.tar"
    archive.write_bytes(block("") + block("./", kind=b"0") + block("behind", size=len(DATA)) + whole(DATA) + END)
    answer = told("restore-archive", archive, place / "unnamed", code=1)
    expect(len(answer["first"]) == 1 and "no name" in answer["first"][0]["why"], "an entry without a name is named so", str(answer))
    expect((place / "unnamed/behind").read_bytes() == DATA, "and those behind it are restored")
    archive.write_bytes(block("part", kind=b"M", size=len(DATA)) + whole(DATA) + END)
    said = all_of_forebay("restore-archive", archive, place / "part", code=6)
    expect("damaged" not in said and "--multi-volume" in said, "a volume of several is none that is damaged", said)
    archive.write_bytes(block("a", size=len(DATA)) + whole(DATA) + block("b", size=b"x" * 12) + END)
    forebay("restore-archive", archive, place / "size", code=4)


def main():
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        for part in (check_absolute, check_implied, check_odd, check_texts):
            part(place)


main()
