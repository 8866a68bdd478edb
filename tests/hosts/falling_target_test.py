"""Goal: if a storage target falls to a tenth of its speed in the middle of a run, files avoid it from the save after
next. The run takes hardly longer than without the fall, and uses the target again after it recovers.

Method: striped_fs stripes each file over 12 targets, obeys layout requests as Lustre does, and has a write rate for
each target. A signal changes the rate of one. One node saves nbody there, step by step.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import machine
from machine import expect, forebay

TARGETS, STRIPE, FALLS = 12, 65536, 5
RATE = 1_300_000  # a stripe takes 50 ms: longer than a busy machine needs to begin a write
RATIO = 0.1
STEPS = int(os.environ.get("FOREBAY_FALLING_STEPS", "9"))
CONFIG = f"""
[agent]
block_bytes = {STRIPE}
in_flight = 1
linger_seconds = 0
[streams.restart]
slots = 1
keep = 100
"""


def events(target):
    return [json.loads(line) for path in target.glob("run/forebay/events-*.jsonl") for line in path.read_text().splitlines()]


def committed(target):
    return sum(1 for event in events(target) if event["event"] == "committed")


def job(place, falls_after):
    """The seconds and events of the job, the targets of each step's file, and the number of commits when a target fell.
    It falls after `falls_after` commits; None: never."""
    with machine.striped(place, STRIPE, TARGETS, RATE, f"{FALLS}={RATIO}@") as (target, mount, server):
        (place / "forebay.toml").write_text(CONFIG)
        begin = time.monotonic()
        program = subprocess.Popen(
            [str(word) for word in ("mpiexec", "--allow-run-as-root", "-n", 1, machine.NBODY, "--mesh", 32, "--particles", 40, "--steps", STEPS,
                                    "--save-every", 1, "--run", mount / "run", "--staging", place, "--config", place / "forebay.toml")],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        before = 0
        if falls_after is not None:
            machine.wait_until(lambda: committed(target) >= falls_after, f"{falls_after} steps are committed")
            server.send_signal(signal.SIGUSR1)
            before = committed(target)
        said, _ = program.communicate(timeout=240)
        seconds = time.monotonic() - begin
        expect(program.returncode == 0, "nbody saves all steps", said)
        machine.wait_until(lambda: not list(place.glob("forebay-*/*")), "the agent has ended")
        layouts = {}
        for step in sorted(path for path in mount.glob("run/restart/step-*") if path.is_dir()):
            file = next(step.glob("node-*.h5"), None)
            expect(file is not None, f"{step.name} has its node file", os.listdir(step))
            layout = os.getxattr(file, "lustre.lov")
            count = int.from_bytes(layout[28:30], "little")
            layouts[int(step.name.split("-")[1])] = {int.from_bytes(layout[32 + 24 * i + 20:32 + 24 * i + 24], "little") for i in range(count)}
        return seconds, events(target), layouts, before


def main():
    machine.need_striped_fs()
    falls_after = 3
    with machine.scratch() as scratch:
        healthy, told, layouts, _ = job(Path(scratch) / "healthy", None)
        expect(not [event for event in told if event["event"] == "avoids"], "a healthy run avoids nothing", told)
        expect(all(targets == set(range(TARGETS)) for targets in layouts.values()), "its files lie on all targets", layouts)
        fallen, told, layouts, before = job(Path(scratch) / "fallen", falls_after)
        avoids = [event for event in told if event["event"] == "avoids"]
        expect(len(avoids) == 1 and f"OST{FALLS:04x}" in avoids[0]["text"], "the target is named, once", told)
        steps = sorted(layouts)
        first = next((step for step in steps if FALLS not in layouts[step]), None)
        # The save under way at the fall may be the last at full rate.
        expect(first is not None and steps.index(first) <= before + 2, "files avoid it from the next save but one on", layouts)
        expect(all(FALLS not in layouts[step] for step in steps if step >= first), "and from then on", layouts)
        ratio = re.search(r"at ([0-9.]+) of the usual rate", avoids[0]["text"])
        expect(ratio and float(ratio[1]) < 0.25, "with its ratio", avoids[0])
        print(f"{STEPS} saves: {healthy:.1f} s with all targets well, {fallen:.1f} s with one at {RATIO} after {falls_after}: x {fallen / healthy:.2f}")
        report = forebay("report", Path(scratch) / "fallen/directory/run", "--plain")
        expect(f"OST{FALLS:04x}" in report, "the report names it", report)


sys.dont_write_bytecode = True
main()
