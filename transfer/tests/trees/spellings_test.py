"""Goal: where the target takes "A" and "a" for one name, no entry is lost in silence: the first one stays whole, the other one is
named; an entry that was renamed so in the source is renamed at the target.

Method: pairs of files, directories, a file and a directory, symbolic links and names of one inode, copied, synced again and
restored of an archive, on 1 and 4 threads, to directories that fold case: by a library that is preloaded, everywhere; and on
ext4, tmpfs, vfat and exfat, where this machine can mount one that does. Each of those that it cannot is left out by name.
"""

import contextlib
import os
import pathlib
import subprocess
import tempfile

import own_mounts
from forebay_test import BUILD, FOREBAY, expect, run

LIBRARY = BUILD / "tests/libfolds_case.so"
PAIRS = [("A", "a"), ("D", "d"), ("Both", "both"), ("L", "l"), ("S", "s")]


def told(*words, code, environment):
    """The report, and the remarks by their paths."""
    _, report = own_mounts.mover(*words, code=(code,), env={**os.environ, **environment})
    return report, {one["path"]: one for one in report["first"]}


def content(path):
    """What a copy must have of it, below it too."""
    if path.is_symlink():
        return os.readlink(path)
    return path.read_bytes() if path.is_file() else {below.name: content(below) for below in path.iterdir()}


def make_pairs(source, is_fat):
    source.mkdir()
    for name in ("A", "a", "both", "other"):
        (source / name).write_text(f"the bytes of {name}")
    for folder in ("D", "d", "Both"):
        (source / folder).mkdir()
        (source / folder / f"in {folder}").write_text(f"in {folder}")
    for number in range(600):  # names of one directory are shared by threads
        (source / f"more {number}").write_text(str(number))
    if is_fat:
        return
    (source / "L").write_text("of two names")
    os.link(source / "L", source / "l")
    os.symlink("to S", source / "S")
    os.symlink("to s", source / "s")


def check_pairs(source, target, found, what, pairs):
    """Of each pair one is at the target, as it is in the source; the other one is named."""
    there = {path.name: path for path in target.iterdir()}
    expect(len(there) == len(list(source.iterdir())) - len(pairs), f"{what}: all others are there", str(sorted(there)[:20]))
    for pair in pairs:
        kept = [name for name in pair if name in there]
        expect(len(kept) == 1, f"{what}: one of {pair} is there", str(sorted(there)[:20]))
        lost = pair[0] if kept[0] == pair[1] else pair[1]
        expect(content(there[kept[0]]) == content(source / kept[0]), f"{what}: {kept[0]} is whole")
        named = [one for path, one in found.items() if path == lost or path.startswith(f"{lost}/")]
        texts = str(found.get(lost) or named)
        expect(named and all(one["kind"] == "failed" for one in named) and "names ignore case" in texts, f"{what}: {lost} is named", str(found))


def check_all(place, folds, environment, options, is_fat, threads):
    pairs = PAIRS[:3] if is_fat else PAIRS
    source, target, tar = place / "source", folds / f"copy{threads}", place / "tar"
    if not source.exists():
        make_pairs(source, is_fat)
    options = [*options, "--threads", threads]
    _, found = told("copy", source, target, *options, code=1, environment=environment)
    check_pairs(source, target, found, f"copy, {threads} threads", pairs)
    kept = {path.name for path in target.iterdir()}
    report, found = told("sync", source, target, "--delete", *options, code=1, environment=environment)
    check_pairs(source, target, found, f"sync, {threads} threads", pairs)
    expect({path.name for path in target.iterdir()} == kept and report["removed"] == 0, "the same ones stay", str(found))
    _, found = told("sync", source, target, "--dry-run", *options, code=1, environment=environment)
    check_pairs(source, target, found, f"a dry run, {threads} threads", pairs)
    if not tar.exists():
        run(FOREBAY, "archive", source, tar)
    restored = folds / f"restored{threads}"
    for turn in ("into nothing", "over itself"):
        _, found = told("restore-archive", tar, restored, *options, code=1, environment=environment)
        check_pairs(source, restored, found, f"restore-archive {turn}, {threads} threads", pairs)


def check_renamed(place, folds, environment, options):
    """What the source calls otherwise now."""
    source, target = place / "renamed", folds / "renamed"
    (source / "folder").mkdir(parents=True)
    for name in ("same", "changed", "folder/below"):
        (source / name).write_text(f"the bytes of {name}")
    told("copy", source, target, *options, code=0, environment=environment)
    for name in ("same", "changed"):
        os.rename(source / name, source / name.upper())
    (source / "CHANGED").write_text("other bytes now")
    _, found = told("sync", source, target, "--dry-run", *options, code=0, environment=environment)
    expect(found["SAME"]["kind"] == "would_adjust", "a dry run says what would be renamed", str(found))
    told("sync", source, target, "--delete", *options, code=0, environment=environment)
    expect(content(target) == content(source), "names and bytes are the source's now", str(content(target)))
    os.rename(source / "folder", source / "Folder")
    (target / "extra").write_text("stays after an error")
    _, found = told("sync", source, target, "--delete", *options, code=1, environment=environment)
    expect("Rename it there" in found["Folder"]["why"] and (target / "extra").exists(), "a directory is not renamed, and nothing removed", str(found))
    os.rename(target / "folder", target / "between")
    os.rename(target / "between", target / "Folder")
    told("sync", source, target, "--delete", *options, code=0, environment=environment)
    expect(content(target) == content(source), "with its name all is equal", str(content(target)))
    os.rename(source / "SAME", source / "same")
    _, found = told("sync", source, target, "--delete", "--exclude", "same", *options, code=0, environment=environment)
    expect(found["SAME"]["kind"] == "passed_over" and (target / "SAME").exists(), "what the source has in another spelling is not removed", str(found))


def check(place, folds, environment, options=(), is_fat=False):
    place.mkdir()
    for threads in (1, 4):
        check_all(place, folds, environment, options, is_fat, threads)
    check_renamed(place, folds, environment, options)


@contextlib.contextmanager
def mounted(place, kind, make, options):
    """A directory that folds case of a file system of its own; None, and the reason is said, where there can be none."""
    image, mount = place / f"{kind}.image", place / f"{kind}.mount"
    mount.mkdir()
    with open(image, "wb") as file:
        file.truncate(64 << 20)
    commands = [[*make, str(image)]] if make else []
    commands.append(["mount", "-t", kind, "-o", options, str(image) if make else "none", str(mount)])
    if kind in ("ext4", "tmpfs"):
        commands += [["mkdir", str(mount / "folds")], ["chattr", "+F", str(mount / "folds")]]
    done = None
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError as reason:
            done = subprocess.CompletedProcess(command, 1, "", str(reason))
        if done.returncode:
            break
    if done.returncode:
        print(f"left out, {kind} that folds case: {' '.join(done.args[:3])} ... says {done.stderr.strip().splitlines()[:1]}")
    yield None if done.returncode else mount / "folds" if kind in ("ext4", "tmpfs") else mount
    subprocess.run(["umount", str(mount)], capture_output=True, check=False)


def main():
    may_mount = os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0
    if may_mount:
        own_mounts.own_mounts()
    with tempfile.TemporaryDirectory(prefix="forebay-spellings-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        folds = place / "folds"
        folds.mkdir()
        check(place / "by-library", folds, {"LD_PRELOAD": str(LIBRARY), "FOREBAY_FOLDS": str(folds)})
        if not may_mount:
            print("left out, ext4, tmpfs, vfat and exfat: nothing can be mounted here")
            return
        for kind, make, options in (("ext4", ["mkfs.ext4", "-q", "-O", "casefold"], "loop"), ("tmpfs", None, "casefold"),
                                    ("vfat", ["mkfs.vfat"], "loop,utf8"), ("exfat", ["mkfs.exfat"], "loop")):
            is_fat = kind.endswith("fat")
            with mounted(place, kind, make, options) as mount:
                if mount:
                    check(place / f"on-{kind}", mount, {}, ["--preserve", "none"] if is_fat else [], is_fat)


main()
