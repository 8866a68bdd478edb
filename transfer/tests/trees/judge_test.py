"""Goal: the judge sees whatever a copy has lost, in the column of that, and nothing in a copy that is faithful.

Method: trees of every kind of entry, copied by `cp -a`, which keeps all of it. Then one thing is broken at a time in a new
copy, and exactly the columns that are named must fail.
"""

import os
import pathlib
import stat
import subprocess
import sys
import tempfile

import judge
import make_tree
import special
from forebay_test import expect

ROOT = os.geteuid() == 0


class Copy:
    """A copy of the tree that is broken; `find` gives the first entry that fits, the same in each."""

    def __init__(self, top):
        self.top = os.fsencode(top)

    def all(self, fits):
        return sorted(os.path.join(folder, name) for folder, folders, files in os.walk(self.top) for name in folders + files
                      if fits(os.lstat(os.path.join(folder, name))))

    def find(self, kind, fits=lambda found: True):
        return self.all(lambda found: stat.S_IFMT(found.st_mode) == kind and fits(found))[0]

    def single(self, kind):
        return self.find(kind, lambda found: found.st_nlink == 1)

    def path(self, name):
        return os.path.join(self.top, b"special", os.fsencode(name))

    def plain(self):
        """A regular file without holes and extended attributes, and with one name: to write clears capabilities."""
        paths = self.all(lambda found: stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_size > 4096 and
                         found.st_blocks * 512 >= found.st_size and found.st_mode & 0o200)
        return next(path for path in paths if not os.listxattr(path))


def keeping_times(path, change):
    """Changes an entry and gives it and its directory the times that they had."""
    folder = os.path.dirname(path)
    times = {one: os.lstat(one).st_mtime_ns for one in (path, folder)}
    change(path)
    for one, ns in times.items():
        if os.path.lexists(one):
            os.utime(one, ns=(ns, ns), follow_symlinks=False)


def flip(path):
    with open(path, "r+b") as file:
        file.seek(4000)
        byte = file.read(1)[0]
        file.seek(4000)
        file.write(bytes([byte ^ 1]))


def fill(path):
    data = pathlib.Path(os.fsdecode(path)).read_bytes()
    with open(path, "r+b") as file:
        file.write(data)


def apart(path):
    """One name of a hard link becomes a file of its own, equal in everything."""
    subprocess.run(["cp", "-a", path, path + b".own"], check=True)
    os.rename(path + b".own", path)


def joined(copy):
    """A second name replaces a file that had one."""
    first = copy.plain()
    twin = first + b".twin"
    keeping_times(first, lambda path: os.link(path, twin))


def shifted(path, by=1):
    ns = os.lstat(path).st_mtime_ns + by
    os.utime(path, ns=(ns, ns), follow_symlinks=False)


def replaced(path, make):
    def change(path):
        os.unlink(path)
        make(path)
    keeping_times(path, change)


def other_device(path):
    os.mknod(path, stat.S_IFBLK | 0o640, os.makedev(7, 98))
    os.chmod(path, 0o640)
    os.chown(path, 0, 5000)


def without(key):
    return lambda path: os.removexattr(path, key, follow_symlinks=False)


def linked(copy):
    return copy.find(stat.S_IFREG, lambda found: found.st_nlink > 1)


def with_xattr(copy):
    return next(path for path in copy.all(lambda found: stat.S_ISREG(found.st_mode)) if "user.origin" in os.listxattr(path))


# The broken entry, its fault, and the columns that must fail.
BROKEN = {
    "a byte": (lambda copy: keeping_times(copy.plain(), flip), {"bytes"}),
    "a length": (lambda copy: keeping_times(copy.plain(), lambda path: os.truncate(path, 100)), {"bytes"}),
    "the last byte of 5 GiB": (lambda copy: keeping_times(copy.path("hole-5-gib"), lambda path: os.truncate(path, 5 << 30)), {"bytes"}),
    "a missing file": (lambda copy: keeping_times(copy.plain(), os.unlink), {"entries", "bytes"}),
    "a file more": (lambda copy: keeping_times(copy.plain(), lambda path: open(path + b".more", "xb").close()), {"nothing more"}),
    "a hard link": (lambda copy: keeping_times(linked(copy), apart), {"hard links"}),
    "a hard link more": (joined, {"nothing more"}),
    "a hard link of a fifo": (lambda copy: keeping_times(copy.path("links/fifo"), apart), {"hard links"}),
    "a fifo": (lambda copy: keeping_times(copy.single(stat.S_IFIFO), os.unlink), {"entries", "fifo"}),
    "a socket": (lambda copy: keeping_times(copy.single(stat.S_IFSOCK), os.unlink), {"entries", "socket"}),
    "a hole": (lambda copy: keeping_times(copy.path("hole-at-begin"), fill), {"sparse"}),
    "an xattr": (lambda copy: without("user.origin")(with_xattr(copy)), {"xattr"}),
    "an xattr more": (lambda copy: os.setxattr(copy.plain(), "user.more", b""), {"xattr"}),
    "an xattr's value": (lambda copy: os.setxattr(with_xattr(copy), "user.origin", b"run 8"), {"xattr"}),
    "an ACL": (lambda copy: without(special.ACCESS)(copy.path("acl-directory")), {"acl"}),
    "a default ACL": (lambda copy: without(special.DEFAULT)(copy.path("acl-default")), {"acl"}),
    "a time": (lambda copy: shifted(copy.plain()), {"file mtime ns"}),
    "a time of 1960": (lambda copy: shifted(copy.path("year-1960"), 1000), {"file mtime ns"}),
    "a directory's time": (lambda copy: shifted(copy.find(stat.S_IFDIR)), {"dir mtime ns"}),
    "the top's time": (lambda copy: shifted(copy.top), {"dir mtime ns"}),
    "a symlink's time": (lambda copy: shifted(copy.single(stat.S_IFLNK)), {"symlink mtime ns"}),
    "a fifo's time": (lambda copy: shifted(copy.single(stat.S_IFIFO)), {"special mtime ns"}),
    "a mode": (lambda copy: os.chmod(copy.plain(), 0o641), {"mode"}),
    "set-user-ID": (lambda copy: os.chmod(copy.path("all-bits"), 0o711), {"mode"}),
    "a symlink's target": (lambda copy: replaced(copy.path("to-parent"), lambda path: os.symlink(b".", path)), {"symlinks"}),
    "a symlink as a file": (lambda copy: replaced(copy.path("to-itself"), lambda path: open(path, "xb").close()), {"entries", "symlinks"}),
    "an odd name": (lambda copy: keeping_times(copy.path(b"\xff\xfe\x80"), lambda path: os.rename(path, path + b"x")),
                    {"entries", "odd names", "bytes", "nothing more"}),
}
BROKEN_BY_ROOT = {
    "a device": (lambda copy: keeping_times(copy.path("loop-device"), os.unlink), {"entries", "device"}),
    "a device's number": (lambda copy: replaced(copy.path("loop-device"), other_device), {"device"}),
    "an owner": (lambda copy: os.chown(copy.path("year-1960"), 1002, -1), {"owner"}),
    "a symlink's owner": (lambda copy: os.chown(copy.path("absolute"), 1002, -1, follow_symlinks=False), {"owner"}),
    "a capability": (lambda copy: without(special.CAPABILITY)(copy.path("capable")), {"capability"}),
    "a capability's bit": (lambda copy: os.setxattr(copy.path("capable"), special.CAPABILITY, special.capability(1 << 12)), {"capability"}),
    "a trusted xattr of a symlink": (lambda copy: without("trusted.note")(copy.path("trusted-symlink")), {"xattr"}),
}


def check_broken(place, left, name, act, columns):
    right = place / "right"
    subprocess.run(["cp", "-a", left, right], check=True)
    verdict = judge.judge(left, right)
    expect(verdict.equal, "a copy by cp -a is equal", judge.text(verdict))
    act(Copy(right))
    verdict = judge.judge(left, right)
    expect(set(verdict.failed()) == columns, f"of {name}: {columns} fail, and not {verdict.failed()}", judge.text(verdict))
    done = subprocess.run([sys.executable, judge.__file__, left, right], capture_output=True, text=True, check=False)
    expect(done.returncode == 1, f"of {name}: exit code {done.returncode}", done.stdout + done.stderr)
    subprocess.run(["chmod", "-R", "u+rwx", right], check=True)
    subprocess.run(["rm", "-rf", right], check=True)


def main():
    broken = BROKEN | (BROKEN_BY_ROOT if ROOT else {})
    with tempfile.TemporaryDirectory(prefix="forebay-judge-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        left = place / "left"
        for tree, factor in (("TS", 0.04), ("special", 1)):
            maker = make_tree.make(tree, left / tree.lower(), factor)
            for what, count in maker.left_out.items():
                print(f"left out {count} times, {what}")
        for name, (act, columns) in broken.items():
            check_broken(place, left, name, act, columns)
        failing = set().union(*(columns for _, columns in broken.values()))
        never = set(judge.COLUMNS) - failing - (set() if ROOT else {"device", "owner", "capability"})
        expect(not never, f"every column has failed once, not so {never}")
        subprocess.run(["chmod", "-R", "u+rwx", left], check=True)
    print(f"judge: {len(broken)} things broken and seen")


if __name__ == "__main__":
    main()
