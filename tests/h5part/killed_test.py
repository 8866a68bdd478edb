"""Goal: whatever is killed, the file under its name is complete or absent, and nothing that was written is lost.

Method: the making of a file is killed at many instants and then done again; a writer is killed between its steps, and the
next to open the file gets the steps that were whole; a making that is killed behind a living writer is begun anew by it.
"""

import os
import pathlib
import signal
import subprocess
import time

import clients
import h5py
from forebay_test import FOREBAY, all_of_forebay, expect

STEPS = 3


def steps_in(path):
    with h5py.File(path) as file:
        for group in file.values():
            expect(len(group) == 8 and len({dataset.shape for dataset in group.values()}) == 1, f"{group}")
        return len(file)


def kill_making(work):
    """Of a run that is kept, so that its file can be made again and again."""
    path = work / "made.h5part"
    os.environ["FOREBAY_H5PART_KEEP"] = "1"
    clients.run(2, "h5part_vpic", "write", path, STEPS)
    del os.environ["FOREBAY_H5PART_KEEP"]
    run = clients.run_of(path)
    expect((run / "made").exists() and steps_in(path) == STEPS, "a run that is to be kept")
    start = time.monotonic()
    absent = 0
    os.remove(run / "made")
    all_of_forebay("h5part", path, "--keep")
    whole = time.monotonic() - start
    wanted = path.read_bytes()
    for trial in range(24):
        (run / "made").unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        making = subprocess.Popen([FOREBAY, "h5part", str(path), "--keep"], stdout=subprocess.DEVNULL)
        delay = whole * trial / 20
        time.sleep(delay)
        making.kill()
        making.wait()
        if path.exists():
            expect(path.read_bytes() == wanted, f"a file that is not whole, killed at {trial}")
            whole = min(whole, delay)  # what was measured first may have been a busy machine
        else:
            absent += 1
            expect(not (run / "made").exists(), "a run that claims to be made")
    expect(absent > 3, "it was never killed before the file was there")
    all_of_forebay("h5part", path)
    expect(path.read_bytes() == wanted and not run.exists(), "made at last")
    expect("There is nothing to do" in all_of_forebay("h5part", path), "made twice")


def kill_writer(work):
    """The pause in a client that writes for a long time is where it dies."""
    path = work / "died.h5part"
    writer = subprocess.Popen(clients.command(2, "h5part_vpic", "write", path, 400), stderr=subprocess.DEVNULL,
                              start_new_session=True)
    run = clients.run_of(path)
    deadline = time.monotonic() + 600
    while not list(run.glob("steps/step-*")) and time.monotonic() < deadline:
        time.sleep(0.005)
    for status in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = status.read_bytes().split(b"\0")
            if words[0].endswith(b"h5part_vpic") and str(path).encode() in words:
                os.kill(int(status.parent.name), signal.SIGKILL)
        except (FileNotFoundError, ProcessLookupError):
            pass
    writer.wait()
    expect(not path.exists() and run.exists(), "a writer that was killed left a file")
    out = clients.run(1, "h5part_vpic", "read", path, 0, 2, good=False)  # a reader makes it; it has more than 0 steps
    expect("the number of steps" in out and "did not open" not in out, out)
    steps = steps_in(path)
    expect(0 < steps < 400 and not run.exists(), f"{steps} steps of a writer that was killed")
    clients.run(3, "h5part_vpic", "read", path, steps, 2)


def kill_background(work):
    """A drain of 20 kB/s leaves time to kill what waits for it."""
    path = work / "slow.h5part"
    config = pathlib.Path(os.environ["FOREBAY_H5PART_CONFIG"])
    fast = config.read_text()
    config.write_text(fast + "[agent]\nrate_bytes_per_second = 20000\n")
    writer = subprocess.Popen(clients.command(2, "h5part_vpic", "write", path, 2), text=True, stderr=subprocess.PIPE)
    killed = False
    deadline = time.monotonic() + 600
    while not killed and time.monotonic() < deadline:
        for status in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = status.read_bytes().split(b"\0")
                if b"h5part" in words and str(path).encode() in words and b"--background" in words and \
                        (clients.run_of(path) / "expected").exists():
                    time.sleep(1)  # until the writer knows that it has begun
                    os.kill(int(status.parent.name), signal.SIGKILL)
                    killed = True
            except (FileNotFoundError, ProcessLookupError):
                pass
    errors = writer.communicate(timeout=600)[1]
    config.write_text(fast)
    expect(killed and errors == "", f"killed: {killed}, {errors}")
    expect(steps_in(path) == 2 and not clients.run_of(path).exists(), "a file whose making was killed")


def main():
    with clients.workplace() as work:
        kill_making(work)
        kill_writer(work)
        kill_background(work)
        expect(clients.nothing_staged(), "something stays staged")


main()
