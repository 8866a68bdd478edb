"""Goal: every report of a run lists a slow storage target and a slow node first, with their ratio. A healthy run lists
none.

Method: striped_fs stripes each file over 24 targets, reports the layout like Lustre, and has a write rate for each
target. Eight nodes with an agent each save nbody there: with one target at 0.02 and at 0.5 of the usual rate, with one
node at 0.3, and with equal rates. FOREBAY_HEALTHY_RUNS sets the number of equal runs (2).
"""

import json
import os
import sys
from pathlib import Path

import machine
from machine import expect, forebay, run

TARGETS, STRIPE = 24, 65536
RATE = 2_000_000  # a stripe takes 33 ms: longer than a busy machine needs to begin a write
NODES = 8
SLOW = 14
JOB_SECONDS_MAX = 240
CONFIG = f"""
[agent]
block_bytes = {STRIPE}
in_flight = 1
linger_seconds = 0
[streams.restart]
slots = 2
"""


def job(place, steps, rate, *ratios):
    """The run of a job that saved `steps` steps, with this rate of a target and these ratios."""
    with machine.striped(place, STRIPE, TARGETS, rate, *ratios) as (target, mount, _):
        config = place / "forebay.toml"
        config.write_text(CONFIG)
        done = run("mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", NODES, machine.NBODY, "--mesh", 32, "--particles", 64,
                   "--steps", steps, "--save-every", 1, "--virtual-nodes", NODES, "--run", mount / "run", "--staging", place,
                   "--config", config, seconds_max=JOB_SECONDS_MAX)
        expect(done.returncode == 0, f"nbody saves {steps} steps", done.stdout + done.stderr)
        machine.wait_until(lambda: not list(place.glob("forebay-*/*")), "the agents have ended")
    return target / "run"


def summary_of(directory):
    summary = json.loads(forebay("report", directory, "--json"))
    print({row["name"]: round(row["rate_bytes_per_second"] / 1e3) for row in summary["target_rows"]}, flush=True)
    return summary


def slow_target(place, ratio, steps, rate):
    directory = job(place, steps, rate, f"{SLOW}={ratio}")
    found = summary_of(directory)["slow_targets"]
    expect(found and found[0]["name"] == f"OST{SLOW:04x}", f"the target at {ratio} is named first", found)
    # Nodes that wait for one another at the target make it look slower still.
    expect(ratio / NODES < found[0]["ratio"] < 2 * ratio, f"its ratio is about {ratio}, or less", found[0])
    expect(len(found) == 1, "no other one is named", found)
    text = forebay("report", directory, "--plain")
    expect(f"OST{SLOW:04x}" in text and "lfs setstripe" in text, "the report names it, and says how to leave it out", text)
    screen = forebay("top", directory, "--once")
    expect(f"OST{SLOW:04x}" in screen, "so does forebay top", screen)


def slow_node(place, ratio, steps):
    directory = job(place, steps, RATE, f"node-00003={ratio}")
    found = summary_of(directory)["slow_nodes"]
    expect(found and found[0]["name"].endswith("/3"), f"the node at {ratio} is named first", found)
    expect(0.5 * ratio < found[0]["ratio"] < 2 * ratio, f"its ratio is about {ratio}", found[0])
    expect(len(found) == 1, "no other one is named", found)


def healthy(place, steps):
    summary = summary_of(job(place, steps, RATE))
    expect(not summary["slow_targets"] and not summary["slow_nodes"], "a healthy run names nobody",
           (summary["slow_targets"], summary["slow_nodes"]))


def main():
    machine.need_striped_fs()
    with machine.scratch() as scratch:
        slow_target(Path(scratch) / "hardly", 0.02, 6, 4 * RATE)
        slow_target(Path(scratch) / "half", 0.5, 8, RATE)
        slow_node(Path(scratch) / "node", 0.3, 5)
        for number in range(int(os.environ.get("FOREBAY_HEALTHY_RUNS", "2"))):
            healthy(Path(scratch) / f"healthy-{number}", 6)


sys.dont_write_bytecode = True
main()
