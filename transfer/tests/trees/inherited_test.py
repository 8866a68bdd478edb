"""Goal: what new entries inherit from a directory of the target, and what was there before, is none of the copy's: an ACL
of its default ACL, its group and setgid bit; special bits that no change of owner clears.

Method: directories with default ACLs, of project groups and with special bits, into which copies, syncs, teams and
restores bring what has none of that; owner, permissions and ACLs are read by this test, and a second sync changes
nothing.
"""

import os
import sys

import special
from forebay_test import check_each, expect, forebay

DEFAULT_ACL = special.some_acl(1000, 6)


def held(path):
    seen = os.lstat(path)
    return oct(seen.st_mode), seen.st_uid, seen.st_gid, {name: os.getxattr(path, name, follow_symlinks=False)
                                                         for name in os.listxattr(path, follow_symlinks=False)}


def paths_below(top):
    return sorted(path.relative_to(top) for path in [top, *top.rglob("*")])


def expect_same(source, target, what):
    expect(paths_below(source) == paths_below(target), f"{what}: the same entries are there", str(paths_below(target)))
    for path in paths_below(source):
        expect(held(source / path) == held(target / path), f"{what}: {path} is as its source", f"{held(source / path)}\n{held(target / path)}")


def make_file(path, mode, owner=(0, 0)):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(path.name)
    os.chown(path, *owner)
    path.chmod(mode)


def check_replaced(place):
    """Files take the place of directories in one that has got a default ACL, or a group and setgid, by the same sync."""
    source = place / "source"
    for name in ("acl", "group"):
        make_file(source / name / "a", 0o640)
        make_file(source / name / "b", 0o700)
        os.symlink("a", source / name / "link")
    os.setxattr(source / "acl", special.DEFAULT, DEFAULT_ACL)
    os.chown(source / "group", 0, 3000)
    (source / "group").chmod(0o2775)
    for words in ((), ("--threads", "1"), ("--hosts", "localhost")):
        target = place / f"target{len(words)}{words[:1]}"
        for name in ("acl", "group"):
            for below in ("a", "b", "link"):
                (target / name / below).mkdir(parents=True)
        said = forebay("sync", source, target, "--delete", *words)
        expect("6 copied" in said, f"{words}: the directories are replaced", said)
        expect_same(source, target, f"{words}")


def check_special_bits(place):
    """Of directories chown clears no special bits, of files neither the sticky bit nor setgid without execution."""
    source, target, project = place / "source", place / "target", place / "project"
    for name in ("f", "g", "h"):
        make_file(source / name, 0o644)
    for name, mode in (("closed", 0o700), ("open", 0o755)):
        make_file(source / name / "in", 0o600, (1000, 1000))
        os.chown(source / name, 1000, 1000)
        (source / name).chmod(mode)
    project.mkdir()
    os.chown(project, 0, 3000)
    project.chmod(0o2775)
    forebay("archive", source, place / "tar")
    for words, copy in ((("copy", source), "copy"), (("restore-archive", place / "tar"), "restored")):
        forebay(*words, project / copy)
        expect_same(source, project / copy, f"{copy} below a directory with setgid")
    forebay("copy", source, target)
    for verb in (("sync", source), ("restore-archive", place / "tar")):
        for name, mode in (("f", 0o1644), ("g", 0o2644), ("h", 0o4644), ("closed", 0o3700), ("open", 0o6755)):
            os.chown(target / name, 2000, 2000)
            (target / name).chmod(mode)
        forebay(*verb, target)
        expect_same(source, target, f"{verb[0]} over other owners and special bits")


def check_links(place):
    """A new symbolic link inherits no ACL, and nothing is taken from it."""
    source, target = place / "source", place / "target"
    make_file(source / "d/a", 0o640)
    os.setxattr(source / "d", special.DEFAULT, DEFAULT_ACL)
    forebay("sync", source, target, "--delete")
    os.symlink("a", source / "d/link")
    os.mkfifo(source / "d/fifo")
    os.removexattr(source / "d/fifo", special.ACCESS)
    (source / "d/fifo").chmod(0o602)
    said = forebay("sync", source, target, "--delete")
    expect("2 copied" in said, "the link and the fifo are copied", said)
    expect_same(source, target, "in a directory with a default ACL")
    forebay("archive", source, place / "tar")
    for name in ("link", "fifo"):
        (target / "d" / name).unlink()
    forebay("restore-archive", place / "tar", target)
    expect_same(source, target, "restored to one")


def check_parts_alone(place):
    """Attributes without permissions: an ACL has the last word. Permissions without attributes: the inherited ACL."""
    source, target, closed = place / "source", place / "target", place / "closed"
    make_file(source / "with", 0o664)
    os.setxattr(source / "with", special.ACCESS, special.some_acl(1000, 6))
    make_file(source / "without", 0o600)
    words = ("--preserve", "attributes,times")
    forebay("copy", source, target, *words, umask=0o077)
    expect(held(target / "with") == held(source / "with"), "the ACL is the source's", str(held(target / "with")))
    said = forebay("sync", source, target, *words)
    expect("0 adjusted, 2 equal" in said, "and stays as it is", said)
    closed.mkdir()
    none = 0xFFFFFFFF
    os.setxattr(closed, special.DEFAULT, special.acl((special.OWNER, 4, none), (special.USER, 6, 1000), (special.GROUP_OWNER, 4, none),
                                                     (special.MASK, 6, none), (special.OTHER, 0, none)))
    forebay("copy", source, closed, "--preserve", "permissions,times")
    expect(held(closed / "without")[0] == held(source / "without")[0], "permissions are those of the source", str(held(closed / "without")))


def check_no_mark(place):
    """With patterns to include a new directory has no mark left of the copy, under an ACL neither."""
    source = place / "marked"
    make_file(source / "d/a.h5", 0o644)
    os.setxattr(source / "d", special.ACCESS, special.some_acl(1000, 7))
    forebay("copy", source, place / "unmarked", "--preserve", "attributes", "--include", "*.h5")
    mode = (place / "unmarked/d").stat().st_mode & 0o7777
    expect(mode == (source / "d").stat().st_mode & 0o7777, "no sticky bit is left", oct(mode))


def main():
    if os.geteuid() != 0:
        print("skipped: needs root, for owners")
        sys.exit(77)
    check_each("inherited", (check_replaced, check_special_bits, check_links, check_parts_alone, check_no_mark))


main()
