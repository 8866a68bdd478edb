"""Goal: bench/threads measures steps and saves of both kinds of waiting, and its ratios follow from them.

Method: runs it small."""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def expect(wanted, what):
    if not wanted:
        sys.exit(f"threads_test: {what}")


def main():
    done = subprocess.run([sys.executable, HERE / "threads.py", "--mib", "16", "--saves", "2", "--rounds", "2", "--json"],
                          capture_output=True, text=True, timeout=240, check=False)
    expect(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
    report = json.loads(done.stdout)
    expect(report["bytes"] == 16 << 20, f"{report['bytes']} bytes")
    expect(report["copy_threads"] >= 1, f"{report['copy_threads']} threads")
    expect(len(report["measured"]) == 12 and len(report["ratios"]) == 6, f"{list(report['measured'])}, {list(report['ratios'])}")
    for key, entry in report["measured"].items():
        expect(0 < entry["median"] < 60, f"{key}: {entry}")
    for key, entry in report["ratios"].items():
        expect(entry["lower_quartile"] <= entry["value"] <= entry["upper_quartile"], f"{key}: {entry}")


main()
