"""Goal: bench/insitu measures analyses and what they take of a simulation, and its ratios follow from them.

Method: runs it small."""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def expect(wanted, what):
    if not wanted:
        sys.exit(f"insitu_test: {what}")


def check(*command):
    done = subprocess.run([sys.executable, *map(str, command), "--json"], capture_output=True, text=True, timeout=240, check=False)
    expect(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
    found = json.loads(done.stdout)
    for key, one in found["ratios"].items():
        expect(one["lower_quartile"] <= one["value"] <= one["upper_quartile"], f"{key}: {one}")
    return found["measured"]


def main():
    measured = check(HERE / "insitu.py", "--edge", 64, "--particles", 100000, "--rounds", 3)
    expect({"diagnostics", "spectrum", "fftw", "friends"} <= set(measured), f"{list(measured)}")
    for key, one in measured.items():
        expect(0 < one["median"] < 60, f"{key}: {one}")
    measured = check(HERE / "cost.py", "--rounds", 2, "--iterations", 8, "--mib-per-variable", 1, "--substeps", 40)
    for mode in ("process", "dedicated"):
        expect(0 < measured[f"{mode} made"]["median"] <= 1, f"{mode}: {measured}")
        expect(measured[f"{mode} share"]["median"] >= 0, f"{mode}: {measured}")


main()
