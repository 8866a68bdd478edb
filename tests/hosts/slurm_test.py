"""Goal: under a real Slurm that kills every process of a step, `forebay job` commits each sealed snapshot, however the job
ends, as far as KillWait permits. Nothing stays in /dev/shm. Without it, snapshots stay, the session prints the line to
write, and `forebay drain all` brings them back.

Method: a cluster of namespaces on this machine (slurm_cluster.py), one job of one node for each end of a job. The
simulation saves faster than its agent drains. At the same time a chain of jobs, a crash on two nodes under MPI and a
heterogeneous job.
"""

import collections
import re
import tempfile
import time
from pathlib import Path

import slurm_cluster
from forebay_test import BUILD, FOREBAY
from machine import skip
from slurm_ways import MPI, committed, expect, sealed

SIMULATION = BUILD / "tests/job_simulation"
OF_RANKS = BUILD / "tests/job_simulation_mpi"
MEGABYTES = 4
# Bytes a second. KillWait is enough for two snapshots at 2.5 MB/s: each takes 1.7 s. Without forebay job the agent is
# slower, because on a busy machine a killed step ends late.
SLOW, SLOWEST = 2_500_000, 400_000
# How the job ends: the end of the simulation, and its steps. With many steps, the memory of the node is full all the time.
ROWS = {"close": ("close", 3), "crash": ("crash", 3), "out of memory": ("hog", 3), "scancel": ("wait", 1000), "time limit": ("wait", 1000)}
# Each job of the table has a host of its own. The last two hosts are for the chain and the job of two nodes.
HOSTS = 2 * len(ROWS) + 2
LAST = f"--nodelist=n[{HOSTS - 2}-{HOSTS - 1}]"
JOBS = [(row, kept) for row in ROWS for kept in (False, True)]
Result = collections.namedtuple("Result", "sealed committed state output")


def submit(cluster, row, with_keeper, host):
    end, steps = ROWS[row]
    rate = SLOW if with_keeper else SLOWEST
    run = cluster.folder / f"run-{row.replace(' ', '-')}-{'kept' if with_keeper else 'bare'}"
    simulation = f"srun {SIMULATION} {run} /dev/shm {steps} {MEGABYTES << 20} {rate} {end}"
    script = f"export FOREBAY_AGENT={FOREBAY}\n{f'{FOREBAY} job -- ' if with_keeper else ''}{simulation}\necho exit code $?\n"
    return run, cluster.job(script, "-N1", "-n1", "--exclusive", "-t", "5", f"--nodelist={host}")


def result_of(cluster, run, job, what):
    state, output = cluster.wait_for(job), cluster.output(job)
    result = Result(sealed(output), committed(run), state, output)
    print(f"{what}: sealed {result.sealed}, committed {result.committed}, {state}", flush=True)
    return result


def begin_table(cluster):
    """Submits all jobs. Two of them are cancelled, and two reach their limit soon."""
    jobs = {key: submit(cluster, *key, f"n{number}") for number, key in enumerate(JOBS)}
    for row in ("time limit", "scancel"):
        for kept in (False, True):
            _, job = jobs[row, kept]
            for _ in range(300):
                if "saved step 3" in cluster.output(job):
                    break
                time.sleep(0.2)
            # Slurm looks at limits twice a minute.
            words = ("scancel", job) if row == "scancel" else ("scontrol", "update", f"JobId={job}", "EndTime=now+2")
            cluster.run(*words)
    return jobs


def end_table(cluster, jobs):
    for (row, kept), (run, job) in jobs.items():
        result = result_of(cluster, run, job, f"{'with' if kept else 'without'} forebay job, {row}")
        left = cluster.in_memory(run)
        if kept:
            # A save at the moment of the kill may be sealed without a line.
            expect(result.sealed <= result.committed <= result.sealed + 1, "all is committed", result)
            expect("this job step ends" not in result.output, "no warning", result.output)
            expect(not left, "nothing stays in memory", left)
        else:
            expect("forebay job -- srun" in result.output, "the session prints the line to write", result.output)
            expect(row == "close" or (result.committed < result.sealed and left), "snapshots stay in memory", (result, left))
        if row == "crash":
            expect("exit code 139" in result.output, "the exit code of the command", result.output)
        if row == "time limit":
            expect(result.state == "TIMEOUT", "its limit ends the job", result)
    cluster.run("srun", f"-N{HOSTS}", "--ntasks-per-node=1", FOREBAY, "drain", "all")
    expect(not cluster.in_memory(), "drain all frees the rest", cluster.in_memory())


def two_nodes(cluster):
    """Each snapshot has a part on each node. All ranks crash."""
    if not OF_RANKS.exists():
        return
    for with_keeper in (False, True):
        run = cluster.folder / f"run-two-{with_keeper}"
        command = f"srun --mpi=pmix {OF_RANKS} {run} /dev/shm 3 {2 * MEGABYTES << 20} {SLOWEST} crash"
        job = cluster.job(f"{MPI}export FOREBAY_AGENT={FOREBAY}\n{f'{FOREBAY} job -- ' if with_keeper else ''}{command}\n", "-N2", "-n2", LAST)
        result = result_of(cluster, run, job, f"{'with' if with_keeper else 'without'} forebay job, a crash on two nodes")
        expect(result.sealed == 3 and (result.committed == 3) == with_keeper, "a crash on two nodes", result)
        if with_keeper:
            expect(not cluster.in_memory(run), "nothing stays in memory", cluster.in_memory(run))
        else:
            cluster.run("srun", "-N2", LAST, "--ntasks-per-node=1", FOREBAY, "drain", "all")


def two_parts(cluster):
    """A heterogeneous job: keepers are on the nodes of both parts."""
    run = cluster.folder / "run-parts"
    simulation = f"srun --het-group=1 {SIMULATION} {run} /dev/shm 3 {MEGABYTES << 20} {SLOW} crash"
    job = cluster.job(f"export FOREBAY_AGENT={FOREBAY}\n{FOREBAY} job -- {simulation}\n", "-N1", "-n1", f"--nodelist=n{HOSTS - 2}", ":", "-N1", "-n1",
                      f"--nodelist=n{HOSTS - 1}")
    result = result_of(cluster, run, job, "with forebay job, a crash in the second part of a heterogeneous job")
    expect(result.sealed == 3 == result.committed and "no keeper" not in result.output, "all is committed", result)
    expect(not cluster.in_memory(run), "nothing stays in memory", cluster.in_memory(run))


def a_chain(cluster):
    """Five jobs. The third one fails at its start. Options of the first command line are kept."""
    run, count = cluster.folder / "run-chain", cluster.folder / "chain-count"
    part = cluster.folder / "part.sh"
    part.write_text(f"""#!/bin/bash
number=$(($(cat {count} 2>/dev/null || echo 0) + 1))
echo $number > {count}
[ $number = 3 ] && exit 9
srun -N1 -n1 {SIMULATION} {run} /dev/shm 1 8000 0 close || exit
[ $number = 5 ] || touch {run}/.continue
""")
    part.chmod(0o755)
    script = f"export FOREBAY_AGENT={FOREBAY}\n{FOREBAY} job --chain --run {run} --chain-limit 1 -- {part}\n"
    job = int(cluster.job(script, "-N2", "-n2", LAST, "--job-name=a chain", "--mem-per-cpu=300", "-t", "3"))
    outputs = []
    while len(outputs) < 5:
        expect(cluster.wait_for(str(job)) in ("COMPLETED", "FAILED"), f"job {job} of the chain", cluster.output(job))
        shown = cluster.run("scontrol", "show", "job", job).stdout
        for option in ("JobName=a chain\n", "NumNodes=2", "NumTasks=2", "MinMemoryCPU=300M", "TimeLimit=00:03:00"):
            expect(option in shown, f"job {job} keeps {option}", shown)
        outputs.append(cluster.output(job))
        following = re.search(r"the next job of the chain is job (\d+)", outputs[-1])
        expect(bool(following) == (len(outputs) < 5), "five jobs", outputs)
        job = int(following.group(1)) if following else job
    expect("the chain ends" in outputs[-1], "it says so", outputs[-1])
    expect(sorted(path.parent.name[-1] for path in (run / "restart").glob("step-*/manifest.json")) == list("1234"), "the steps of four jobs", outputs)
    print("a chain of five jobs: the third one fails at its start, no storm, no lost option", flush=True)


def main():
    reason = slurm_cluster.reason_to_skip()
    if reason:
        skip(reason)
    if not SIMULATION.exists():
        skip(f"{SIMULATION} is not built")
    # Not in /dev/shm or /var/tmp: each host has its own.
    with tempfile.TemporaryDirectory(prefix="forebay-slurm-", dir="/tmp") as name:
        with slurm_cluster.Cluster(Path(name), HOSTS) as cluster:
            jobs = begin_table(cluster)
            # Meanwhile Slurm finds that two jobs of the table reach their limit.
            for check in (a_chain, two_nodes, two_parts):
                check(cluster)
            end_table(cluster, jobs)


main()
