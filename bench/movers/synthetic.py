#!/usr/bin/env python3
"""What movers hold in memory of trees of any size, which lie nowhere. Run by `bench/run movers-memory`.

    bench/movers/synthetic.py [--json] [--entries 1000000] [--only walk] [--threads 2]

Method: movers_synthetic (synthetic.cpp) gives the engine names that it makes up; each verb is a process of its own, which
tells its largest memory, that of its threads' stacks and buffers among it, and the largest size of its files without a
name. With --entries 100000000 it takes minutes, and some GB in TMPDIR. The goal is that of the guide: 256 MB.
"""

import argparse
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("FOREBAY", ROOT / "build" / "bin" / "forebay")).parent / "movers_synthetic"
MEMORY_MAX = 256e6


def told(verb, given):
    done = subprocess.run([PROGRAM, verb, str(given.entries), str(given.threads)], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def single(value, unit):
    return {"unit": unit, "median": value, "lower_quartile": value, "upper_quartile": value}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=int(os.environ.get("BENCH_ENTRIES", "1000000")))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", action="append", choices=["walk", "compare", "copy"], help="this verb; as often as one likes")
    parser.add_argument("--repeats", type=int, help="for bench/run: once is enough, memory hardly differs")
    parser.add_argument("--json", action="store_true", help="print one object, for bench/run")
    given = parser.parse_args()
    ratios, measured = {}, {}
    for verb in given.only or ["walk", "compare", "copy"]:
        one = told(verb, given)
        label = f"{verb}, {one['entries']} entries, {one['linked_inodes']} inodes of 4 names"
        value = one["peak_bytes"] / MEMORY_MAX
        ratios[f"{label}: memory / 256 MB"] = {"value": value, "lower_quartile": value, "upper_quartile": value, "goal": "1"}
        measured[f"{label}: rate"] = single(one["entries"] / one["seconds"], "entries/s")
        measured[f"{label}: memory"] = single(one["peak_bytes"] / 1e6, "MB")
        measured[f"{label}: spill files"] = single(one["spilled_bytes"] / 1e6, "MB")
        if not given.json:
            print(f"{label}: {one['seconds']:.1f} s, {one['entries'] / one['seconds'] / 1e3:.0f} k/s, {one['peak_bytes'] / 1e6:.1f} MB in "
                  f"memory, {one['spilled_bytes'] / 1e6:.1f} MB in spill files", flush=True)
    if given.json:
        print(json.dumps({"bench": "movers-memory", "ratios": ratios, "measured": measured, **{f"{label}_is": "at most that" for label in ratios}}))


main()
