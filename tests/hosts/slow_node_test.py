"""Goal: a node at 0.3 of the usual write rate writes through a neighbour, and writes itself again after it recovers.
The job's remaining nodes and a healthy job never use a neighbour.

Method: striped_fs is slow for the agent of one of five nodes until a signal. The agent tests its own rate again after a
minute. The job ends when the node is back.
"""

import json
import re
import signal
import sys
from pathlib import Path

import machine
from machine import expect, forebay, wait_until

NODES, SLOW = 5, 1
TARGETS, STRIPE, RATE = 24, 65536, 4_000_000
CONFIG = f"""
[agent]
block_bytes = {STRIPE}
in_flight = 1
linger_seconds = 0
neighbours = 1
[streams.restart]
slots = 2
keep = 100
"""


def told(target, node):
    events = {}
    for path in target.glob(f"run/forebay/events-*-{node}.jsonl"):
        for line in path.read_text().splitlines():
            event = json.loads(line)
            events.setdefault(event["event"], []).append(event.get("text", ""))
    return events


def job(place, slow, act):
    """The events of each node of a job. Calls `act(target, server)` during the job."""
    with machine.striped(place, STRIPE, TARGETS, RATE, f"agent-{SLOW}=0.3@") as (target, mount, server):
        if slow:
            server.send_signal(signal.SIGUSR1)
        (place / "forebay.toml").write_text(CONFIG)
        program = machine.Job(["mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", NODES, machine.NBODY, "--mesh", 32,
                               "--particles", 64, "--steps", 100000, "--save-every", 1, "--virtual-nodes", NODES, "--run",
                               mount / "run", "--staging", place, "--config", place / "forebay.toml"], place / "log")
        try:
            act(target, server)
            program.process.terminate()
            expect(program.finish() is not None, "the job is ended", program.output()[-4000:])
        finally:
            program.kill()
        wait_until(lambda: not list(place.glob("forebay-*/*")), "the agents have ended")
        forebay("verify", mount / "run")
        nodes = [told(target, node) for node in range(NODES)]
        if slow:
            why = [sentence["text"] for sentence in json.loads(forebay("top", mount / "run", "--once", "--json"))["why"]]
            ways = nodes[SLOW]["detours"] + nodes[SLOW]["writes_again"]
            expect(any(text in ways for text in why), "forebay top says which way it goes", why)
        return nodes


def committed(target):
    return sum(len(told(target, node).get("committed", [])) for node in range(NODES))


def comes_back(target, server):
    wait_until(lambda: "detours" in told(target, SLOW), "the slow node writes through a neighbour")
    at = committed(target)
    wait_until(lambda: committed(target) > at + 2, "and more is committed")
    server.send_signal(signal.SIGUSR1)
    wait_until(lambda: "writes_again" in told(target, SLOW), "recovered, it writes itself again", 200)


def main():
    machine.need_striped_fs()
    with machine.scratch() as scratch:
        nodes = job(Path(scratch) / "slow", True, comes_back)
        detours = nodes[SLOW]["detours"]
        # A busy machine may make it slow once more after it has recovered.
        ratios = [re.search(r"drains at ([0-9.]+) of the usual rate", line) for line in detours]
        expect(all(ratio and float(ratio[1]) < 0.5 for ratio in ratios), "it says why, each time with its ratio", detours)
        expect(not any("detours" in node for number, node in enumerate(nodes) if number != SLOW), "no other node does", nodes)
        helped = [node["helped"] for node in nodes if "helped" in node]
        expect(len(helped) == 1 and int(helped[0][0].split()[0]) >= 2, "its neighbour has written node files for it", nodes)
        nodes = job(Path(scratch) / "healthy", False,
                    lambda target, server: wait_until(lambda: committed(target) >= 8, "a healthy job commits eight snapshots"))
        expect(not any("detours" in node or "helped" in node for node in nodes), "in a healthy job nobody does", nodes)


sys.dont_write_bytecode = True
main()
