"""Goal: bench/jitter measures every way over storage of the rates it says, and its figures and ratios follow from them.

Method: runs it small. A file a process cannot return before its bytes have passed the emulated storage, and blocks at
20 MB/s longer than at 80; what an agent drains passes it too, which the benchmark itself checks; Forebay blocks less.
"""

import json
import math
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
RATES, BYTES = (80, 20), 2 * 4 * 2**20  # two ranks of four variables of 1 MiB
WAYS = ("none", "each", "collective", "process", "dedicated")


def expect(wanted, what):
    if not wanted:
        sys.exit(f"jitter_test: {what}")


def run(*arguments):
    return subprocess.run([sys.executable, HERE / "jitter.py", *arguments], capture_output=True, text=True, timeout=240,
                          check=False)


def main():
    done = run("--mib-per-variable", "1", "--ranks", "2", "--rounds", "1", "--iterations", "3", "--slow-iterations", "3",
               "--compute", "0.2", "--idle-seconds", "4", "--rates", ",".join(map(str, RATES)), "--json")
    expect(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
    found = json.loads(done.stdout)
    figures = {key: one["median"] for key, one in found["measured"].items()}
    for rate in RATES:
        least = BYTES / (rate * 1e6)
        for way in WAYS:
            mean, most = figures[f"{rate}_{way}_mean"], figures[f"{rate}_{way}_max"]
            expect(0.2 <= mean <= most < 30, f"{rate} {way}: mean {mean}, max {most}")
            expect(figures[f"{rate}_{way}_spread"] < most, f"{rate} {way}: max - min above max")
            expect(figures[f"{rate}_{way}_blocked_mean"] <= mean, f"{rate} {way}: blocked longer than it lasted")
        # The last rank to write waits for all bytes, the first for a part of them.
        expect(figures[f"{rate}_each_blocked_max"] >= 0.95 * least, f"{rate}: a file a process was faster than its storage")
        expect(figures[f"{rate}_none_blocked_mean"] < 0.01, f"{rate}: no output blocks")
    expect(figures["20_each_blocked_mean"] > 2 * figures["80_each_blocked_mean"], "the rate changes nothing")
    for way in ("process", "dedicated"):
        wanted = figures["80_each_blocked"] / figures[f"80_{way}_blocked"]
        value = found["ratio"] if way == "process" else found["dedicated_blocked_ratio"]
        expect(math.isclose(wanted, value, rel_tol=1e-6) and value > 1, f"{way}: ratio {value}, not {wanted}")
        expect(found[f"{way}_stored_ratio"] == 1 and figures[f"{way}_idle_share"] < 0.5, f"{way}: {found}")
        drains = (3 if way == "process" else 1.5) * BYTES / 20e6  # of two ranks, or of one
        expect(figures[f"20_{way}_total"] >= 0.95 * drains, f"{way} ended before its drains")
    for wrong in (["--rates", "fast"], ["--wrong", "1"]):
        refused = run(*wrong)
        expect(refused.returncode == 2 and wrong[0] in refused.stderr, f"{wrong}: {refused.returncode}, {refused.stderr}")


main()
