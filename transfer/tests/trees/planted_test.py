"""Goal: what another user puts into a target, while root copies or before, gets no rights, comes into no folder that is closed
to him, and no mount is taken for a part of a tree that is removed.

Method: files of the same size and time as their sources, planted where root syncs; a first name of an inode swapped before
root links its second one (strace holds each linkat back); and bind mounts, which lie on the same file system. Runs in a
mount namespace of its own, as root.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from forebay_test import FOREBAY, SECONDS_MAX, expect, run
from own_mounts import AS_USER, USER, mover, own_mounts, told, user_may_run
from team import Hosts

CAPABILITY = bytes.fromhex("0100000200040000000000000000000000000000")
LATER = 0.4  # seconds that each linkat is held back


def planted(place):
    """A file that looks like its source but was written by somebody else is replaced before it gets setuid or capabilities."""
    source, target = place / "rights", place / "rights-copy"
    source.mkdir()
    for name in ("setuid", "capable", "plain"):
        (source / name).write_bytes(b"of root")
        os.utime(source / name, ns=(10**18, 10**18))
    (source / "below").mkdir()
    (source / "setuid").chmod(0o4755)
    os.setxattr(source / "capable", "security.capability", CAPABILITY)
    target.mkdir()
    for name in ("setuid", "capable", "plain"):
        (target / name).write_bytes(b"planted")
        os.chown(target / name, USER, USER)
        os.utime(target / name, ns=(10**18, 10**18))
    mover("sync", source, target, code=(0,))
    expect((target / "setuid").read_bytes() == (target / "capable").read_bytes() == b"of root", "what gets rights is copied anew")
    expect((target / "setuid").stat().st_mode & 0o7777 == 0o4755, "and gets them")
    expect(os.getxattr(target / "capable", "security.capability") == CAPABILITY, "capabilities, too")
    _, report = mover("sync", source, target, code=(0,))
    expect(report["equal"] == 3 and report["copied"] == 0, "once only", str(report))


def swapped(place):
    """Whoever swaps a first name gets no second one of his own."""
    if not shutil.which("strace"):
        print("left out, swapped names: no strace")
        return
    source, target = place / "linked", place / "linked-copy"
    for name in ("one", "two"):
        (source / name).mkdir(parents=True)
    (source / "one/name").write_bytes(b"of root")
    os.link(source / "one/name", source / "two/name")
    for name in ("one", "two"):
        os.chown(source / name, USER, USER)
    own = place / "own"
    own.mkdir()
    (own / "file").write_bytes(b"of USER")
    for path in (own, own / "file"):
        os.chown(path, USER, USER)
    process = subprocess.Popen(["strace", "-f", "-qq", "-o", str(place / "calls"), "-e", "trace=linkat", "-e",
                                f"inject=linkat:delay_enter={int(LATER * 1e6)}", str(FOREBAY), "copy", str(source), str(target),
                                "--threads", "1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    first = None
    for _ in range(SECONDS_MAX * 1000):
        there = [path for path in (target / "one/name", target / "two/name") if path.exists()]
        if there or process.poll() is not None:
            first = there[0] if there else None
            break
        time.sleep(0.001)
    expect(first is not None, "the first name is there before the second one")
    os.rename(own / "file", first)
    said, _ = process.communicate(timeout=SECONDS_MAX)
    second = target / ("two/name" if first.parent.name == "one" else "one/name")
    expect(process.returncode == 1 and "another entry replaced" in said, "the swap is named", said)
    expect(not second.exists(), "and what was swapped in has no further name")


def bound(place):
    """What is bound into a tree is no part of it, though it lies on the same file system."""
    tree, outside = place / "tree", place / "outside"
    (tree / "inner").mkdir(parents=True)
    (tree / "file").write_text("x")
    outside.mkdir()
    (outside / "precious").write_text("x")
    run("mount", "--bind", outside, tree / "inner")
    run("mount", "-o", "remount,bind,ro", tree / "inner")
    done, _ = mover("copy", place / "rights", tree / "inner", "--allow-unlike", code=(2,))
    expect("mounted read-only" in done.stderr, "a target that is not writable is told", done.stderr)
    mover("delete", tree, code=(1,))
    expect((outside / "precious").exists() and not (tree / "file").exists(), "what is bound there stays, all else goes")
    (tree / "file").write_text("x")
    mover("copy", tree, place / "of-one", "--one-file-system", code=(0,))
    expect((place / "of-one/inner").is_dir() and not (place / "of-one/inner/precious").exists(), "it is another file system")
    run("umount", tree / "inner")

    (place / "below/inner").mkdir(parents=True)
    run("mount", "-t", "tmpfs", "none", place / "below/inner")
    if shutil.which("strace"):
        run("strace", "-f", "-qq", "-o", place / "syncs", "-e", "trace=syncfs", FOREBAY, "copy", place / "of-one", place / "below")
        syncs = (place / "syncs").read_text().count("syncfs(")
        expect(syncs == 2, f"what is mounted below the target is synced, too: {syncs} syncs")
    run("umount", place / "below/inner")

    nested = place / "nested"
    (nested / "inner").mkdir(parents=True)
    run("mount", "-t", "tmpfs", "none", nested / "inner")
    (nested / "inner/file").write_text("x")
    hidden = f"unshare --mount --propagation private sh -c 'umount {nested}/inner; exec \"$@\"' sh"
    for before, code in (("", 0), (hidden, 2)):
        hosts = Hosts(place / f"hosts-{code}", "far", before=before)
        done, _ = mover("copy", nested, place / f"nested-{code}", *hosts.options(), code=(code,))
        expect(code == 0 or "that host has another mount" in done.stderr, "a host that has not mounted all is named", done.stderr)
    expect((place / "nested-0/inner/file").exists(), "what is mounted on all hosts is copied")
    run("umount", nested / "inner")

    source, target = place / "target/more/source", place / "target"
    (place / "real").mkdir()
    (place / "real/file").write_text("x")
    source.mkdir(parents=True)
    run("mount", "--bind", place / "real", source)
    mover("sync", place / "real", target, "--delete", "--allow-unlike", code=(1,))
    expect((place / "real/file").exists() and (target / "file").exists(), "a source that is bound into its target stays")
    run("umount", source)


def mounted_in_both(place):
    """What is mounted in one of both trees is taken for no part of the other."""
    source, target, outside = place / "both", place / "both-copy", place / "both-outside"
    for made in (source / "a/m", target / "a", outside):
        made.mkdir(parents=True)
    (source / "a/data").write_text("x")
    (outside / "precious").write_text("x")
    run("mount", "--bind", outside, target / "a")
    done, report = mover("sync", source, target, "--delete", "--allow-unlike", code=(1,))
    expect((outside / "precious").exists(), "what is mounted at the target alone keeps what it has")
    expect("only the target has this mount" in told(done, report), "which is told", told(done, report))
    run("umount", target / "a")
    run("mount", "--bind", target / "a", source / "a/m")
    done, report = mover("copy", source, target, seconds_max=60, code=(1,))
    expect("the copy of a is mounted in the source here" in told(done, report), "a copy in its source is told", told(done, report))
    expect(not (target / "a/m/data").exists(), "and not copied into itself")
    run("umount", source / "a/m")
    alias = place / "both-alias"
    alias.mkdir()
    run("mount", "--bind", source / "a", alias)
    (source / "a/only").write_text("x")
    done, report = mover("sync", source, alias, "--delete", "--allow-unlike", code=(1, 2))
    expect((source / "a/only").exists(), "a directory of the source by another path keeps what it has", told(done, report))
    run("umount", alias)


def source_in_target(place):
    """A directory of the target is the source by another path: nothing of it is replaced or removed."""
    source, target = place / "alias", place / "holds-alias"
    source.mkdir()
    (target / "data/data").mkdir(parents=True)
    for name in ("data/only", "data/both", "data/data/both"):
        (target / name).write_text(name)
    run("mount", "--bind", target / "data", source)
    for words in (("copy",), ("sync", "--delete", "--allow-unlike"), ("sync", "--delete", "--allow-unlike", "--dry-run"),
                  ("copy", "--hosts", "localhost")):
        done, report = mover(*words, source, target, code=(1,))
        expect("the target has the source's . itself there" in told(done, report), f"{words}: it is named", told(done, report))
        expect(((source / "only").read_text(), (source / "both").read_text()) == ("data/only", "data/both"), f"{words}: the source stays as it is")
    run("umount", source)
    shutil.rmtree(target)
    for name in ("gone", "same"):
        (source / name).mkdir()
        (source / f"of-{name}").mkdir()
        (target / name).mkdir(parents=True)
        (target / name / "file").write_text(name)
        run("mount", "--bind", target / name, source / f"of-{name}")
    (source / "gone").rmdir()
    for words in ((), ("--one-file-system",)):
        done, report = mover("sync", source, target, "--delete", *words, code=(1,))
        expect("or a part of it, is mounted there" in told(done, report), "what is mounted in the source is named", told(done, report))
        expect((target / "gone/file").exists() and (target / "same/file").exists(), "and keeps what it has", told(done, report))
    (source / "file").write_text("x")
    (target / "file").mkdir()
    (target / "gone").rename(target / "file/gone")
    done, report = mover("sync", source, target, "--delete", code=(1,))
    expect("or a part of it, is mounted there" in told(done, report), "nor does a directory go for a file, in which it lies", told(done, report))
    expect((target / "file/gone/file").exists(), "it keeps what it has", told(done, report))
    for name in ("gone", "same"):
        run("umount", source / f"of-{name}")


def unread(place):
    """A directory goes only for a file that can be read."""
    source, target = place / "unread", place / "unread-copy"
    source.mkdir()
    (source / "name").write_text("x")
    (source / "name").chmod(0)
    (target / "name").mkdir(parents=True)
    (target / "name/kept").write_text("x")
    run("chown", "-R", f"{USER}:{USER}", source, target)
    if not user_may_run():
        print(f"left out, what an ordinary user sees: he may not run {FOREBAY}")
        return
    mover("sync", source, target, "--delete", before=AS_USER, code=(1,))
    expect((target / "name/kept").exists(), "the directory stays")
    (source / "name").chmod(0o600)
    mover("sync", source, target, "--delete", before=AS_USER, code=(0,))
    expect((target / "name").read_text() == "x", "and goes once the file can be read")


def main():
    own_mounts()
    with tempfile.TemporaryDirectory(prefix="forebay-planted-", dir="/dev/shm") as shared:
        place = pathlib.Path(shared)
        place.chmod(0o755)
        try:
            for part in (planted, swapped, bound, mounted_in_both, source_in_target, unread):
                part(place)
        finally:
            for mount in ("tree/inner", "below/inner", "nested/inner", "target/more/source", "both-copy/a", "both/a/m", "both-alias", "alias", "alias/of-gone", "alias/of-same"):
                subprocess.run(["umount", "--lazy", place / mount], check=False, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
