"""Goal: bench/run prints every ratio of a benchmark, with the ratio of its goal first and in words. It writes its lines
to the given file. It lists its benchmarks, also for an unknown name.

Method: an mpiexec that answers like `forebay bench save`.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import tree

RUN = tree.ROOT / "bench/run"
FOUND = {
    "bench": "save",
    "threads_ratio": 1.25, "threads_ratio_goal": 0.95, "threads_ratio_is": "best memcpy by 2 threads / blocked",
    "ratio": 2.5, "goal": 1.1, "ratio_is": "memcpy by one thread / blocked", "ratio_lower_quartile": 2.4, "ratio_upper_quartile": 2.6,
    "measured": {"save": {"unit": "s", "median": 0.5, "lower_quartile": 0.4, "upper_quartile": 0.6}},
}
PRINTED = ["threads_ratio 1.250  goal 0.95: best memcpy by 2 threads / blocked", "ratio 2.500  goal 1.10: memcpy by one thread / blocked"]


def bench_run(*arguments, **environment):
    return subprocess.run([sys.executable, RUN, *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})


def main():
    problems = []

    def expect(good, what, done):
        if not good:
            problems.append(f"{what}: exit code {done.returncode}\n{done.stdout}{done.stderr}")

    with tempfile.TemporaryDirectory(prefix="forebay-bench-run-") as scratch:
        place = pathlib.Path(scratch)
        answer = place / "mpiexec"
        answer.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(FOUND)}\nEND\n")
        answer.chmod(0o755)
        done = bench_run("save-1", "--results", str(place / "results"), BENCH_MPIEXEC=str(answer))
        lines = done.stdout.splitlines()
        expect(done.returncode == 0 and len(lines) == 3 and lines[0].startswith("save-1 "), "save-1 is measured", done)
        expect([line[21:] for line in lines[:2]] == PRINTED, "both ratios are printed", done)
        with open(place / "results/save-1.csv", newline="") as file:
            rows = [row[-5:] for row in csv.reader(file)]
        expect([row[1:] for row in rows[1:]] == [["1.2500", "", "", "0.95"], ["2.5000", "2.4000", "2.6000", "1.1"], ["0.5", "0.4", "0.6", ""]],
               f"the lines are written where they are wanted, {rows}", done)
    done = bench_run("--help")
    expect(done.returncode == 0 and all(word in done.stdout for word in ("save-1", "kernel-portable-4", "--results", "BENCH_RUN")),
           "--help names benchmarks and options", done)
    done = bench_run("save-1", "abacus", BENCH_MPIEXEC="false")
    expect(done.returncode == 2 and "abacus: no such benchmark; there are save-1, save-2" in done.stderr and not done.stdout,
           "a benchmark that is none is refused", done)
    tree.finish("bench_run", 5, problems)


main()
