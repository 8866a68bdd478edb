#!/usr/bin/env python3
"""Goal: bench/status measures what it says. Method: few nodes, a short time."""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def expect(wanted, what):
    if not wanted:
        sys.exit(f"status_test: {what}")


def main():
    done = subprocess.run([sys.executable, HERE / "status.py", "--nodes", "20", "--seconds", "3", "--rounds", "2", "--json"],
                          capture_output=True, text=True, timeout=240, check=False)
    expect(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
    found = json.loads(done.stdout)
    expect(20 <= found["files"] <= 80, f"{found['files']} files")
    expect(len(found["measured"]) == 9 and len(found["ratios"]) == 1, f"{list(found['measured'])}")
    for key, one in found["measured"].items():
        expect(one["lower_quartile"] <= one["median"] <= one["upper_quartile"], f"{key}: {one}")


main()
