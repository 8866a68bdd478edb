"""Figures, goals and the table of bench/jitter. A ratio is larger where Forebay is better; its goal is the least. Ratios are
of medians, but for the jitter, which is of the extremes and feels all that else runs on the machine."""

import statistics

from ways import FOREBAY_WAYS, WAYS


def at(samples, share):
    """A quantile, between the two samples next to it."""
    ordered = sorted(samples)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def figures(runs):
    """Of all iterations of all ranks of one way at one rate, over its runs."""
    rows = [row for run in runs for row in run["records"]]
    seconds, blocked = [row["seconds"] for row in rows], [row["blocked_seconds"] for row in rows]
    found = {"seconds": seconds, "blocked": blocked, "mean": statistics.fmean(seconds), "p95": at(seconds, 0.95),
             "max": max(seconds), "spread": max(seconds) - min(seconds), "median": at(seconds, 0.5),
             "blocked_mean": statistics.fmean(blocked), "blocked_median": at(blocked, 0.5), "blocked_max": max(blocked),
             "ranks": runs[0]["ranks"]}
    if any(run["watch"].samples for run in runs):
        cpu, lasted = (sum(parts) for parts in zip(*(run["watch"].cpu_seconds() for run in runs)))
        found |= {"agent_cpu": cpu / sum(run["told"] for run in runs), "agent_share": cpu / lasted}
    return found


def step_seconds(given, ranks, rate):
    """What a step takes at least where output and computing overlap fully."""
    return max(given.compute, ranks * 4 * given.mib_per_variable * 2**20 / (rate * 1e6))


def slow(given, run, rate):
    """Total time against the steps at their least; before the first drain there is one step to compute."""
    steps = len({row["step"] for row in run["records"]})
    ideal = steps * step_seconds(given, run["ranks"], rate)
    return {"total": run["ended"], "ideal": ideal, "overlapped": ideal + given.compute}


def goals(given, found, runs, idle):
    """Name: ratio, goal, what it says."""
    rate, slow_rate = given.rates
    fast, result = {way: found[rate, way] for way in WAYS}, {}
    for way in FOREBAY_WAYS:
        one = fast[way]
        result[f"{way}_blocked"] = (fast["each"]["blocked_median"] / one["blocked_median"], 40,
                                    "blocked by a file a process / blocked by Forebay")
        result[f"{way}_iteration"] = (fast["none"]["median"] / one["median"], 1 / 1.02, "iteration without output / with it")
        result[f"{way}_jitter"] = (fast["none"]["spread"] / one["spread"], 0.5,
                                   "max - min of iterations without output / with it")
        total = slow(given, runs[slow_rate, way][0], slow_rate)
        result[f"{way}_slow"] = (total["overlapped"] / total["total"], 1 / 1.05,
                                 "storage slower than computing: a step's computing + every step's drain / total time")
        result[f"{way}_idle"] = (min(0.02 / max(idle[way], 1e-6), 1e3), 1, "2 % of a core / what an idle agent takes")
        all_runs = runs[rate, way] + runs[slow_rate, way]
        result[f"{way}_stored"] = (sum(run["stored"] for run in all_runs) / sum(run["told"] for run in all_runs), 1,
                                   "steps at the target / steps told to be kept")
    return result


def measured(found, runs, idle, given):
    """Every figure by its name, as bench/run writes them; a figure without samples of its own stands alone."""
    result = {}

    def alone(name, unit, value):
        result[name] = {"unit": unit, "median": value, "lower_quartile": value, "upper_quartile": value}

    for (rate, way), one in found.items():
        for name in ("seconds", "blocked"):
            result[f"{rate}_{way}_{name}"] = {"unit": "s", **{key: at(one[name], share) for key, share in [
                ("median", 0.5), ("lower_quartile", 0.25), ("upper_quartile", 0.75)]}}
        for name in ("mean", "p95", "max", "spread", "blocked_mean", "blocked_max"):
            alone(f"{rate}_{way}_{name}", "s", one[name])
        if "agent_cpu" in one:
            alone(f"{rate}_{way}_agent_cpu_a_step", "s", one["agent_cpu"])
            alone(f"{rate}_{way}_agent_share", "of a core", one["agent_share"])
    all_runs = [run for of_way in runs.values() for run in of_way]
    alone("others", "of all cores, before a run", statistics.fmean(run["busy"] for run in all_runs))
    for way in FOREBAY_WAYS:
        alone(f"{way}_idle_share", "of a core", idle[way])
        for name, value in slow(given, runs[given.rates[1], way][0], given.rates[1]).items():
            alone(f"{given.rates[1]}_{way}_{name}", "s", value)
    return result


def table(given, found, runs, idle, reached):
    """For people."""
    lines = []
    for rate in given.rates:
        lines += ["", f"storage of {rate} MB/s; {given.compute} s asleep an iteration; s, of all ranks and iterations",
                  f"{'':28}{'ranks':>6}{'mean':>8}{'p95':>8}{'max':>8}{'max-min':>9}{'blocked':>9}{'max':>9}"
                  f"{'agent CPU/step':>16}"]
        for way, what in WAYS.items():
            one = found[rate, way]
            lines.append(f"{what:28}{one['ranks']:6}{one['mean']:8.3f}{one['p95']:8.3f}{one['max']:8.3f}{one['spread']:9.3f}"
                         f"{one['blocked_mean']:9.4f}{one['blocked_max']:9.4f}"
                         + (f"{one['agent_cpu']:16.3f}" if "agent_cpu" in one else ""))
    lines.append("")
    for way in FOREBAY_WAYS:
        total = slow(given, runs[given.rates[1], way][0], given.rates[1])
        lines.append(f"{WAYS[way]}: at {given.rates[1]} MB/s {total['total']:.2f} s in all, the drains alone "
                     f"{total['ideal']:.2f} s; "
                     f"idle {100 * idle[way]:.2f} % of a core")
    lines.append("")
    for name, (ratio, goal, what) in reached.items():
        lines.append(f"{'pass' if ratio >= goal else 'MISS'}  {name:20}{ratio:9.3f}  goal {goal:6.3f}  {what}")
    return "\n".join(lines)
