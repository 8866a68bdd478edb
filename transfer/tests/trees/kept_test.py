"""Goal: what cannot be kept of an entry costs no more than that, and is said: a group that this user is in is kept where the owner
cannot be, flags of inodes are named, and a file system that is mounted read-only is refused.

Method: an ordinary user with a second group copies files of others, of that group and of none of his, by all ways that go on
without the owner. Files that chattr has made immutable and append-only are copied, archived and listed. Targets are mounted
read-only, as a whole and below. Runs in a mount namespace of its own, as root.
"""

import json
import os
import pathlib
import subprocess
import tempfile

from forebay_test import FOREBAY, expect, run
from own_mounts import USER, mover, own_mounts, user_may_run

OTHER, SHARED, CLOSED = 2001, 3000, 3001
IN_GROUP = ["setpriv", f"--reuid={USER}", f"--regid={USER}", f"--groups={USER},{SHARED}"]


def owner(path):
    seen = path.lstat()
    return seen.st_uid, seen.st_gid, seen.st_mode & 0o7777


def groups(place):
    if not user_may_run():
        print(f"left out, what an ordinary user sees: he may not run {FOREBAY}")
        return
    source, targets = place / "of-others", place / "targets"
    (source / "below").mkdir(parents=True)
    targets.mkdir()
    os.chown(targets, USER, USER)
    for name, mode in (("file", 0o640), ("program", 0o6755), ("below/file", 0o640)):
        (source / name).write_text(name)
        os.chown(source / name, OTHER, SHARED)
        (source / name).chmod(mode)
    for path in (source, source / "below"):
        os.chown(path, OTHER, SHARED)
        path.chmod(0o755)
    mover("archive", source, place / "of-others.tar", code=(0,))
    restore = ("restore-archive", place / "of-others.tar")
    manifest = ("--manifest", targets / "manifest")
    for name, words, code in (("drop", ("copy", source, targets / "drop", "--cannot-keep", "drop"), 1),
                              ("manifest", ("copy", source, targets / "manifested", *manifest), 0),
                              ("sync", ("sync", source, targets / "manifested", *manifest), 0),
                              ("restore", (*restore, targets / "restored", *manifest), 0),
                              ("hosts", ("copy", source, targets / "hosts", "--hosts", "localhost", *manifest), 0),
                              ("group", ("copy", source, targets / "group", "--preserve", "group,permissions,times"), 0)):
        mover(*words, before=IN_GROUP, code=(code,))
        target = targets / pathlib.Path(words[2]).name
        expect(owner(target / "file") == (USER, SHARED, 0o640), f"{name}: the group is kept alone", str(owner(target / "file")))
        expect(owner(target / "below/file")[1] == SHARED and owner(target / "below")[1] == SHARED, f"{name}: in all directories")
        expect(owner(target / "program")[2] == 0o755, f"{name}: nothing runs as somebody else")
    unkept = [json.loads(line) for line in (targets / "manifest").read_text().splitlines()]
    expect({one["part"] for one in unkept} == {f"owner {OTHER}:{SHARED}"}, "the manifest has both", str(unkept))
    mover("compare", source, targets / "group", "--preserve", "group", code=(0,))
    os.chown(source / "file", OTHER, CLOSED)
    (source / "file").chmod(0o644)
    for more in ((), ("--dry-run",)):
        _, report = mover("sync", source, targets / "group", "--preserve", "group", *more, before=IN_GROUP, code=(1,))
        expect(report["remarks"]["not_kept"] == 1 and "group 3001" in report["first"][0]["why"], "one that he is not in is named", str(report))
    _, report = mover("compare", source, targets / "group", "--preserve", "group", code=(1,))
    expect(report["first"][0]["why"] == f"group {CLOSED} and {SHARED}", "and compared", str(report["first"]))


def flags(place):
    source = place / "flagged"
    (source / "closed").mkdir(parents=True)
    for name in ("fixed", "log", "closed/a", "plain"):
        (source / name).write_text(name)
    marks = (("+i", "fixed"), ("+a", "log"), ("+i", "closed"))
    for mark, name in marks:
        if run("chattr", mark, source / name, code=None).returncode:
            print("left out, flags of inodes: this file system has none")
            return
    try:
        wanted = {"fixed": "immutable", "log": "append-only", "closed": "immutable"}
        for words in (("copy", source, place / "unflagged"), ("copy", source, place / "unflagged"), ("archive", source, place / "flagged.tar"),
                      ("sync", source, place / "unflagged", "--dry-run"), ("copy", source, place / "by-two", "--hosts", "localhost")):
            _, report = mover(*words, code=(0,))
            named = {one["path"]: one["why"].split()[2] for one in report["first"] if one["kind"] == "flags_left"}
            expect(named == wanted, f"{words}: flags are named", str(report["first"]))
        mover("walk", source, "--special", "--list", place / "special", code=(0,))
        lines = [json.loads(line) for line in (place / "special").read_text().splitlines()]
        listed = {one["path"]: ("immutable" if one.get("immutable") else "append-only" if one.get("append_only") else "") for one in lines}
        expect(listed == wanted, "a walk lists them", str(lines))
    finally:
        for mark, name in marks:
            run("chattr", mark.replace("+", "-"), source / name, code=None)


def read_only(place):
    source, target, archive = place / "source", place / "mounted", place / "source.tar"
    (source / "below").mkdir(parents=True)
    (source / "below/file").write_text("x")
    mover("archive", source, archive, code=(0,))
    mover("copy", source, target, code=(0,))
    (source / "below/more").write_text("y")
    os.chmod(source / "below/file", 0o640)
    run("mount", "--bind", target, target)
    run("mount", "-o", "remount,ro,bind", target)
    for words in (("copy", source), ("sync", source), ("restore-archive", archive)):
        for more in ((), ("--manifest", place / "m"), ("--no-sync",)):
            done, _ = mover(*words, target, *more, code=(2,))
            expect("mounted read-only" in done.stderr and "nothing was changed" in done.stderr, f"{words}: it is refused", done.stderr)
    mover("copy", source, target, "--dry-run", code=(2,))
    run("umount", target)
    run("mount", "--bind", target / "below", target / "below")
    run("mount", "-o", "remount,ro,bind", target / "below")
    _, report = mover("sync", source, target, "--manifest", place / "m", code=(1,))
    named = {one["path"]: one["kind"] for one in report["first"]}
    expect(named.get("below/file") == "failed" and named.get("below/more") == "failed", "what is mounted so below has failed", str(report["first"]))
    run("umount", target / "below")


def main():
    own_mounts()
    with tempfile.TemporaryDirectory(prefix="forebay-kept-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        place.chmod(0o755)
        try:
            for check in (groups, flags, read_only):
                check(place)
        finally:
            for name in ("below", "."):
                subprocess.run(["umount", "--lazy", place / "mounted" / name], check=False, stderr=subprocess.DEVNULL)


main()
