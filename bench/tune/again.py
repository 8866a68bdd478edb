#!/usr/bin/env python3
"""Measures a profile again: its chosen setting and the defaults in turns, by `forebay tune` in one job, whose trials this script
chooses. Prints both medians, and the ratios of the turns; appends a line to a CSV, with how long after the search it was."""

import argparse
import csv
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("FOREBAY", str(ROOT / "build/bin/forebay"))


def key(profile, name):
    return next((one["value"] for one in profile["key"] if one["name"] == name), "")


def append(path, profile, seconds, ratios):
    """One line: what `ratios` says of the profile now, on this processor."""
    is_new = not path.exists()
    info = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    processor = " ".join(re.search(rf"{field}\s*: (.*)", info)[1] for field in ("model name", "cpu family", r"model\b"))
    low, _, high = statistics.quantiles(ratios, n=4)
    with path.open("a", encoding="ascii", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow("date processor load file_system minutes_after turns default_s tuned_s ratio quartile_low quartile_high tuned".split())
        writer.writerow([datetime.date.today(), processor, f"{os.getloadavg()[0]:.1f}", key(profile, "file_system"),
                         round((time.time() - profile["made_unix_ns"] / 1e9) / 60), len(ratios),
                         *(f"{statistics.median(seconds[name]):.4g}" for name in ("default", "tuned")),
                         *(f"{value:.3f}" for value in (statistics.median(ratios), low, high)),
                         " ".join(f"{one['name']}={one['value']}" for one in profile["chosen"] if one["name"] != "run")])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("profile")
    parser.add_argument("--run", default=os.environ.get("TMPDIR", "/var/tmp"))
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench/results/tune-again.csv")
    parser.add_argument("--wait", type=float, default=300, help="seconds for a trial")
    given = parser.parse_args()
    profile = json.loads(pathlib.Path(given.profile).read_text(encoding="utf-8"))
    tuned = {one["name"]: one["value"] for one in profile["chosen"] if one["name"] != "run"}
    with tempfile.TemporaryDirectory() as folder:
        ask, tell = pathlib.Path(folder, "ask"), pathlib.Path(folder, "tell")
        ask.write_text("", encoding="ascii")
        options = ["--interval", key(profile, "interval_seconds")] if key(profile, "interval_seconds") else []
        job = subprocess.Popen([os.environ.get("BENCH_MPIEXEC", "mpiexec"), "-n", key(profile, "ranks_per_node"), PROGRAM, "tune",
                                "--run", given.run, "--bytes-per-rank", key(profile, "bytes_per_rank"), "--budget",
                                str(2 * given.turns + 3), "--ask", ask, "--tell", tell, "--json", *options],
                               stdout=subprocess.DEVNULL)

        def told(count):
            end = time.monotonic() + given.wait
            while time.monotonic() < end:
                lines = tell.read_text(encoding="utf-8").splitlines() if tell.exists() else []
                if len(lines) > count:
                    return json.loads(lines[count])
                if job.poll() is not None:
                    sys.exit(f"forebay tune ended with exit code {job.returncode}")
                time.sleep(0.02)
            sys.exit("forebay tune does not answer")

        told(0)
        seconds, count = {"default": [], "tuned": []}, 0
        # One of each that does not count; then each turn begins with another.
        for turn in range(given.turns + 1):
            for name in ("default", "tuned") if turn % 2 else ("tuned", "default"):
                with ask.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"setting": tuned if name == "tuned" else {}, "share": 1}) + "\n")
                count += 1
                cost = told(count)["cost"]
                if turn > 0:
                    seconds[name].append(cost)
        with ask.open("a", encoding="utf-8") as file:
            file.write('{"done": true}\n')
        job.wait()
    ratios = [one / other for one, other in zip(seconds["default"], seconds["tuned"])]
    for name, samples in seconds.items():
        print(f"{name:8} {statistics.median(samples) * 1e3:8.1f} ms  ({min(samples) * 1e3:.1f}-{max(samples) * 1e3:.1f}), {len(samples)} trials")
    print(f"default / tuned {statistics.median(ratios):.2f}  ({min(ratios):.2f}-{max(ratios):.2f})")
    append(given.results, profile, seconds, ratios)


main()
