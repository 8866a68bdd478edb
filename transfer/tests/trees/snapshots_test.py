"""Goal: a sync sees each change of a source that is a snapshot, and of file systems that keep whole seconds.

Method: ext4 in a file. Its snapshots are copies of that file, mounted one after the other at one place as the same device,
each changed between the snapshot and the sync of it, as a nightly sync meets them. Then ext4 with inodes of 128 bytes, which
have no nanoseconds: attributes and bytes are changed in the second of a sync, behind it. Runs in a mount namespace of its own.
"""

import os
import pathlib
import subprocess
import tempfile
import time

from forebay_test import expect, run
from own_mounts import mover, own_mounts, skip

BEHIND_TICKS_S = 0.3


class Snapshots:
    def __init__(self, place):
        self.place, self.live, self.at = place, place / "live", place / "snapshot"
        self.image, self.copy = place / "live.image", place / "snapshot.image"
        for folder in (self.live, self.at):
            folder.mkdir()
        make_ext4(self.image)
        run("mount", "-o", "loop", self.image, self.live)
        run("cp", self.image, self.copy)
        self.loop = run("losetup", "-f", "--show", self.copy).stdout.strip()

    def take(self):
        run("fsfreeze", "-f", self.live)
        try:
            self.show(self.image)
        finally:
            run("fsfreeze", "-u", self.live)

    def show(self, image):
        run("dd", f"if={image}", f"of={self.copy}", "bs=1M", "conv=notrunc")
        run("blockdev", "--flushbufs", self.loop)
        run("mount", "-o", "ro,noload", self.loop, self.at)

    def drop(self):
        run("umount", self.at)
        time.sleep(BEHIND_TICKS_S)

    def end(self):
        for mount in (self.at, self.live):
            subprocess.run(["umount", mount], check=False, capture_output=True)
        subprocess.run(["losetup", "-d", self.loop], check=False, capture_output=True)


def make_ext4(image, *words):
    image.write_bytes(b"")
    os.truncate(image, 16 << 20)
    run("mkfs.ext4", "-q", "-F", *words, image)


def check_snapshots(snapshots, target):
    file = snapshots.live / "tree/file"
    file.parent.mkdir()
    file.write_text("text 0")
    os.setxattr(file, "user.is", b"0")
    for night in range(1, 6):
        snapshots.take()
        time.sleep(BEHIND_TICKS_S)
        was = os.getxattr(file, "user.is")
        if night % 2 == 0:  # what a sync has set it looks at the next time
            os.setxattr(file, "user.is", str(night).encode())
        time.sleep(BEHIND_TICKS_S)
        mover("sync", snapshots.at / "tree", target, code=(0,))
        expect(os.getxattr(target / "file", "user.is") == was, f"the attribute of night {night} is that of its snapshot")
        snapshots.drop()


def check_older(snapshots, target):
    """An older snapshot that comes back has what a newer one has changed as it was."""
    file = snapshots.live / "tree/file"
    os.setxattr(file, "user.is", b"old")
    snapshots.take()
    older = snapshots.place / "older.image"
    run("cp", snapshots.copy, older)
    snapshots.drop()
    os.setxattr(file, "user.is", b"new")
    snapshots.take()
    for _ in range(2):
        time.sleep(BEHIND_TICKS_S)
        mover("sync", snapshots.at / "tree", target, code=(0,))
    expect(os.getxattr(target / "file", "user.is") == b"new", "the newer snapshot is copied")
    snapshots.drop()
    snapshots.show(older)
    mover("sync", snapshots.at / "tree", target, code=(0,))
    expect(os.getxattr(target / "file", "user.is") == b"old", "an older snapshot that comes back is copied, too")
    snapshots.drop()


def check_without_times(snapshots, target):
    file = snapshots.live / "tree/file"
    words = (snapshots.at / "tree", target, "--preserve", "permissions")
    for night in range(1, 4):
        snapshots.take()
        time.sleep(BEHIND_TICKS_S)
        was = file.read_text()
        file.write_text(f"text {night}")
        time.sleep(BEHIND_TICKS_S)
        mover("sync", *words, code=(0,))
        expect((target / "file").read_text() == was, f"without times: the bytes of night {night} are those of its snapshot")
        single = target.with_name("single")
        mover("sync", snapshots.at / "tree/file", single, *words[2:], code=(0,))
        expect(single.read_text() == was, f"so are those of a file that is copied alone, night {night}")
        _, report = mover("sync", *words, code=(0,))
        expect(report["equal"] == 1, "and are equal then", str(report))
        snapshots.drop()


def begin_of_second():
    time.sleep(1.05 - time.time() % 1)


def check_whole_seconds(tree, target):
    file = tree / "file"
    tree.mkdir()
    file.write_text("text 1")
    os.setxattr(file, "user.is", b"before")
    time.sleep(1.1)
    mover("sync", tree, target, code=(0,))
    time.sleep(1.1)
    begin_of_second()
    mover("sync", tree, target, code=(0,))
    os.setxattr(file, "user.is", b"after!")
    time.sleep(1.1)
    mover("sync", tree, target, code=(0,))
    expect(os.getxattr(target / "file", "user.is") == b"after!", "an attribute that was set in the second of a sync, behind it")
    for words in ((), ("--preserve", "permissions")):
        begin_of_second()
        file.write_text("text 2")
        mover("sync", tree, target, *words, code=(0,))
        file.write_text("text 3")
        time.sleep(1.1)
        mover("sync", tree, target, *words, code=(0,))
        expect((target / "file").read_text() == "text 3", f"bytes that were written in the second of a sync, behind it, {words}")


def main():
    own_mounts()
    with tempfile.TemporaryDirectory(prefix="forebay-snapshots-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        os.environ["XDG_CACHE_HOME"] = str(place / "cache")
        seconds = place / "seconds"
        seconds.mkdir()
        try:
            snapshots = Snapshots(place)
            make_ext4(place / "seconds.image", "-I", "128")
            run("mount", "-o", "loop", place / "seconds.image", seconds)
        except (AssertionError, FileNotFoundError) as why:
            skip(f"no ext4 that may be mounted here: {why}")
        try:
            check_snapshots(snapshots, place / "target")
            check_older(snapshots, place / "target-older")
            check_without_times(snapshots, place / "target-without")
            check_whole_seconds(seconds / "tree", place / "target-of-seconds")
        finally:
            snapshots.end()
            subprocess.run(["umount", seconds], check=False)
    print("snapshots and whole seconds: all changes seen")


main()
