#!/usr/bin/env python3
"""Walk, copy and delete by 1, 2, 4 and 8 processes of one thread each, as `--hosts localhost,...` starts them: without ssh and
MPI, so on any machine with enough cores. Prints a table.

    bench/movers/hosts.py [--json] [--repeats 5] [--factor 1] [--processes 1,2,4,8] [--memory DIR] [--tree T1]

Method: tree T1 of tests/trees and one large file, in memory. In each turn every number of processes does its work once, one
after the other, each copy to a place that was never there before; what is removed is removed outside of the time. The first
process works, too: "4" is one command with three workers. Beside the seconds stands what was given away: how often, and the
largest and smallest part of the entries (of one large file: of the bytes) that a process had.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOREBAY = os.environ.get("FOREBAY", str(ROOT / "build/bin/forebay"))
LARGE_BYTES = 2 << 30
sys.path.insert(0, str(ROOT / "transfer/tests/trees"))

import make_tree  # pylint: disable=wrong-import-position


def run(processes, *words):
    """Seconds and the report."""
    command = [FOREBAY, *map(str, words), "--threads", "1", "--json"]
    if processes > 1:
        command += ["--hosts", ",".join(["localhost"] * (processes - 1))]
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        raise SystemExit(f"bench/movers/hosts: {' '.join(command)} exits with {done.returncode}\n{done.stderr}")
    return seconds, json.loads(done.stdout)


def shares(report, key):
    """The smallest and the largest part that a process had, and how often work was given away."""
    parts = [one[key] for one in report.get("processes", [])]
    whole = sum(parts)
    if not whole:
        return None
    return {"least": min(parts) / whole, "most": max(parts) / whole, "gifts": sum(one["gifts_given"] for one in report["processes"])}


def measure(place, given):
    """(operation, processes) -> [(seconds, shares)]"""
    tree, large = place / "tree", place / "large"
    make_tree.make(given.tree, tree, given.factor)
    large.mkdir()
    with open(large / "file", "wb") as file:
        noise = os.urandom(1 << 20)
        for _ in range(max(int(LARGE_BYTES * given.factor) >> 20, 128)):
            file.write(noise)
    found = {}
    for turn in range(given.repeats):
        for processes in given.processes:
            target = place / f"copy-{turn}-{processes}"
            steps = [("walk", "entries", ("walk", tree)), ("copy", "entries", ("copy", tree, target, "--no-sync")),
                     ("compare", "entries", ("compare", tree, target)), ("delete", "entries", ("delete", target)),
                     ("copy one large file", "bytes", ("copy", large, target, "--no-sync"))]
            for operation, key, words in steps:
                seconds, report = run(processes, *words)
                found.setdefault((operation, processes), []).append((seconds, shares(report, key)))
            run(1, "delete", target)
    return found


def table(found):
    lines = ["| operation | processes | seconds | to one process | least part | largest part | gifts |", "|---|---|---|---|---|---|---|"]
    for (operation, processes), runs in sorted(found.items()):
        median = statistics.median(seconds for seconds, _ in runs)
        alone = statistics.median(seconds for seconds, _ in found[operation, min(n for name, n in found if name == operation)])
        parts = [one for _, one in runs if one]
        told = [f"{statistics.median(one[key] for one in parts):.2f}" if parts else "-" for key in ("least", "most", "gifts")]
        lines.append(f"| {operation} | {processes} | {median:.3f} | {alone / median:.2f} | {' | '.join(told)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--factor", type=float, default=1)
    parser.add_argument("--processes", type=lambda text: [int(word) for word in text.split(",")], default=[1, 2, 4, 8])
    parser.add_argument("--memory", default="/dev/shm")
    parser.add_argument("--tree", default="T1", choices=make_tree.TREES)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="forebay-hosts-", dir=given.memory) as scratch:
        place = pathlib.Path(scratch)
        found = measure(place, given)
        subprocess.run(["chmod", "-R", "u+rwx", place], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", *place.iterdir()], check=True)
    if given.json:
        print(json.dumps([{"operation": operation, "processes": processes, "runs": runs} for (operation, processes), runs in found.items()]))
    else:
        print(table(found))


main()
