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
    found = json.loads(done.stdout)
    expect(found["bytes"] == 16 << 20, f"{found['bytes']} bytes")
    expect(found["copy_threads"] >= 1, f"{found['copy_threads']} threads")
    expect(len(found["measured"]) == 12 and len(found["ratios"]) == 6, f"{list(found['measured'])}, {list(found['ratios'])}")
    for key, one in found["measured"].items():
        expect(0 < one["median"] < 60, f"{key}: {one}")
    for key, one in found["ratios"].items():
        expect(one["lower_quartile"] <= one["value"] <= one["upper_quartile"], f"{key}: {one}")


main()
