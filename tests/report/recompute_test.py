"""Goal: every number of summary.json follows from what agents have kept, by docs/formats/summary.md.

Method: a second program, this one, reads the batches of made runs by docs/formats/timings.md and works the numbers out
in its own way; they are compared with what `forebay report --json` prints. It fails too where summary.json has a number
that this program does not know.
"""

import collections
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import json

from timings_reader import batches_of_run

BUILD = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"])
RUNS = {
    "healthy": ["targets=12"],
    "no_layout": ["nodes=5", "snapshots=3"],
    "slow_node": ["slow_node=3", "targets=12"],
    "slow_target": ["nodes=24", "targets=24", "slow_target=14"],
    "slow_both": ["nodes=48", "targets=48", "slow_target=11", "slow_target_ratio=0.1", "slow_node=30", "node_bytes=134217728"],
    "alone": ["nodes=1", "snapshots=2"],
    "three": ["nodes=3", "slow_node=1"],
    "noisy": ["nodes=40", "noise=0.4", "targets=7", "snapshots=4"],
    "storage_cannot_follow": ["interval=0.5"],
    "mixed": ["mixed=1", "targets=5", "slow_node=2"],
    "began": ["began=40"],
    "hostile": ["mixed=1", "hostile=1", "targets=5"],
}
WAIT_SECONDS_MIN = 1e-3


def quantile(samples, share):
    ordered = sorted(samples)
    if not ordered:
        return 0.0
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def median(samples):
    return statistics.median(samples) if samples else 0.0


def name_of(batch):
    return batch["host"] if batch["virtual_node"] in ("", "0") else f'{batch["host"]}/{batch["virtual_node"]}'


def spread(samples):
    return {"count": len(samples), "median": median(samples), "p95": quantile(samples, 0.95), "max": max(samples, default=0),
            "sum": math.fsum(samples)}


PARTS = ("copy", "slot", "layout", "ranks")


def parts_of(batch):
    """The four parts of blocked_seconds; of a batch without them what the longest of each leaves is waiting for ranks."""
    told = {part: batch[f"blocked_{part}_seconds"] for part in PARTS}
    if sum(told.values()) <= 0:
        told = {"copy": batch["copy_seconds"], "slot": batch["wait_seconds"], "layout": batch["plan_seconds"]}
    left, parts = batch["blocked_seconds"], {}
    for part in PARTS[:3]:
        parts[part] = min(told[part], left)
        left -= parts[part]
    parts["ranks"] = left
    return {f"{part}_seconds": seconds for part, seconds in parts.items()}


def or_none(number):
    return number if number > 0 else None


def told_of(batches):
    """Of each node of a snapshot the last batch of its file."""
    nodes = {}
    for batch in batches:
        nodes[batch["node"]] = batch
    return [nodes[node] for node in sorted(nodes)]


def durable_time(told):
    committed = [b for b in told if b["outcome"] == "committed"] or [b for b in told if b["outcome"] == "found_committed"]
    times = [b["drained_unix_ns"] + int(b["commit_seconds"] * 1e9) if b["drained_unix_ns"] > 0 else b["ended_unix_ns"]
             for b in committed]
    return (times[0] if committed and committed[0]["outcome"] == "committed" else min(times, default=0))


def row_of(told):
    first = told[0]
    outcomes = {b["outcome"] for b in told}
    outcome = "committed" if outcomes & {"committed", "found_committed"} else next(
        (each for each in ("failed", "superseded", "set_aside") if each in outcomes), "incomplete")
    nodes = max(max(b["nodes"] for b in told), len(told))
    slowest = max(told, key=lambda b: b["drain_seconds"])
    drains = [b["drain_seconds"] for b in told if b["drain_seconds"] > 0]
    saved = min((b["saved_unix_ns"] for b in told if b["saved_unix_ns"] > 0), default=0)
    drained = [b["drained_unix_ns"] for b in told]
    is_drained = outcome == "committed" or (len(told) == nodes and all(drained))
    durable = durable_time(told) if outcome == "committed" else 0
    why = list(dict.fromkeys(sentence for b in told for sentence in b["why"]))
    intervals = [b["interval_seconds"] for b in told if b["interval_seconds"] > 0]
    row = {key: max(b[key] for b in told) for key in ("blocked_seconds", "wait_seconds", "plan_seconds", "copy_seconds",
                                                      "drain_seconds", "sync_seconds", "commit_seconds")}
    row["blocked_parts"] = parts_of(max(told, key=lambda b: b["blocked_seconds"]))
    row["missing_ranks"] = sum(b["missing_ranks"] for b in told)
    row |= {key: first[key] for key in ("stream", "step", "snapshot_id", "session")}
    row |= {"nodes": nodes, "nodes_told": len(told), "ranks": max(b["ranks"] for b in told), "outcome": outcome,
            "bytes": sum(b["bytes"] for b in told), "stored_bytes": sum(b["stored_bytes"] for b in told),
            "saved_unix_ns": or_none(saved), "drained_unix_ns": or_none(max(drained)) if is_drained else None,
            "durable_unix_ns": or_none(durable),
            "durable_seconds": max(0.0, (durable - saved) / 1e9) if durable else None,
            "interval_seconds": median(intervals), "slowest_node": name_of(slowest) if drains else None,
            "straggler_ratio": max(drains) / median(drains) if len(drains) > 1 else None, "why": why}
    return row


def add_intervals(rows):
    before, waited = {}, {}
    for row in rows:
        key, saved = (row["stream"], row["session"]), row["saved_unix_ns"]
        if row["interval_seconds"] <= 0 and key in before and saved:
            row["interval_seconds"] = max(0.0, (saved - before[key]) / 1e9)
        if saved:
            before[key] = saved
        interval, drain = row["interval_seconds"], row["drain_seconds"]
        row["slack"] = max(0.0, interval - waited.get(key, 0.0)) / drain if interval > 0 and drain > 0 else None
        waited[key] = row["wait_seconds"]
        row["interval_seconds"] = or_none(interval)


def slow_ones(samples):
    """docs/formats/summary.md, "Who is slow"."""
    rates = collections.defaultdict(list)
    for name, rate in samples:
        rates[name].append(rate)
    if len(rates) < 2:
        return []
    medians = {name: median(each) for name, each in rates.items()}
    middle = median(list(medians.values()))
    deviation = max(1.4826 * median([abs(math.log(each / middle)) for each in medians.values()]), 0.02)
    low = {name: sum(rate < 0.8 * middle for rate in each) for name, each in rates.items()}
    all_low, all_samples = sum(low.values()), len(samples)
    found = []
    for name, each in rates.items():
        ratio, z, count = medians[name] / middle, math.log(middle / medians[name]) / deviation, len(each)
        others = all_samples - count
        share = min(max((all_low - low[name]) / others if others else 0.5, 0.02), 0.5)
        walk = low[name] * math.log(0.9 / share) + (count - low[name]) * math.log(0.1 / (1 - share))
        if len(rates) < 4:
            slow = ratio < 0.5 and count >= 3 and low[name] == count
        elif count < 3:
            slow = ratio < 0.25 and z > 8
        else:
            slow = z >= 3 and walk > 9.20
        if slow and ratio < 0.8:
            found.append({"name": name, "ratio": ratio, "z": z, "samples": count})
    return sorted(found, key=lambda each: (each["ratio"], each["name"]))


def compared(snapshots):
    """Samples of all snapshots, each against the median of its own."""
    for samples in snapshots:
        middle = median([rate for _, rate in samples])
        if middle > 0:
            yield from ((name, rate / middle) for name, rate in samples)


def share_of_slow(batch, ratios):
    seconds = math.fsum(target["busy_seconds"] for target in batch["targets"])
    lost = math.fsum(target["busy_seconds"] * (1 - ratios[target["name"]]) for target in batch["targets"]
                     if target["name"] in ratios)
    return min(lost / seconds, 0.999) if seconds > 0 else 0


def node_samples(told, slow_targets):
    ratios = {each["name"]: each["ratio"] for each in slow_targets}
    least = 0.9 * median([b["bytes"] for b in told])
    return [(name_of(b), b["bytes"] / b["drain_seconds"] / (1 - share_of_slow(b, ratios)))
            for b in told if b["drain_seconds"] > 0 and b["bytes"] > 0 and b["bytes"] >= least]


def target_samples(told):
    loads = collections.defaultdict(lambda: [0, 0.0])
    for b in told:
        for target in b["targets"]:
            if target["name"]:
                load = loads[target["name"], b["node"] % 16]
                load[0] += target["bytes"]
                load[1] += target["busy_seconds"]
    return [(name, size / busy) for (name, _), (size, busy) in loads.items() if busy > 0 and size > 0]


def node_rows(batches):
    rows = {}
    for name in {name_of(b) for b in batches}:
        own = [b for b in batches if name_of(b) == name]
        drained = [b for b in own if b["drain_seconds"] > 0 and b["bytes"] > 0]
        rows[name] = {"name": name, "drains": len(drained), "bytes": sum(b["bytes"] for b in drained),
                      "failures": sum(b["outcome"] == "failed" for b in own), "retries": sum(b["retries"] for b in own),
                      "drain_seconds": math.fsum(b["drain_seconds"] for b in drained),
                      "rate_bytes_per_second": or_none(median([b["bytes"] / b["drain_seconds"] for b in drained])),
                      "blocked_seconds": math.fsum(b["blocked_seconds"] for b in own)}
    return [rows[name] for name in sorted(rows, key=str.encode)]


def target_rows(snapshots):
    rows, rates = {}, collections.defaultdict(list)
    for told in snapshots:
        used = [target for b in told for target in b["targets"] if target["writes"] or target["bytes"]]
        if not used:
            continue
        first = min((target["first_unix_ns"] for target in used if target["first_unix_ns"] > 0), default=0)
        for row in rows.values():
            row["last_write_seconds"] = 0
        for name in {target["name"] for target in used}:
            own = [target for target in used if target["name"] == name]
            size, busy = sum(target["bytes"] for target in own), math.fsum(target["busy_seconds"] for target in own)
            row = rows.setdefault(name, {"name": name, "bytes": 0, "writes": 0, "busy_seconds": 0.0})
            row["bytes"] += size
            row["writes"] += sum(target["writes"] for target in own)
            row["busy_seconds"] += busy
            if busy > 0 and size > 0:
                rates[name].append(size / busy)
            row["last_write_seconds"] = max(0.0, (max(target["last_unix_ns"] for target in own) - first) / 1e9)
    for name, row in rows.items():
        row["rate_bytes_per_second"] = or_none(median(rates[name]))
    return [rows[name] for name in sorted(rows, key=str.encode)]


def spans(batches):
    """(first, last) of all, and the sum over sessions."""
    by_session = collections.defaultdict(list)
    times = []
    for b in batches:
        began = b.get("agent_began_unix_ns", 0)
        own = [b["saved_unix_ns"], began, b["drain_unix_ns"], b["drained_unix_ns"], b["ended_unix_ns"]]
        times += [each for each in own if each > 0]
        by_later_agent = began > b["sealed_unix_ns"]
        by_session[b["session"]] += [each for each in (own[:1] + [b["sealed_unix_ns"]] if by_later_agent else own) if each > 0]
    return min(times), max(times), sum((max(some) - min(some)) / 1e9 for some in by_session.values())


def slowdown_of(batches):
    newest = {}
    for b in batches:
        if b["slowdown_steps"] and (name_of(b) not in newest or b["ended_unix_ns"] >= newest[name_of(b)]["ended_unix_ns"]):
            newest[name_of(b)] = b
    if not newest:
        return None
    nodes = sorted((newest[name] for name in sorted(newest)), key=lambda b: b["slowdown_percent"])
    middle = nodes[(len(nodes) - 1) // 2]
    return {"percent": middle["slowdown_percent"], "low_percent": middle["slowdown_low_percent"],
            "high_percent": middle["slowdown_high_percent"], "steps": middle["slowdown_steps"]}


def summary_of(run, session):
    batches = [b for b in batches_of_run(run) if session in (0, b["session"])]
    groups = collections.defaultdict(list)
    for b in sorted(batches, key=lambda b: b["saved_unix_ns"]):
        groups[b["stream"], b["step"], b["snapshot_id"], b["session"]].append(b)
    snapshots = sorted((told_of(group) for group in groups.values()),
                       key=lambda told: min((b["saved_unix_ns"] for b in told if b["saved_unix_ns"] > 0), default=0))
    rows = [row_of(told) for told in snapshots]
    add_intervals(rows)
    begin, end, seconds = spans(batches)
    drains = [row["drain_seconds"] for row in rows if row["drain_seconds"] > 0]
    blocked = spread([row["blocked_seconds"] for row in rows])
    drained = spread(drains)
    rates = [row["stored_bytes"] / row["drain_seconds"] for row in rows if row["drain_seconds"] > 0 and row["stored_bytes"]]
    slacks = [row["slack"] for row in rows if row["slack"]]
    durable = [row for row in rows if row["outcome"] == "committed"]
    newest = max(durable, key=lambda row: (row["session"], row["durable_unix_ns"]), default=None)
    unkept = collections.defaultdict(lambda: [0, 0.0])
    for b in batches:
        unkept[name_of(b)][0] += b["unkept_saves"]
        unkept[name_of(b)][1] += b["unkept_seconds"]
    unkept_saves, unkept_seconds = (max((node[i] for node in unkept.values()), default=0) for i in (0, 1))
    visible = blocked["sum"] + unkept_seconds
    told = [b for each in snapshots for b in each if b["drained_unix_ns"]]
    count = collections.Counter(row["outcome"] for row in rows)
    slow_targets = slow_ones(list(compared(target_samples(told) for told in snapshots)))
    return {
        "forebay": "summary", "version": 1, "run": str(run), "sessions": sorted({b["session"] for b in batches}),
        "begin_unix_ns": begin, "end_unix_ns": end, "time_seconds": seconds,
        "nodes": max(row["nodes"] for row in rows), "ranks": max(row["ranks"] for row in rows), "snapshots": len(rows),
        "nodes_least": min(row["nodes"] for row in rows if row["nodes"]),
        "ranks_least": min(row["ranks"] for row in rows if row["ranks"]),
        "blocked_parts": {f"{part}_seconds": spread([row["blocked_parts"][f"{part}_seconds"] for row in rows])
                          for part in PARTS},
        "missing_records": sum(row["missing_ranks"] for row in rows),
        "committed": count["committed"], "superseded": count["superseded"], "failed": count["failed"],
        "bytes_saved": sum(row["bytes"] for row in rows), "bytes_drained": sum(b["bytes"] for b in told),
        "bytes_stored": sum(b["stored_bytes"] for b in told), "blocked_seconds": blocked,
        "waited_seconds": spread([row["wait_seconds"] for row in rows if row["wait_seconds"] >= WAIT_SECONDS_MIN]),
        "drained_seconds": drained,
        "durable_seconds": spread([row["durable_seconds"] for row in rows if row["durable_unix_ns"]]),
        "unkept_saves": unkept_saves, "unkept_seconds": unkept_seconds,
        "visible_ratio": visible / seconds if seconds > 0 else None,
        "hidden_ratio": drained["sum"] / (drained["sum"] + visible) if drains else None,
        "slack_median": or_none(median(slacks)), "slack_worst": min(slacks, default=None),
        "jitter": or_none(blocked["p95"] / blocked["median"]),
        "rate_peak_bytes_per_second": max(rates, default=None), "rate_median_bytes_per_second": or_none(median(rates)),
        "slowdown": slowdown_of(batches),
        "newest_durable": newest and {"stream": newest["stream"], "step": newest["step"], "unix_ns": newest["durable_unix_ns"]},
        "retries": sum(b["retries"] for b in batches), "dropped": sum(b["dropped"] for b in batches),
        "snapshot_rows": rows, "node_rows": node_rows(batches), "target_rows": target_rows(snapshots),
        "slow_nodes": slow_ones(list(compared(node_samples(told, slow_targets) for told in snapshots))),
        "slow_targets": slow_targets,
    }


def differences(found, wanted, place=""):
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key in wanted.keys() | found.keys():
            if key not in wanted or key not in found:
                yield f"{place}.{key}: only {'found' if key in found else 'wanted'}"
            else:
                yield from differences(found[key], wanted[key], f"{place}.{key}")
    elif isinstance(wanted, list) and isinstance(found, list):
        if len(wanted) != len(found):
            yield f"{place}: {len(found)} found, {len(wanted)} wanted"
        for number, (each, other) in enumerate(zip(found, wanted)):
            yield from differences(each, other, f"{place}[{number}]")
    elif isinstance(wanted, float) or isinstance(found, float):
        if found is None or wanted is None or not math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-9):
            yield f"{place}: {found} found, {wanted} wanted"
    elif found != wanted:
        yield f"{place}: {found!r} found, {wanted!r} wanted"


def check(run, *arguments, session=0):
    found = json.loads(subprocess.run([BUILD / "bin/forebay", "report", run, "--json", *arguments], check=True,
                                      capture_output=True).stdout)
    if found.pop("problems"):
        yield "something could not be read"
    found.pop("advice")  # sentences: telemetry.summary
    yield from differences(found, summary_of(run, session))


def main():
    problems = []
    with tempfile.TemporaryDirectory(prefix="forebay-report-") as scratch:
        for name, options in RUNS.items():
            run = pathlib.Path(scratch, name).resolve()
            subprocess.run([BUILD / "tests/make_told_run", run, *options], check=True)
            problems += [f"{name}{each}" for each in check(run)]
            if name == "mixed":
                problems += [f"{name}, session 2{each}" for each in check(run, "--session", "2", session=2)]
    print("\n".join(problems) or f"{len(RUNS)} runs, every number as worked out again")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
