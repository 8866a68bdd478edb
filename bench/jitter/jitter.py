#!/usr/bin/env python3
"""What output costs the iterations of an atmosphere code: HDF5 in one file a process, HDF5 in one collective file, Forebay
with an agent that is a process, Forebay with a dedicated core, and none. bench/run starts it:

    bench/jitter/jitter.py [--mib-per-variable 16] [--compute 2] [--ranks 4] [--json]

The computing is a sleep, which leaves the cores free. Storage is emulated: files lie in tmpfs, and a preloaded library
(slow_storage.c) lets all processes together write at 200 and at 60 MB/s, those of HDF5 and Forebay's agents alike; no disk
plays a part. With a dedicated core one rank of them computes less. The ways take turns. Needs a build with FOREBAY_BENCH.
"""

import argparse
import json
import sys

import report
import ways


def measure(given):
    """All runs: (rate, way) -> what each of them told."""
    runs = {(rate, way): [] for rate in given.rates for way in ways.WAYS}
    plan = [(given.rates[0], given.rounds, given.iterations), (given.rates[1], 1, given.slow_iterations)]
    for rate, rounds, iterations in plan:
        for turn in range(rounds):
            names = list(ways.WAYS)
            for way in names[turn % len(names):] + names[:turn % len(names)]:
                runs[rate, way].append(ways.run(way, int(rate * 1e6), given, iterations))
    return runs


def idle_share(given, way):
    """Of a core, for an agent that has nothing to do: between its start and the first save."""
    found = ways.run(way, int(given.rates[0] * 1e6), given, 1, given.idle_seconds)
    samples, end = found["watch"].samples, found["first_step"] - 1
    cpu, lasted = found["watch"].cpu_seconds(samples[0][0] + 1, end)
    if lasted < given.idle_seconds / 3:
        sys.exit(f"bench/jitter: the idle agent was seen for {lasted:.1f} s only. Next: raise --idle-seconds")
    return cpu / lasted


def main():
    """Exit code 0 also where a goal is missed: load decides about some of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in [("mib-per-variable", 16), ("ranks", 4), ("rounds", 2), ("iterations", 5), ("slow-iterations", 8),
                          ("slots", 2)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, default in [("compute", 2.0), ("idle-seconds", 8.0), ("patience", 0.0)]:
        parser.add_argument(f"--{name}", type=float, default=default)
    # --patience: how long to wait before each run until others leave the cores alone.
    parser.add_argument("--rates", type=lambda text: [int(part) for part in text.split(",")], default=[200, 60],
                        help="MB/s, one above and one below what the computing hides")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    for needed in (ways.SLOW, ways.PROGRAM.with_name("atmos"), ways.PROGRAM.with_name("jitter_hdf5")):
        if not needed.exists():
            sys.exit(f"bench/jitter: there is no {needed}. Next: cmake -DFOREBAY_BENCH=ON build && ninja -C build")
    runs = measure(given)
    idle = {way: idle_share(given, way) for way in ways.FOREBAY_WAYS}
    found = {key: report.figures(of_way) for key, of_way in runs.items()}
    reached = report.goals(given, found, runs, idle)
    # Beside the object too: bench/run, which asks for it, shows what passes and what does not.
    print(report.table(given, found, runs, idle, reached), file=sys.stderr if given.json else sys.stdout)
    if not given.json:
        return
    result = {"bench": "jitter", "measured": report.measured(found, runs, idle, given)}
    for name, (ratio, goal, _) in reached.items():
        key = "ratio" if not result.get("ratio") else f"{name}_ratio"
        result |= {key: ratio, "goal" if key == "ratio" else f"{key}_goal": goal}
    print(json.dumps(result))


main()
