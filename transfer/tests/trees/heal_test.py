"""Goal: `forebay compare` sees whatever two trees do not have alike, and `forebay sync` makes them equal again, whatever it
was; neither says anything of trees that are equal, and a dry run changes nothing.

Method: trees of every kind of entry. One thing is broken at a time in a copy, as the test of the judge does it; then the
verbs are called, and the judge looks. Bytes that differ under the same size and time are found by `--checksum` alone, and a
hole that was filled by none: it reads as before.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import conformance
import judge
import make_tree
from forebay_test import FOREBAY, expect, run
from judge_test import BROKEN, BROKEN_BY_ROOT, ROOT, Copy

SAME_SIZE_AND_TIME = {"a byte"}
SCRATCH = tempfile.TemporaryDirectory(prefix="forebay-heal-", dir="/dev/shm")
ELSEWHERE = pathlib.Path(SCRATCH.name, "elsewhere")
EQUAL = {"a hole"}  # bytes that are zero are equal to a hole


def as_directory(path):
    """A file becomes a directory that is not empty, and not to be written to."""
    os.unlink(path)
    os.mkdir(path)
    pathlib.Path(os.fsdecode(path), "inside").write_text("more")
    os.chmod(path, 0o500)


def as_file(path):
    shutil.rmtree(path)
    pathlib.Path(os.fsdecode(path)).write_text("a file")


def as_symlink(path):
    """To a directory beside the trees, of which nothing may be touched."""
    shutil.rmtree(path)
    os.symlink(ELSEWHERE, path)


def many_more(copy):
    """Directories, symlinks and links of one inode that the source has not."""
    top = pathlib.Path(os.fsdecode(copy.top), "more")
    (top / "deep/deeper").mkdir(parents=True)
    (top / "deep/file").write_text("more")
    (top / "deep/deeper/link").hardlink_to(top / "deep/file")
    (top / "outward").symlink_to(ELSEWHERE)
    (top / "deep").chmod(0)


def regrouped(copy):
    """Names that belong together are crossed with those of another file."""
    one, other = copy.path("acl-file"), copy.path("year-1960")
    os.unlink(one)
    os.link(other, one)


# The judge's own test lacks entries of another kind and names in wrong groups.
EXCHANGED = {
    "a file as a directory": lambda copy: as_directory(copy.plain()),
    "a directory as a file": lambda copy: as_file(copy.path("links")),
    "a directory as a symlink": lambda copy: as_symlink(copy.path("set-group")),
    "the first directory as a symlink": lambda copy: as_symlink(os.path.join(copy.top, b"special")),
    "a symlink as a directory": lambda copy: as_directory(copy.path("absolute")),
    "a fifo as a directory": lambda copy: as_directory(copy.path("fifo")),
    "a file as a fifo": lambda copy: (os.unlink(copy.path("trusted")), os.mkfifo(copy.path("trusted"))),
    "much more": many_more,
    "names in a wrong group": regrouped,
    "half of it": lambda copy: shutil.rmtree(os.path.join(copy.top, b"ts")),
}


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
    broken = {name: act for name, (act, _) in (BROKEN | (BROKEN_BY_ROOT if ROOT else {})).items() if name not in EQUAL} | EXCHANGED
    failed = []
    with SCRATCH as scratch:
        place = pathlib.Path(scratch)
        left = place / "left"
        for tree, factor in (("TS", 0.04), ("special", 1)):
            make_tree.make(tree, left / tree.lower(), factor)
        ELSEWHERE.mkdir()
        (ELSEWHERE / "file").write_text("of others")
        for name, act in broken.items():
            try:
                check(left, place / "right", name, act)
            except AssertionError as problem:
                failed.append(name)
                print(f"FAILED: {problem}", flush=True)
                conformance.removed(place / "right")
            untouched = [path.name for path in ELSEWHERE.iterdir()] == ["file"] and (ELSEWHERE / "file").read_text() == "of others"
            expect(untouched, f"of {name}: what a symlink leads to is not touched")
        conformance.removed(left)
    expect(not failed, f"all {len(broken)} things are seen and healed, not so {failed}")
    print(f"heal: {len(broken)} things broken, seen and healed")


main()
