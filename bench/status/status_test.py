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
    report = json.loads(done.stdout)
    expect(20 <= report["files"] <= 80, f"{report['files']} files")
    expect(len(report["measured"]) == 9 and len(report["ratios"]) == 1, f"{list(report['measured'])}")
    for key, entry in report["measured"].items():
        expect(entry["lower_quartile"] <= entry["median"] <= entry["upper_quartile"], f"{key}: {entry}")


main()
