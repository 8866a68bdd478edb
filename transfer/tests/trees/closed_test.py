"""Goal: an entry that cannot be made since its directory at the target is closed has failed, and is none that the target cannot
hold; and a directory in which an entry is refused keeps its time.

Method: a directory of the target is mounted read-only, and the source has in it one entry of each kind that targets may lack;
an ordinary user copies a file of root, twice. Runs in a mount namespace of its own, as root.
"""

import os
import pathlib
import subprocess
import tempfile

from forebay_test import FOREBAY, expect, run
from own_mounts import AS_USER, USER, mover, own_mounts, user_may_run


def closed_part(place):
    source, target, archive = place / "parts", place / "of-parts", place / "parts.tar"
    (source / "sub").mkdir(parents=True)
    os.mkfifo(source / "sub/fifo")
    (source / "sub/link").symlink_to("nowhere")
    (source / "a").write_text("x")
    os.link(source / "a", source / "sub/other")
    mover("archive", source, archive, code=(0,))
    (target / "sub").mkdir(parents=True)
    run("mount", "--bind", target / "sub", target / "sub")
    run("mount", "-o", "remount,ro,bind", target / "sub")
    for words in (("copy", source), ("restore-archive", archive)):
        _, report = mover(*words, target, "--manifest", place / "parts.manifest", code=(1,))
        named = {one["path"]: one["kind"] for one in report["first"]}
        wanted = {f"sub/{name}": "failed" for name in ("fifo", "link", "other")}
        expect(wanted.items() <= named.items(), f"{words[0]}: all of a directory that is read-only failed", str(report["first"]))
    run("umount", target / "sub")


def closed_to_user(place):
    """A directory of root at the target, in which an older link of the same name lies."""
    source, target = place / "links", place / "of-links"
    (source / "d").mkdir(parents=True)
    (source / "d/link").symlink_to("new")
    os.mkfifo(source / "d/fifo")
    (target / "d").mkdir(parents=True)
    (target / "d/link").symlink_to("old")
    for path in (source, *source.rglob("*"), target):
        os.chown(path, USER, USER, follow_symlinks=False)
    place.chmod(0o777)  # for the manifest
    for words in (("copy", "--manifest", place / "links.manifest"), ("sync", "--manifest", place / "links.manifest"),
                  ("copy", "--cannot-keep", "drop"), ("copy",)):
        _, report = mover(words[0], source, target, *words[1:], before=AS_USER, code=(1,))
        named = {one["path"]: (one["kind"], "Permission denied" in one["why"]) for one in report["first"]}
        wanted = {"d/link": ("failed", True), "d/fifo": ("failed", True)}
        expect(wanted.items() <= named.items(), f"{words}: what a user may not make has failed", str(report["first"]))


def refused(place):
    source, target = place / "partly", place / "of-user"
    (source / "below").mkdir(parents=True)
    target.mkdir()
    (source / "below/of-root").write_text("x")
    for path in (source, source / "below", target):
        os.chown(path, USER, USER)
        os.utime(path, (10**9, 10**9))
    for _ in range(2):
        mover("copy", source, target / "copy", before=AS_USER, code=(1,))
        expect((target / "copy/below").stat().st_mtime == 10**9, "a directory in which an entry is refused keeps its time")


def main():
    own_mounts()
    with tempfile.TemporaryDirectory(prefix="forebay-closed-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        place.chmod(0o755)
        try:
            closed_part(place)
            if user_may_run():
                closed_to_user(place)
                refused(place)
            else:
                print(f"left out, what an ordinary user sees: he may not run {FOREBAY}")
        finally:
            subprocess.run(["umount", "--lazy", place / "of-parts/sub"], check=False, stderr=subprocess.DEVNULL)


main()
