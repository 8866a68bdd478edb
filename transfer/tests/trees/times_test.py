"""Goal: times that a target cannot hold are named, and never another one in silence; a time ahead of now proves nothing.

Method: ext4 in a file, which has years up to 2446. debugfs gives an inode the times that a clock left which was set back
since. Runs in a mount namespace of its own, as root.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import time

from forebay_test import expect, run
from own_mounts import mover, own_mounts, skip, told

AHEAD_S = 3600


def mounted(image, target):
    return subprocess.run(["mount", "-o", "loop", image, target], check=False, capture_output=True).returncode == 0


def far_times(place, target):
    far = place / "far"
    far.mkdir()
    (far / "file").write_bytes(b"12345")
    (far / "link").symlink_to("nowhere")

    def set_time(name):
        run("touch", "-h", "-d", "2600-01-01", far / name)

    for name in ("file", "link"):
        set_time(name)
    done, report = mover("copy", far, target / "refused", code=(1,))
    expect(report["remarks"]["not_kept"] == 2 and "cannot keep times" in told(done, report), "a file and a link are refused", told(done, report))
    expect(not (target / "refused/file").exists(), "and have no name")
    _, report = mover("copy", far, target / "dropped", "--cannot-keep", "drop", code=(1,))
    expect(report["remarks"]["not_kept"] == 2 and (target / "dropped/file").read_bytes() == b"12345", "or are copied without", str(report))
    _, report = mover("sync", far, target / "dropped", "--cannot-keep", "drop", code=(1,))
    expect(report["copied"] <= 1 and report["bytes"] == 0 and report["remarks"]["not_kept"] >= 1, "bytes are not copied again", str(report))
    (far / "file").write_bytes(b"67890")
    set_time("file")
    mover("sync", far, target / "dropped", "--cannot-keep", "drop", code=(1,))
    expect((target / "dropped/file").read_bytes() == b"67890", "but what was changed is")
    run("touch", "-d", "1950-01-01 00:00:00.5", far / "file")
    (far / "link").unlink()
    mover("sync", far, target / "dropped", "--delete", code=(0,))
    expect(os.stat(target / "dropped/file").st_mtime_ns == os.stat(far / "file").st_mtime_ns, "a time of 1950 is kept")


def clock_set_back(place, target, image):
    source = place / "edited"
    source.mkdir()
    (source / "file").write_text("content 1")
    words = ("sync", source, target / "clock", "--preserve", "permissions")
    mover(*words, code=(0,))
    inode = os.stat(target / "clock/file").st_ino
    run("umount", target)
    for field in ("ctime", "mtime"):
        run("debugfs", "-w", "-R", f"set_inode_field <{inode}> {field} @{int(time.time()) + AHEAD_S}", image)
    expect(mounted(image, target), "it is mounted again")
    (source / "file").write_text("content 2")
    mover(*words, code=(0,))
    expect((target / "clock/file").read_text() == "content 2", "what was edited is copied")
    _, report = mover(*words, code=(0,))
    expect(report["equal"] == 1, "and is equal then", json.dumps(report))


def main():
    own_mounts()
    with tempfile.TemporaryDirectory(prefix="forebay-times-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        image, target = place / "image", place / "target"
        target.mkdir()
        image.write_bytes(b"")
        os.truncate(image, 16 << 20)
        made = subprocess.run(["mkfs.ext4", "-q", "-F", image], check=False, capture_output=True).returncode == 0
        if not made or not mounted(image, target):
            skip("no ext4 that may be mounted here")
        try:
            far_times(place, target)
            clock_set_back(place, target, image)
        finally:
            subprocess.run(["umount", target], check=False)
    print("times are kept, or named")


main()
