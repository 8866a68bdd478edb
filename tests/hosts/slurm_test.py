"""Goal: under a real Slurm that kills every process of a step, `forebay job` commits each sealed snapshot, however the job
ends, as far as KillWait permits. Nothing stays in /dev/shm. Without it, snapshots stay, the session prints the line to
write, and `forebay drain all` brings them back.

Method: a cluster of namespaces on this machine (slurm_cluster.py), one job of one node for each row. The simulation saves
faster than its agent drains.
"""


import collections
import re
import tempfile
import time
from pathlib import Path

import slurm_cluster
from forebay_test import BUILD, FOREBAY
from machine import skip

SIMULATION = BUILD / "tests/job_simulation"
MEGABYTES, SLOW = 4, 2_500_000
# How the job ends: the end of the simulation, its steps, and options of sbatch. With many steps, the memory of the node is
# full all the time.
ROWS = {
    "close": ("close", 3, ()),
    "crash": ("crash", 3, ()),
    "scancel": ("wait", 1000, ()),
    "time limit": ("wait", 1000, ("-t", "1")),
}


Result = collections.namedtuple("Result", "sealed committed state output")


def expect(good, what, seen=""):
    if not good:
        raise AssertionError(f"{what}\n{seen}")


def committed(run):
    return len(list((run / "restart").glob("step-*/manifest.json")))


def sealed(output):
    return max((int(step) for step in re.findall(r"saved step (\d+)", output)), default=0)


def submit(cluster, row, with_keeper):
    end, steps, options = ROWS[row]
    run = cluster.folder / f"run-{row.replace(' ', '-')}{'-kept' if with_keeper else ''}"
    simulation = f"srun {SIMULATION} {run} /dev/shm {steps} {MEGABYTES << 20} {SLOW} {end}"
    script = f"export FOREBAY_AGENT={FOREBAY}\n{f'{FOREBAY} job -- ' if with_keeper else ''}{simulation}\necho exit code $?\n"
    return run, cluster.job(script, "-N1", "-n1", *options)


def rows(cluster, with_keeper):
    """All rows at once, a node for each."""
    jobs = {row: submit(cluster, row, with_keeper) for row in ROWS}
    for row, (run, job) in jobs.items():
        if row == "scancel":
            for _ in range(300):
                if "saved step 5" in cluster.output(job):
                    break
                time.sleep(0.2)
            cluster.run("scancel", job)
    result = {}
    for row, (run, job) in jobs.items():
        state = cluster.wait_for(job)
        output = cluster.output(job)
        result[row] = Result(sealed(output), committed(run), state, output)
        print(f"{'with' if with_keeper else 'without'} forebay job, {row}: sealed {result[row].sealed}, committed {result[row].committed}, {state}",
              flush=True)
    return result


def the_table(folder):
    with slurm_cluster.Cluster(folder, len(ROWS)) as cluster:
        plain = rows(cluster, False)
        for row in ("crash", "scancel", "time limit"):
            expect(plain[row].committed < plain[row].sealed, f"without forebay job, {row}: a snapshot stays", plain[row])
            expect("forebay job -- srun" in plain[row].output, f"{row}: the session prints the line to write", plain[row].output)
        expect(cluster.in_memory(), "the memory of the nodes is occupied")
        cluster.run("srun", f"-N{len(ROWS)}", "--ntasks-per-node=1", FOREBAY, "drain", "all")
        expect(not cluster.in_memory(), "drain all frees it", cluster.in_memory())
        kept = rows(cluster, True)
        for row, result in kept.items():
            # A save at the moment of the kill may be sealed without a line.
            expect(result.sealed <= result.committed <= result.sealed + 1, f"with forebay job, {row}: all is committed", result)
            expect("this job step ends" not in result.output, f"{row}: no warning", result.output)
        expect("exit code 139" in kept["crash"].output, "the exit code of the command", kept["crash"].output)
        expect(not cluster.in_memory(), "nothing stays in memory", cluster.in_memory())


def main():
    reason = slurm_cluster.reason_to_skip()
    if reason:
        skip(reason)
    if not SIMULATION.exists():
        skip(f"{SIMULATION} is not built")
    # Not in /dev/shm or /var/tmp: each host has its own.
    with tempfile.TemporaryDirectory(prefix="forebay-slurm-", dir="/tmp") as name:
        the_table(Path(name))


main()
