"""Goal: a copy of a run changes nothing in what is mounted in its target, which may be another run's: no snapshot there is
removed, and none is put there; what is mounted in its source is copied.

Method: bind mounts of another run's directories, and of a file, in the places of streams, of a snapshot, below one and of the
run's identity; what lies behind them is compared with what it was. Runs that are mounts themselves, and sources whose streams
are.
"""

import os
import pathlib
import subprocess
import tempfile

from forebay_test import FOREBAY, expect, run
from own_mounts import own_mounts
from small_runs import ALL, copy, entries, identify, make, save, snapshots, whole

mounted = []


def bind(place, at):
    if place.is_dir():
        at.mkdir(parents=True, exist_ok=True)
    run("mount", "--bind", place, at)
    mounted.append(at)


def unbind():
    while mounted:
        subprocess.run(["umount", "--lazy", mounted.pop()], check=False)


def in_the_target(place):
    source, other = make(place / "run"), place / "other"
    for step in (100, 500):
        save(other, "restart", step, "beef")
    (other / "claims").mkdir()
    (other / "claims/1").touch()
    before = entries(other)
    for number, (name, of_other) in enumerate((("restart", "restart"), ("restart/step-000100", "restart/step-000100"),
                                               ("restart/step-000100/g000", "claims"), ("fields", "restart"), ("more", "restart"),
                                               ("forebay/sessions", "claims"))):
        target = place / f"copy-{number}"
        identify(target)
        bind(other / of_other, target / name)
        for verb, words in (("sync", ("--delete",)), ("copy", ()), ("sync", ("--delete", "--dry-run"))):
            said = copy(source, target, *words, code=2, verb=verb)
            expect(f"{target / name} is a mount point" in said and "nothing was changed" in said,
                   f"{name}, {verb} {words}: it is refused", said)
            expect(entries(other) == before and "restart" not in set(os.listdir(target)) - {name.split("/")[0]},
                   f"{name}, {verb} {words}: nothing is changed", str(os.listdir(target)))
        unbind()
        copy(source, target, "--delete", verb="sync")
        expect(snapshots(target) == ALL and entries(other) == before, f"{name}: without the mount it is a copy", str(snapshots(target)))


def elsewhere_in_the_target(place):
    """What no part of the run lies in."""
    source, target, other = make(place / "run"), place / "copy", place / "other"
    identify(target)
    other.mkdir()
    (other / "kept").touch()
    bind(other, target / "plots")
    copy(source, target)
    expect(snapshots(target) == ALL, "it is copied", str(snapshots(target)))
    copy(source, target, "--delete", verb="sync", code=1)
    expect((other / "kept").exists(), "and nothing there is removed")
    unbind()


def in_the_source(place):
    """Streams on file systems of their own."""
    source, target = make(place / "run"), place / "copy"
    for name in ("restart", "fields"):
        (source / name).rename(place / name)
        bind(place / name, source / name)
    copy(source, target)
    expect(whole(target) == ALL, "all snapshots are read", str(whole(target)))
    run("rm", "-r", source / "restart/step-000120")
    copy(source, target, "--delete", verb="sync")
    expect(snapshots(target) == [one for one in ALL if one != "restart/step-000120"], "and what was pruned goes", str(snapshots(target)))
    unbind()


def roots(place):
    """Runs that are mounts themselves, the target on a file system of its own."""
    make(place / "disk/run")
    bind(place / "disk/run", place / "run")
    (place / "copy").mkdir()
    run("mount", "-t", "tmpfs", "none", place / "copy")
    mounted.append(place / "copy")
    copy(place / "run", place / "copy")
    save(place / "copy", "restart", 500, "beef")
    copy(place / "run", place / "copy", "--delete", verb="sync")
    expect(whole(place / "copy") == ALL, "it is a copy", str(whole(place / "copy")))
    unbind()


def main():
    own_mounts()
    for case in (in_the_target, elsewhere_in_the_target, in_the_source, roots):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
            os.environ["XDG_CACHE_HOME"] = scratch + "/cache"
            try:
                case(pathlib.Path(scratch))
            finally:
                unbind()
            print(f"ok: {case.__name__}", flush=True)


if __name__ == "__main__":
    main()
