"""Goal: what the application counts of its saves the report counts, too: also where a rank that has copied is kept from running,
so that the agent commits the snapshot before the rank has told how long its save took; and where such a rank never goes on.

Method: ranks of a real MPI job, of which one stops itself between its copy and its record, until the snapshot is committed; jobs
of more ranks than processors under each policy. Nothing is timed: counts, and the seconds that the ranks were told, must be equal.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from forebay_test import BUILD, SECONDS_MAX, check_each, expect, forebay, run

PROGRAM = BUILD / "tests" / "late_rank"


def job(place, ranks, *words):
    return subprocess.Popen(["mpiexec", "--oversubscribe", "-n", str(ranks), PROGRAM, place / "run", place, place / "out", *words],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def soon(condition, what):
    end = time.monotonic() + SECONDS_MAX / 4
    while not condition():
        expect(time.monotonic() < end, what)
        time.sleep(0.02)


def told(place, ranks):
    """Of each step that was kept the longest save of any rank, in microseconds; how many were skipped, and how many replaced."""
    longest, skipped, replaced = {}, 0, set()
    for rank in range(ranks):
        for line in (place / f"out.{rank}").read_text().splitlines()[1:]:
            word, step, before, micros = line.split()
            if word == "skipped":
                skipped += rank == 0
                continue
            longest[int(step)] = max(longest.get(int(step), 0), int(micros))
            if int(before) >= 0:
                replaced.add(int(before))
    return longest, skipped, replaced


def process(place, rank):
    return int((place / f"out.{rank}").read_text().split()[1])


def agent(place):
    (log,) = place.glob("forebay-*/*/agent.log")
    return int(re.search(r"agent (\d+) serves", log.read_text())[1])


def is_stopped(pid):
    return open(f"/proc/{pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[0] == "T"


def lives(pid):
    try:
        return open(f"/proc/{pid}/stat", encoding="ascii").read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    soon(lambda: not any(lives(pid) for pid in pids), "what was killed has ended")


def summary_of(place):
    # The agent writes its last words after the application has ended.
    soon(lambda: not list(place.glob("forebay-*/*")), "the agent has ended")
    return json.loads(forebay("report", place / "run", "--json"))


def compare(place, ranks, saves):
    longest, skipped, replaced = told(place, ranks)
    summary = summary_of(place)
    rows = {row["step"]: row for row in summary["snapshot_rows"]}
    expect(len(longest) + skipped == saves, "the application has counted all of its saves", (longest, skipped))
    expect(sorted(rows) == sorted(set(longest) - replaced), "a row for each save that was kept", (sorted(rows), longest, replaced))
    expect(summary["unkept_saves"] == skipped + len(replaced), "what was not kept the policy has not kept",
           (summary["unkept_saves"], skipped, replaced))
    expect(summary["missing_records"] == 0 and summary["dropped"] == 0, "all records have come", summary["missing_records"])
    for step, row in rows.items():
        expect(round(row["blocked_seconds"] * 1e6) == longest[step], f"step {step} took as long as its slowest rank was told",
               (row["blocked_seconds"], longest[step]))
        parts = sum(row["blocked_parts"].values())
        expect(abs(parts - row["blocked_seconds"]) < 1e-9, f"the parts of step {step} add up", row)
    parts = sum(part["sum"] for part in summary["blocked_parts"].values())
    expect(abs(parts - summary["blocked_seconds"]["sum"]) < 1e-6, "and those of all saves", summary["blocked_parts"])
    return summary


def check_a_rank_that_is_late(place):
    ranks, stopped_step = 3, 2
    work = job(place, ranks, "saves=5", "stop_rank=1", f"stop_step={stopped_step}")
    soon((place / "run" / "restart" / f"step-{stopped_step:06}").exists, "the snapshot is committed")
    rank = process(place, 1)
    soon(lambda: is_stopped(rank), "the rank has stopped itself")
    time.sleep(0.2)  # the agent has nothing to do any more
    expect(not (place / "run" / "restart" / f"step-{stopped_step + 1:06}").exists(), "the others wait for it")
    os.kill(rank, signal.SIGCONT)
    expect(work.wait(SECONDS_MAX) == 0, "the job ends")
    summary = compare(place, ranks, 5)
    expect(summary["unkept_saves"] == 0, "the policy keeps all")
    why = [sentence for row in summary["snapshot_rows"] if row["step"] == stopped_step for sentence in row["why"]]
    expect(not any("began to save" in sentence for sentence in why), "nobody is said to have begun late", why)


def check_a_rank_that_never_comes_back(place):
    ranks, stopped_step = 3, 2
    work = job(place, ranks, "saves=5", "stop_rank=1", f"stop_step={stopped_step}")
    soon((place / "run" / "restart" / f"step-{stopped_step:06}").exists, "the snapshot is committed")
    soon(lambda: is_stopped(process(place, 1)), "the rank has stopped itself")
    kill([work.pid, *(process(place, rank) for rank in range(ranks))])
    work.wait()
    summary = summary_of(place)
    missing = {row["step"]: row["missing_ranks"] for row in summary["snapshot_rows"]}
    # The other ranks may have begun the next save. It never ends.
    expect(missing == {1: 0, 2: 1}, "its record counts as missing, in its own save", missing)
    expect(summary["missing_records"] == 1 and summary["unkept_saves"] == 0, "and in no other figure", summary)
    expect("missing: 1 record of saves" in " ".join(forebay("report", place / "run").split()), "the text says it")


def check_counts_of_crowded_ranks(place):
    for policy, ranks, rate in (("wait", 4, 0), ("skip", 4, 8_000_000), ("newest_only", 3, 8_000_000)):
        inside = place / policy
        inside.mkdir()
        work = job(inside, ranks, "saves=25", f"policy={policy}", f"rate={rate}")
        expect(work.wait(SECONDS_MAX) == 0, f"{policy}: the job ends")
        summary = compare(inside, ranks, 25)
        expect(policy == "wait" or summary["unkept_saves"] > 0, f"{policy}: some are not kept", summary["unkept_saves"])


def check_what_was_killed_is_not_running(place):
    ranks = 2
    work = job(place, ranks, "saves=100000", "pause_ms=5")
    soon(lambda: list(place.glob("run/restart/step-*")) and list(place.glob("run/forebay/status-*")), "the run saves")
    top = lambda: json.loads(forebay("top", place / "run", "--json", "--staging", place))
    expect(top()["state"] == "running", "it runs", top()["state"])
    pids = [agent(place), work.pid, *(process(place, rank) for rank in range(ranks))]
    kill(pids)
    work.wait()
    # On a busy machine a killed process holds its lock for a moment.
    listed = lambda: json.loads(forebay("ls", place / "run", "--json", "--staging", place))
    soon(lambda: [one["served"] for one in listed() if one["state"] == "staged"] == [False], "ls knows that nobody serves it")
    now = top()
    expect(now["state"] == "silent" and now["nodes_told"] == 0, "and top knows it as soon", (now["state"], now["nodes_told"]))
    run("rm", "-r", *place.glob("forebay-*"))


if not PROGRAM.exists() or not shutil.which("mpiexec"):
    print("skipped: this build has no MPI")
    sys.exit(77)
check_each("late", [check_a_rank_that_is_late, check_a_rank_that_never_comes_back, check_counts_of_crowded_ranks,
                    check_what_was_killed_is_not_running])
