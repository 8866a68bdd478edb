"""Goal: if servers of an erasure-coded GlusterFS fail, the job loses time, but no step and not itself.

Method: nbody saves to a volume of three bricks; any two hold all data. One is killed during a drain: all steps are
committed and right when read from the rest. Then a second is stopped with SIGSTOP: writers hang until the client gives
up the server. The job computes on, learns which target failed, and ends in time: once with errors known before its end,
once with a drain that still hangs. When the bricks are back, the staged snapshots are committed.
"""

import os
import re
import sys
import time
from pathlib import Path

import machine
from machine import expect, forebay, snapshots, wait_until

UNIVERSE = ["--mesh", 32, "--particles", 32, "--steps", 64]
# 1.6 MB a snapshot: seconds of draining.
CONFIG = """
close_wait_seconds = {close}
[agent]
rate_bytes_per_second = 500000
retries = 2
retry_pause_seconds = 0.2
"""
# Longer than an undisturbed drain (3.3 s), shorter than a hanging drain: 5 s, the ping-timeout of gluster-volume, and
# retries.
CLOSE_SECONDS = 5
# After a create GlusterFS needs this long to reach all bricks, although it already shows the file.
CREATED_SECONDS = 0.5
# The volume returns some seconds after its bricks; a busy machine takes ten times as long.
BACK_SECONDS = 120


def raise_it(error):
    raise error


class Gluster(machine.Tool):
    """The volume. A failure of its own tool is a fault of GlusterFS on this machine."""

    def __call__(self, *arguments, **_):
        done = machine.run(*self.command, *arguments)
        if done.returncode:
            machine.skip(f"gluster-volume {' '.join(map(str, arguments))}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        print(f"ok: gluster-volume {' '.join(map(str, arguments))}", flush=True)


class Runs:
    """Jobs that save to one run on the volume."""

    def __init__(self, place, mount):
        self.place, self.mount, self.run, self.staging = place, mount, mount / "run", place / "staging"
        self.staging.mkdir()

    def nbody(self, ranks, last, *options, close=60, saving=True):
        config = self.place / "forebay.toml"
        config.write_text(CONFIG.format(close=close))
        where = ["--run", self.run, "--staging", self.staging, "--config", config, "--save-every", 2]
        return machine.Job(["mpiexec", "-n", ranks, machine.NBODY, *UNIVERSE, *(where if saving else []), "--stop-after",
                            last, *options], self.place / "nbody.log")

    def draining(self, job, step):
        """Returns when the drain no longer changes directories until its end, seconds later."""
        def seen():
            return any((self.run / "restart").glob(f".step-{step:06}.*.part/*.tmp"))

        wait_until(lambda: seen() or job.process.poll() is not None, f"step {step} is saved")
        time.sleep(CREATED_SECONDS)
        expect(job.process.poll() is None, f"step {step} is being drained", job.output())

    def agents_left(self):
        logs = list(self.staging.glob("forebay-*/*/agent.log"))
        return bool(logs) and all("the agent ends" in log.read_text().splitlines()[-1] for log in logs)

    def what_is_lost(self):
        """None when the volume can be written and listed again, some seconds after its bricks started."""
        try:
            (self.mount / "probe").write_text("x")
            list(os.walk(self.run, onerror=raise_it))
            return None
        except OSError as error:
            return error

    def await_volume(self):
        deadline = time.monotonic() + BACK_SECONDS
        while lost := self.what_is_lost():
            if time.monotonic() > deadline:
                machine.skip(f"GlusterFS has not given the volume back {BACK_SECONDS} s after its bricks: {lost}")
            time.sleep(0.5)
        print("ok: the volume has its bricks", flush=True)

    def drained_later(self, step):
        """When the bricks are back, commits the job's staged snapshots by hand."""
        self.await_volume()
        left = forebay("drain", "all", "--staging", self.staging)
        expect(f"restart@{step}: committed" in left, f"step {step} is committed from its staged copy", left)
        forebay("recover", self.run)
        forebay("verify", self.run)


def one_killed(gluster, runs):
    job = runs.nbody(2, 4)
    runs.draining(job, 2)
    gluster("kill-brick", 1)
    expect(job.finish() == 0, "a brick is killed during a drain: the job ends well", job.output())
    expect(snapshots(runs.run, "committed") == {2, 4}, "both steps are committed", job.output())
    forebay("verify", runs.run)
    gluster("start-brick", 1)
    gluster("heal")
    gluster("kill-brick", 2)
    print("the killed brick is healed; without another one every byte has to come from it:")
    forebay("verify", runs.run)


def second_stopped(gluster, runs):
    """Brick 2 is already dead."""
    job = runs.nbody(2, 10, "--restart")
    runs.draining(job, 6)
    gluster("stop-brick", 3)
    expect(job.finish() == 1, "a second brick is stopped: the job computes to its end and reports failure",
           job.output())
    output = job.output()
    lost = re.findall(r".*is NOT committed.*(?:\n  .*)*", output)
    expect("step   10/64" in output and "NOT saved" in output, "it went on after a save that was refused", output)
    expect(lost and all(str(runs.mount) in text and "Transport endpoint is not connected" in text for text in lost),
           "its errors name the target and what failed there", output)
    expect(all(f"{runs.staging}/forebay-" in text for text in lost), "and the staged copy that is safe", output)
    wait_until(runs.agents_left, "the agent has left")
    gluster("start-brick", 2)
    gluster("start-brick", 3)
    runs.drained_later(6)
    gluster("heal")


def hung_at_the_end(gluster, runs):
    job = runs.nbody(2, 8, "--restart", close=CLOSE_SECONDS)
    runs.draining(job, 8)
    gluster("kill-brick", 1)
    gluster("stop-brick", 2)
    expect(job.finish() == 1, "a drain hangs at the end of the job: it ends and reports failure",
           job.output())
    output = job.output()
    expect(f"not committed after {CLOSE_SECONDS} s: step 8 is" in output and f"staged in {runs.staging}/" in output,
           "it says what is staged where", output)
    wait_until(runs.agents_left, "the agent has left")
    gluster("start-brick", 1)
    gluster("start-brick", 2)
    runs.drained_later(8)


def same_bytes(runs):
    reports = [runs.place / name for name in ("undisturbed.json", "restarted.json")]
    job = runs.nbody(2, 8, "--checksum-file", reports[0], saving=False)
    expect(job.finish() == 0, "the same job runs undisturbed", job.output())
    job = runs.nbody(3, 8, "--checksum-file", reports[1], "--restart")
    expect(job.finish() == 0 and "restart: step 8," in job.output(), "3 ranks restart from the volume", job.output())
    expect(machine.digests(reports[0]) == machine.digests(reports[1]), "and have the undisturbed state, bit for bit",
           [report.read_text() for report in reports])


def main():
    machine.need(("mpiexec", "openmpi-bin"), ("glusterd", "glusterfs-server"), ("mount.glusterfs", "glusterfs-client"))
    if not Path("/dev/fuse").exists():
        machine.skip("/dev/fuse is missing: no FUSE file system can be mounted here")
    with machine.scratch() as scratch:
        place = Path(scratch)
        with Gluster("gluster-volume", ["up"], {"GLUSTER_VOLUME_DIR": place / "volume"}) as gluster:
            runs = Runs(place, place / "volume/mount")
            one_killed(gluster, runs)
            second_stopped(gluster, runs)
            hung_at_the_end(gluster, runs)
            same_bytes(runs)
        expect(not (place / "volume").exists(), "the volume is down")


sys.dont_write_bytecode = True
main()
