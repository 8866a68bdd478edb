"""Goal: bench/insitu measures analyses, and its ratios follow from them.

Method: runs it small."""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def expect(wanted, what):
    if not wanted:
        sys.exit(f"insitu_test: {what}")


def main():
    done = subprocess.run([sys.executable, HERE / "insitu.py", "--edge", "64", "--particles", "100000", "--rounds", "3", "--json"],
                          capture_output=True, text=True, timeout=240, check=False)
    expect(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
    found = json.loads(done.stdout)
    expect({"diagnostics", "spectrum", "fftw", "friends"} <= set(found["measured"]), f"{list(found['measured'])}")
    for key, one in found["measured"].items():
        expect(0 < one["median"] < 60, f"{key}: {one}")
    for key, one in found["ratios"].items():
        expect(one["lower_quartile"] <= one["value"] <= one["upper_quartile"], f"{key}: {one}")


main()
