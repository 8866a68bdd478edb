"""Goal: bench/movers measures each operation beside what this machine has of other programs, and its ratios follow from that.

Method: runs it small, twice a program."""

import json
import os
import pathlib
import sys

from forebay_test import FOREBAY, expect, output_of

BENCH = pathlib.Path(__file__).resolve().parents[3] / "bench/movers/movers.py"
NAMES = ["walk", "copy", "sync", "change", "compare", "delete", "one", "large", "archive", "disk", "memory"]
OPERATIONS = ["walk", "copy", "sync, nothing changed", "sync, 1 % changed", "compare", "delete", "copy one file of 2 GiB", "copy T2",
              "archive TP, create", "archive TP, extract",
              "copy to disk, with sync"]


def main():
    only = [word for name in NAMES for word in ("--only", name)]
    found = json.loads(output_of(sys.executable, BENCH, "--factor", 0.004, "--repeats", 2, "--json", *only,
                                 env={**os.environ, "FOREBAY": str(FOREBAY)}))
    measured = found["measured"]
    for operation in OPERATIONS:
        expect(0 < measured[f"{operation}, forebay"]["median"] < 60, operation, str(measured))
    copied = found["ratios"]["copy: forebay / cp -a"]
    ratio = measured["copy, forebay"]["median"] / measured["copy, cp -a"]["median"]
    expect(abs(copied["value"] - ratio) < 1e-9, f"{copied} is {ratio}", str(measured))
    for label, one in found["ratios"].items():
        expect(one["lower_quartile"] <= one["upper_quartile"] and float(one["goal"]) > 0, f"{label}: {one}")
    print(f"bench: {len(found['ratios'])} ratios of {len(measured)} figures")


main()
