#!/usr/bin/env python3
"""What the status lines of a large job cost: files and bytes a second at the target, memory and CPU time of an agent,
and how long `forebay top --once` takes to read and show all of them."""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("FOREBAY", str(ROOT / "build" / "bin" / "forebay"))
LIMIT = 200  # files a second of a whole job


def spread(values):
    quartiles = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    return {"median": quartiles[1], "lower_quartile": quartiles[0], "upper_quartile": quartiles[2]}


def writers(run, given):
    """By the program that lies beside `forebay`."""
    bench = pathlib.Path(PROGRAM).resolve().parent / "status_bench"
    with tempfile.TemporaryDirectory(prefix="forebay-status-", dir="/dev/shm") as staging:
        done = subprocess.run([bench, run, pathlib.Path(staging) / "node", str(given.nodes), str(given.seconds)],
                              capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def reading(run, rounds):
    seconds = []
    for _ in range(rounds):
        begin = time.perf_counter()
        subprocess.run([PROGRAM, "top", run, "--once"], stdout=subprocess.DEVNULL, check=True)
        seconds.append(time.perf_counter() - begin)
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(os.environ.get("TMPDIR", "/var/tmp")))
    parser.add_argument("--nodes", type=int, default=8100)
    parser.add_argument("--seconds", type=int, default=82, help="two periods of 8100 nodes, and one more")
    parser.add_argument("--rounds", type=int, default=7, help="of forebay top")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="forebay-status-", dir=given.folder) as folder:
        run = str(pathlib.Path(folder) / "run")
        found = writers(run, given)
        seconds, memory = reading(run, given.rounds)
    a_second = found["files"] / found["seconds"]
    one = {"a period": {"unit": "s", **spread([found["period_seconds"]])},
           "files a second, all nodes": {"unit": "1/s", **spread([a_second])},
           "files in the busiest second": {"unit": "1/s", **spread([found["most_in_a_second"]])},
           "bytes a second, all nodes": {"unit": "B/s", **spread([a_second * 4096])},
           "memory of a writer": {"unit": "B", **spread([found["memory_bytes"]])},
           "CPU time of a writer": {"unit": "s/s", **spread([found["cpu_seconds"] / found["seconds"] / given.nodes])},
           "the last statuses of all": {"unit": "s", **spread([found["end_seconds"]])},
           "forebay top --once": {"unit": "s", **spread(seconds)},
           "memory of forebay top": {"unit": "B", **spread([memory])}}
    ratio = LIMIT / max(a_second, 1e-9)
    ratios = {"200 files a second / files a second": {"value": ratio, "lower_quartile": ratio, "upper_quartile": ratio,
                                                      "goal": 1.0}}
    if given.json:
        print(json.dumps({"bench": "status", "nodes": given.nodes, "files": found["files"], "ratios": ratios,
                          "measured": one}))
        return
    print(f"{given.nodes} writers, {given.seconds} s, {found['files']} files")
    for key, value in one.items():
        print(f"{key:30} {value['median']:12.6g} {value['unit']} ({value['lower_quartile']:.6g}-{value['upper_quartile']:.6g})")


main()
