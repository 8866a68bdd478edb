#!/usr/bin/env python3
"""What the threads that copy cost an application with OpenMP threads, and what they gain, where those wait by spinning
(OMP_WAIT_POLICY=active) and where they sleep (passive): a step between saves against one without a session, and a save by
copy_threads = "auto" against one by a single thread. One rank, alone on its machine; all in turns."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("FOREBAY", os.environ.get("FOREBAY_AGENT", ROOT / "build/bin/forebay"))).resolve()
POLICIES = ("active", "passive")
WAYS = {"one": 1, "auto": 0}


def run(policy, threads, given):
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        done = subprocess.run([PROGRAM.with_name("threads_bench"), folder, str(given.mib), str(threads), str(given.saves)],
                              env=dict(os.environ, OMP_WAIT_POLICY=policy, FOREBAY_AGENT=str(PROGRAM)),
                              stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"threads_bench ended with exit code {done.returncode}")
    return json.loads(done.stdout)


def spread(values):
    quartiles = statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    return {"median": statistics.median(values), "lower_quartile": quartiles[0], "upper_quartile": quartiles[2]}


def ratio(over, under, goal):
    """Of each round, and the median of those."""
    found = spread([one / other for one, other in zip(over, under)])
    return {"value": found["median"], "lower_quartile": found["lower_quartile"], "upper_quartile": found["upper_quartile"], "goal": goal}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", default=os.environ.get("TMPDIR", "/var/tmp"), help="a directory of the target")
    parser.add_argument("--mib", type=int, default=256, help="what a save copies")
    parser.add_argument("--saves", type=int, default=3, help="of each run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    samples, threads, data = {}, {}, 0
    for _ in range(given.rounds):
        for policy in POLICIES:
            for way, wanted in WAYS.items():
                one = run(policy, wanted, given)
                threads[way], data = one["copy_threads"], one["bytes"]
                for key in ("alone", "between", "blocked"):
                    samples.setdefault(f"{policy}_{way}_{key}", []).append(statistics.median(one[key]))
    ratios = {}
    for policy in POLICIES:
        of = {key: samples[f"{policy}_{key}"] for key in ("one_between", "one_blocked", "auto_alone", "auto_between", "auto_blocked")}
        ratios[f"{policy}: step without a session / step between saves"] = ratio(of["auto_alone"], of["auto_between"], 0.98)
        ratios[f"{policy}: step between saves by one thread / by {threads['auto']}"] = ratio(of["one_between"], of["auto_between"], 0.98)
        ratios[f"{policy}: save by one thread / save by {threads['auto']}"] = ratio(of["one_blocked"], of["auto_blocked"], 1.0)
    found = {"bench": "threads", "bytes": data, "copy_threads": threads["auto"], "ratios": ratios,
             "measured": {key: {"unit": "s", **spread(values)} for key, values in samples.items()}}
    if given.json:
        print(json.dumps(found))
        return
    print(f"{data / 1e6:.0f} MB a save; medians of {given.rounds} rounds (quartiles)")
    for key, one in found["measured"].items():
        print(f"{key:24} {one['median'] * 1e3:8.2f} ms ({one['lower_quartile'] * 1e3:.2f}-{one['upper_quartile'] * 1e3:.2f})")
    for key, one in ratios.items():
        print(f"{key:55} {one['value']:.3f} ({one['lower_quartile']:.3f}-{one['upper_quartile']:.3f})  goal {one['goal']}")


main()
