"""Goal: a run on a mount of dfuse loses nothing by the ways of DAOS: a rename that stops half-way and leaves one directory
under two names, a status that is wrong for a file just opened, and bytes in removed files that never come back.

Method: striped_fs mounts a directory like dfuse (dfuse_ways.hpp). job_simulation saves there while one fault is asked for,
then recover, verify and prune look at the run.
"""

import os
import sys
from pathlib import Path

import machine
from machine import expect, forebay, run, snapshots

POOL, CONT = (f"{digit * 8}-2222-3333-4444-{digit * 12}" for digit in "ab")
RATE = 10**12
SIMULATION = machine.BUILD / "tests/job_simulation"


def job(place, mount, name, **environment):
    done = run(SIMULATION, mount / name, place, 3, 1 << 20, 0, "close", env=os.environ | {"FOREBAY_AGENT": str(machine.FOREBAY)} | environment)
    machine.wait_until(lambda: not list(place.glob("forebay-*/*")), "the agent has ended")
    return done


def wish(mount, fault, name):
    os.setxattr(mount, f"user.fake.{fault}", name.encode())


def cut(place, mount, name):
    """The rename to a name like this is cut once, in a job of three steps."""
    directory = mount / f"cut-{name.strip('.')}"
    wish(mount, "cut", name)
    done = job(place, mount, directory.name)
    expect(done.returncode == 0, f"the simulation saves, while the rename to {name} is cut", done.stdout + done.stderr)
    expect(snapshots(directory, "committed") == {1, 2, 3}, "all steps are committed", sorted(os.listdir(directory / "restart")))
    return directory


def cut_commit(place, mount):
    directory = cut(place, mount, "step-000002")
    parts = [one for one in (directory / "restart").iterdir() if one.name.endswith(".part")]
    expect(len(parts) == 1 and parts[0].stat().st_ino == (directory / "restart/step-000002").stat().st_ino,
           "one directory has two names", parts)
    for options in ((), ("--stale",)):
        said = run(machine.FOREBAY, "recover", directory, *options).stdout
        expect("two names of one directory" in said, "recover says so", said)
        forebay("verify", directory)
    forebay("prune", directory, "--keep", 1)
    expect(snapshots(directory, "committed") == {3}, "prune removes that step")
    run(machine.FOREBAY, "recover", directory, "--stale")
    expect(sorted(one.name for one in (directory / "restart").iterdir() if one.name.startswith(".step")) == [], "and its second name goes")
    forebay("verify", directory)


def cut_files(place, mount):
    for name in ("manifest.json", "node-00000.h5", "run-"):
        directory = cut(place, mount, name)
        run(machine.FOREBAY, "recover", directory, "--stale")
        forebay("verify", directory)


def wrong_status(place, mount):
    wish(mount, "enotdir", "node-00000.h5")
    done = job(place, mount, "status")
    expect(done.returncode == 0 and snapshots(mount / "status", "committed") == {1, 2, 3}, "a wrong status costs no step",
           done.stdout + done.stderr)


def preloaded(place, mount):
    library = place / "libpil4dfs.so"
    run("cc", "-shared", "-o", library, "-x", "c", "/dev/null")
    done = job(place, mount, "preloaded", LD_PRELOAD=str(library), D_IL_COMPATIBLE="1")
    expect(done.returncode != 0 and "D_IL_COMPATIBLE" in done.stdout + done.stderr, "a preload that breaks commits is refused",
           done.stdout + done.stderr)


def room(mount):
    before = os.statvfs(mount).f_bavail
    run(machine.FOREBAY, "preflight", "--target", mount, "--probe-bytes", "4M")
    expect(os.statvfs(mount).f_bavail == before, "preflight leaves no bytes behind", f"{before} {os.statvfs(mount).f_bavail}")


def chunk(mount):
    """The fake has the block size of the directory below in place of a chunk."""
    bytes_of_chunk = os.stat(mount).st_blksize
    for block, warns in ((2 * bytes_of_chunk, False), (2 * bytes_of_chunk + 1, True)):
        said = run(machine.FOREBAY, "preflight", "--target", mount, "--probe-bytes", 0, "--block-bytes", block).stdout
        expect(("no multiple" in said) == warns, f"blocks of {block} bytes are compared with chunks of {bytes_of_chunk}", said)


def main():
    if os.geteuid() != 0 or not machine.STRIPED_FS.exists() or not Path("/dev/fuse").exists() or not SIMULATION.exists():
        machine.skip("needs root, libfuse3-dev, /dev/fuse and job_simulation, to mount a file system")
    with machine.scratch() as place:
        place = Path(place)
        with machine.striped(place, 1 << 20, 2, RATE, f"daos./={POOL}/{CONT}") as (_, mount, _):
            room(mount)
            chunk(mount)
            cut_commit(place, mount)
            cut_files(place, mount)
            wrong_status(place, mount)
            preloaded(place, mount)


if __name__ == "__main__":
    sys.exit(main())
