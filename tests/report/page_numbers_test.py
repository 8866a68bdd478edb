"""Goal: what the page of a report draws is what agents have kept, and its text fits a terminal.

Method: the data in pages of made runs are compared with numbers that recompute_test.py and this program work out of the
raw timings: bytes over time, who wrote when, saves, nodes, targets and the scaling over runs. Pages round to four
digits.
"""

import json
import math
import pathlib
import re
import sys
import tempfile

from forebay_test import BUILD, FOREBAY, expect, output_of, run
from recompute_test import differences, median, name_of, summary_of, told_of
from timings_reader import batches_of_run

WRITE, NO_TARGET = 17, 65535
RATE_BINS, HEAT_BINS, MEGA = 600, 200, 1e6
RUNS = {
    "slow": ["targets=24", "slow_node=3", "slow_target=20", "slow_target_ratio=0.1"],
    "mixed": ["mixed=1", "nodes=6"],
    "servers": ["targets=8", "nodes=3", "snapshots=4"],
}


def brief(number):
    return float(f"{number:.4g}")


def data_of(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found.group(1))


def binned(writes, begin, end, bins):
    """Bytes of (start, end, bytes) in equal parts of a time."""
    width, found = (end - begin) / bins, [0.0] * bins
    for first, last, size in writes:
        first, last = (first - begin) / width, (max(first, last) - begin) / width
        if last - first < 1e-9:
            if 0 <= first < bins:
                found[int(first)] += size
            continue
        for number in range(max(int(first), 0), min(int(last), bins - 1) + 1):
            found[number] += size * max(min(last, number + 1) - max(first, number), 0) / (last - first)
    return found


def writes_of(batch):
    for start, duration, kib, target, kind, _ in batch["timings"]:
        if kind == WRITE:
            name = batch["targets"][target]["name"] if target < len(batch["targets"]) else ""
            yield name, (start, start + duration * 1000, kib * 1024)


def close(found, wanted, what, share=2e-3):
    wrong = [(number, a, b) for number, (a, b) in enumerate(zip(found, wanted, strict=True))
             if not math.isclose(a, b, rel_tol=share, abs_tol=share * max(wanted, default=0))]
    expect(not wrong, what, wrong[:5])


def check_rate(name, rate, summary, batches):
    begin, end = summary["begin_unix_ns"], summary["end_unix_ns"]
    width = (end - begin) / 1e9 / RATE_BINS
    wanted = binned([write for b in batches for _, write in writes_of(b)], begin, end, RATE_BINS)
    close(rate["values"], [size / width / MEGA for size in wanted], f"{name}: the rate over time")
    expect(math.isclose(rate["width"], width, rel_tol=1e-9), f"{name}: the width of a part")
    marks = {}
    for row in summary["snapshot_rows"]:
        at = (row["saved_unix_ns"] - begin) / 1e9
        marks.setdefault(int(at / width), brief(at))
    expect(rate["saves"] == list(marks.values()), f"{name}: marks at saves", (rate["saves"], marks))
    expect(rate["peak"] == brief(summary["rate_peak_bytes_per_second"] / MEGA), f"{name}: the line of the peak")


def check_heat(name, heat, summary, batches):
    row = max(summary["snapshot_rows"], key=lambda each: each["drain_seconds"])
    own = [b for b in batches if (b["stream"], b["step"], b["session"]) == (row["stream"], row["step"], row["session"])]
    named = any(target["name"] for b in own for target in b["targets"])
    expect((heat["step"], heat["of"]) == (row["step"], "target" if named else "node"), f"{name}: which snapshot is drawn")
    begin = min(target["first_unix_ns"] for b in own for target in b["targets"])
    end = max(target["last_unix_ns"] for b in own for target in b["targets"])
    writes = {}
    for b in own:
        for target, write in writes_of(b):
            writes.setdefault(target if named else name_of(b), []).append(write)
    bins = {each: binned(some, begin, end, HEAT_BINS) for each, some in writes.items()}
    most = max(max(some) for some in bins.values())
    expect([each for each, _ in heat["rows"]] == sorted(bins), f"{name}: a row for each", heat["rows"])
    for each, levels in heat["rows"]:
        for size, level in zip(bins[each], levels, strict=True):
            exact = size / most * 7
            # At the border of two levels both are right, because the last digits of sums differ.
            good = {0} if size == 0 else {min(max(math.ceil(exact + off), 1), 7) for off in (-1e-6, 1e-6)}
            expect(int(level) in good or size < 1, f"{name}: {each} wrote {size} of {most}, shown as {level}")


def check_rows(name, data, summary):
    streams, outcomes = data["snapshots"]["streams"], data["snapshots"]["outcomes"]
    for found, row in zip(data["snapshots"]["rows"], summary["snapshot_rows"], strict=True):
        wanted = [row["step"], brief(row["blocked_seconds"]), brief(row["drain_seconds"]), brief(row["interval_seconds"] or 0),
                  brief(row["durable_seconds"] or 0), brief(row["bytes"] / MEGA), brief(row["straggler_ratio"] or 0)]
        expect(not list(differences(found[1:7] + found[8:], wanted)), f"{name}: step {row['step']}", (found, wanted))
        expect((streams[found[0]], outcomes[found[7]]) == (row["stream"], row["outcome"]), f"{name}: its stream and outcome")
    slow = {each["name"]: brief(each["ratio"]) for each in summary["slow_nodes"] + summary["slow_targets"]}
    nodes = sorted(summary["node_rows"], key=lambda row: row["rate_bytes_per_second"] or 0)
    for found, row in zip(data["nodes"]["rows"], nodes, strict=True):
        wanted = [row["name"], brief((row["rate_bytes_per_second"] or 0) / MEGA), row["drains"], brief(row["drain_seconds"]),
                  row["failures"], row["retries"], slow.get(row["name"], 0)]
        expect(not list(differences(found, wanted)), f"{name}: node {row['name']}", (found, wanted))
    for found, row in zip(data["targets"]["rows"], summary["target_rows"], strict=True):
        wanted = [row["name"], brief(row["bytes"] / MEGA), brief(row["last_write_seconds"]),
                  brief((row["rate_bytes_per_second"] or 0) / MEGA), row["writes"], slow.get(row["name"], 0)]
        expect(not list(differences(found[:6], wanted)), f"{name}: target {row['name']}", (found, wanted))


def check_scaling(scaling, summaries):
    expect(scaling["all"] == len(summaries), "every run is counted")
    for found, (name, summary) in zip(scaling["rows"], summaries.items(), strict=True):
        drains = [row for row in summary["snapshot_rows"] if row["drain_seconds"] > 0]
        rates = [row["stored_bytes"] / row["drain_seconds"] / MEGA for row in drains]
        seconds = [row["drain_seconds"] for row in drains]
        wanted = [name, summary["ranks"], summary["nodes"], brief(summary["bytes_drained"] / MEGA), len(drains),
                  brief(median(seconds)), brief(max(seconds)), brief(median(rates)), brief(min(rates)), brief(max(rates))]
        expect(not list(differences(found, wanted)), f"scaling of {name}", (found, wanted))


def check_text(made):
    for plain in (False, True):
        text = output_of(FOREBAY, "report", made, *(["--plain"] if plain else []))
        expect(not plain or text.isascii(), f"{made}: ASCII alone", text)
        for line in text.splitlines()[1:]:  # the first one is the path
            expect(len(line) <= 100 or line.startswith(" " * 14), f"{made}: at most 100 columns", line)


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-report-") as folder:
        scratch = pathlib.Path(folder).resolve()
        summaries = {}
        for name, options in RUNS.items():
            made = scratch / name
            run(BUILD / "tests" / "make_told_run", made, *options)
            output_of(FOREBAY, "report", made, "--html", scratch / "page.html")
            data = data_of((scratch / "page.html").read_text())
            batches = batches_of_run(made)
            told = {}
            for b in batches:
                told.setdefault((b["stream"], b["step"], b["session"]), []).append(b)
            expect(all(len(told_of(group)) == len(group) for group in told.values()), "each node has told once")
            summaries[name] = summary_of(made, 0)
            check_rate(name, data["rate"], summaries[name], batches)
            check_heat(name, data["heat"], summaries[name], batches)
            check_rows(name, data, summaries[name])
            check_text(made)
        output_of(FOREBAY, "report", *(scratch / name for name in RUNS), "--html", scratch / "page.html")
        check_scaling(data_of((scratch / "page.html").read_text())["scaling"], summaries)
    print(f"the pages of {len(RUNS)} runs show what was kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())
