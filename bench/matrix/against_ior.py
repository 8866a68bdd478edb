#!/usr/bin/env python3
"""Compares `forebay bench run` with IOR and mdtest at equal settings, in turns, and appends the rates to a CSV.

A ratio is ours over theirs in the same turn; the goal is 0.97 to 1.03 for the median of them. `best` is the same of the
largest rates of each start, which work of others on the machine moves least: of many short repeats some are alone. Whose
turn is first changes from turn to turn. IOR and mdtest are looked for in --ior, in PATH, and below --build; `--build DIR`
makes them there: IOR 4.0.0 from --source (a git clone or a mirror of it; https://github.com/hpc/ior.git) at the commit of
that release.
"""

import argparse
import csv
import datetime
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = os.environ.get("FOREBAY", str(ROOT / "build/bin/forebay"))
SOURCE = "https://github.com/hpc/ior.git"
COMMIT = "967a9f65109760db8a3ac14a7fdd007f337d2960"  # of release 4.0.0
MPI = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_hwloc_base_binding_policy="none")

# Name, IOR's or mdtest's options, ours.
IOR = [
    ("posix shared", "-a POSIX", "--via posix --layout shared"),
    ("posix shared fsync", "-a POSIX -e", "--via posix --layout shared --durable fsync"),
    ("posix rank", "-a POSIX -F", "--via posix --layout rank"),
    ("mpiio shared", "-a MPIIO", "--via mpiio --layout shared"),
    ("mpiio shared collective", "-a MPIIO -c", "--via mpiio --layout shared --sync collective"),
]
MDTEST = [
    ("mdtest shared directory", "", "n={items}"),
    ("mdtest own directories", "-u", "n={items}:own"),
]
PHASES = ["Directory creation", "Directory stat", "Directory removal", "File creation", "File stat", "File read", "File removal"]


def build(place, source):
    """IOR and mdtest below `place`: not again where they are."""
    place = pathlib.Path(place).resolve()
    if not (place / "bin/ior").exists():
        clone = place / "source"
        run(["git", "clone", "--quiet", "--no-checkout", source, str(clone)])
        run(["git", "-C", str(clone), "checkout", "--quiet", COMMIT])
        for command in (["./bootstrap"], ["./configure", "--without-hdf5", f"--prefix={place}"], ["make", "-j2"], ["make", "install"]):
            run(command, cwd=clone)
    return place / "bin"


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"against_ior: {' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def rates(text):
    """MiB/s of each access of IOR's results, whose lines ours are like: median and largest."""
    found = {"write": [], "read": []}
    for line in text.splitlines():
        match = re.match(r"(write|read) +([0-9.]+) +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +\d+ *$", line)
        if match:
            found[match[1]].append(float(match[2]))
    return {access: (statistics.median(values), max(values)) for access, values in found.items()}


def operations(text):
    """Operations a second of each phase of mdtest's summary: mean and largest."""
    found = {}
    for phase in PHASES:
        match = re.search(rf"^ +{phase} +([0-9.]+) +[0-9.]+ +([0-9.]+)", text, re.MULTILINE)
        found[phase.lower()] = (float(match[2]), float(match[1]))
    return found


def interval(ratios):
    """Where the median of the ratios lies with 95 %, by resampling."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[1949]


class Contest:
    def __init__(self, options, tools):
        self.options, self.tools = options, tools
        self.mpiexec = ["mpiexec", "-n", str(options.ranks)]

    def ours(self, words):
        return run([*self.mpiexec, PROGRAM, "bench", "run", "--target", self.options.folder, "--out", "ior", "--repeats",
                    str(self.options.repeats), *words], env=MPI)

    def theirs(self, tool, words):
        with tempfile.TemporaryDirectory(prefix="forebay-ior-", dir=self.options.folder) as place:
            target = ["-o", f"{place}/file"] if tool == "ior" else ["-d", place]
            return run([*self.mpiexec, str(self.tools / tool), *words, "-i", str(self.options.repeats), *target], env=MPI)

    def ior(self, theirs, ours):
        size, xfer = self.options.size, self.options.xfer
        return (lambda: rates(self.theirs("ior", ["-b", size, "-t", xfer, *theirs.split()])),
                lambda: rates(self.ours(["--mem", "block", "--size", size.upper(), "--xfer", xfer.upper(), *ours.split()])))

    def mdtest(self, theirs, ours):
        items = self.options.items
        return (lambda: operations(self.theirs("mdtest", ["-n", str(items), *theirs.split()])),
                lambda: operations(self.ours(["--op", "metadata", "--tree", ours.format(items=items)])))

    def turns(self, pair):
        """[(theirs, ours)] of each turn."""
        taken = []
        for turn in range(self.options.turns):
            first = pair[turn % 2]()
            second = pair[1 - turn % 2]()
            taken.append((first, second) if turn % 2 == 0 else (second, first))
        return taken


def tell(name, taken, write):
    for measure in taken[0][0]:
        theirs, ours = ([one[side][measure][0] for one in taken] for side in (0, 1))
        best = statistics.median(one[1][measure][1] / one[0][measure][1] for one in taken)
        ratios = [b / a for a, b in zip(theirs, ours)]
        low, high = interval(ratios)
        row = [name, measure, statistics.median(theirs), statistics.median(ours), statistics.median(ratios), low, high, best, len(ratios)]
        print(f"{name:26} {measure:20} {row[2]:12.1f} {row[3]:12.1f}   ratio {row[4]:.3f} ({low:.3f} to {high:.3f}), best {best:.3f}", flush=True)
        write(row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default="/dev/shm", help="where both write (/dev/shm)")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--size", default="16m", help="bytes of a rank, as IOR spells them (16m)")
    parser.add_argument("--xfer", default="1m", help="bytes of a transfer (1m)")
    parser.add_argument("--items", type=int, default=1000, help="of mdtest, a rank (1000)")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--repeats", type=int, default=20, help="of each start of a program")
    parser.add_argument("--only", default="", help="the cases whose names hold this")
    parser.add_argument("--ior", default="", help="the directory of ior and mdtest")
    parser.add_argument("--build", default="", help="build them below this directory, unless they are there")
    parser.add_argument("--source", default=SOURCE, help="what --build clones")
    parser.add_argument("--results", default=str(ROOT / "bench/results/matrix-ior.csv"))
    options = parser.parse_args()
    found = shutil.which("ior")
    tools = pathlib.Path(options.ior) if options.ior else build(options.build, options.source) if options.build else found and pathlib.Path(found).parent
    if not tools:
        sys.exit("against_ior: no ior in PATH. Next: --build DIRECTORY, which clones and builds it")
    contest = Contest(options, tools)
    results = pathlib.Path(options.results)
    is_new = not results.exists()
    with results.open("a", encoding="ascii", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow("date processor load folder ranks size xfer case measure theirs ours ratio low high best turns".split())
        processor = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"))

        def write(row):
            numbers = [f"{value:.4g}" if isinstance(value, float) else value for value in row]
            writer.writerow([datetime.date.today(), processor[1] if processor else "unknown", f"{os.getloadavg()[0]:.1f}", options.folder,
                             options.ranks, options.size, options.xfer, *numbers])

        for kinds, pair in ((IOR, contest.ior), (MDTEST, contest.mdtest)):
            for name, theirs, ours in kinds:
                if options.only in name:
                    tell(name, contest.turns(pair(theirs, ours)), write)


if __name__ == "__main__":
    main()
