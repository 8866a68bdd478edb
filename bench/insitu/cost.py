#!/usr/bin/env python3
"""What analyses take of a simulation: atmos saves after every iteration, and every second snapshot is analysed (statistics,
histogram, slice and projection with pictures), so that iterations beside an analysis have neighbours without one in the same
run. With an agent that is a process, where the simulation has all cores, and with a dedicated core."""

import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("FOREBAY", os.environ.get("FOREBAY_AGENT", ROOT / "build/bin/forebay"))).resolve()
ENVIRONMENT = os.environ | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none", "FOREBAY_AGENT": str(PROGRAM)}
TICK = os.sysconf("SC_CLK_TCK")
KINDS = ("statistics", "histogram", "slice", "projection")


def configuration(mode):
    lines = ["close_wait_seconds = 120", "[agent]", f'mode = "{mode}"', "[streams.fields]", "slots = 2", "keep = 1", "view = false", 'policy = "wait"']
    for kind in KINDS:
        lines += [f"[streams.fields.insitu.{kind}]", f'kind = "{kind}"', 'variables = ["*"]', "every = 2"]
    return "\n".join(lines) + "\n"


class Workers(threading.Thread):
    """CPU seconds of the programs that analyse, as long as they live."""

    def __init__(self):
        super().__init__(daemon=True)
        self.seconds, self.ended = {}, threading.Event()

    def run(self):
        while not self.ended.wait(0.1):
            for process in pathlib.Path("/proc").iterdir():
                try:
                    if process.name.isdigit() and b"insitu-worker" in (process / "cmdline").read_bytes():
                        fields = (process / "stat").read_text().rpartition(")")[2].split()
                        self.seconds[process.name] = (int(fields[11]) + int(fields[12])) / TICK
                except OSError:
                    continue  # it has ended

    def stop(self):
        self.ended.set()
        self.join()
        return sum(self.seconds.values())


def run(mode, given):
    """Of iterations beside an analysis over those without: time without what was blocked, and blocked time of an iteration; the
    CPU share of analyses in the former; how many of the snapshots were analysed."""
    with tempfile.TemporaryDirectory(prefix="forebay-cost-", dir="/dev/shm") as name:
        folder = pathlib.Path(name)
        (folder / "staging").mkdir()
        (folder / "forebay.toml").write_text(configuration(mode))
        workers = Workers()
        workers.start()
        done = subprocess.run(
            list(map(str, [os.environ.get("BENCH_MPIEXEC", "mpiexec"), "-n", given.ranks, PROGRAM.with_name("atmos"), "--config", folder / "forebay.toml",
                           "--run", folder / "run", "--staging", folder / "staging", "--iterations", given.iterations, "--substeps", given.substeps,
                           "--mib-per-variable", given.mib_per_variable, "--record", folder / "record.csv"])),
            env=ENVIRONMENT, capture_output=True, text=True, check=False)
        spent = workers.stop()
        if done.returncode != 0:
            sys.exit(f"bench/insitu/cost: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        with open(folder / "record.csv", newline="", encoding="ascii") as file:
            records = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
        listed = subprocess.run([PROGRAM, "ls", folder / "run/fields.statistics", "--json"], capture_output=True, check=True).stdout
    seconds, blocked = {}, {}
    for row in records:  # an iteration lasts as long as its slowest rank
        step = int(row["step"])
        seconds[step] = max(seconds.get(step, 0), row["seconds"] - row["blocked_seconds"])
        blocked[step] = max(blocked.get(step, 0), row["blocked_seconds"])
    made = len(json.loads(listed))
    steps = range(4, given.iterations)  # the first ones touch new memory
    beside, without = [[step for step in steps if step % 2 == odd] for odd in (1, 0)]
    mean = {which: statistics.median(seconds[step] for step in chosen) for which, chosen in (("beside", beside), ("without", without))}
    share = spent / max(made, 1) / mean["beside"] / os.cpu_count()
    return {"slowdown": mean["beside"] / mean["without"], "share": share, "step": mean["without"], "made": made / (given.iterations // 2),
            "blocked": statistics.median(blocked[step] for step in beside) / statistics.median(blocked[step] for step in without)}


def spread(values):
    quartiles = statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    return {"lower_quartile": quartiles[0], "upper_quartile": quartiles[2]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=os.cpu_count(), help="of them one is the agent with a dedicated core")
    parser.add_argument("--iterations", type=int, default=24)
    parser.add_argument("--substeps", type=int, default=12, help="of an iteration: at about a second each analysis ends within one")
    parser.add_argument("--mib-per-variable", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    samples = {mode: [] for mode in ("process", "dedicated")}
    for _ in range(given.rounds):
        for mode, found in samples.items():
            found.append(run(mode, given))
    ratios, measured = {}, {}
    for mode, found in samples.items():
        cost = {"process": [(1 + one["share"]) / one["slowdown"] for one in found], "dedicated": [1 / one["slowdown"] for one in found]}[mode]
        text = {"process": "1 + CPU share of analyses / iteration beside one", "dedicated": "iteration without / beside an analysis"}[mode]
        ratios[f"{text}, {mode}"] = {"value": statistics.median(cost), **spread(cost), "goal": 1.0 if mode == "process" else 0.99}
        for key, unit in (("step", "s"), ("slowdown", ""), ("share", ""), ("blocked", ""), ("made", "")):
            values = [one[key] for one in found]
            measured[f"{mode} {key}"] = {"unit": unit, "median": statistics.median(values), **spread(values)}
    found = {"bench": "insitu-cost", "ranks": given.ranks, "mib_per_variable": given.mib_per_variable, "ratios": ratios, "measured": measured}
    if given.json:
        print(json.dumps(found))
        return
    for key, one in measured.items():
        print(f"{key:24} {one['median']:8.3f} ({one['lower_quartile']:.3f}-{one['upper_quartile']:.3f})")
    for key, one in ratios.items():
        print(f"{key:65} {one['value']:.3f} ({one['lower_quartile']:.3f}-{one['upper_quartile']:.3f})  goal {one['goal']}")


main()
