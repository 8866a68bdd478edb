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


def refused(place):
    if not user_may_run():
        print(f"left out, what an ordinary user sees: he may not run {FOREBAY}")
        return
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
            refused(place)
        finally:
            subprocess.run(["umount", "--lazy", place / "of-parts/sub"], check=False, stderr=subprocess.DEVNULL)


main()
