"""Goal: under a real Slurm that kills every process of a step, `forebay job` commits each sealed snapshot, however the job
ends, as far as KillWait permits. Nothing stays in /dev/shm. Without it, snapshots stay, the session prints the line to
write, and `forebay drain all` brings them back.

Method: a cluster of namespaces on this machine (slurm_cluster.py), one job of one node for each end of a
job. The simulation saves faster than its agent drains. Then a crash on two nodes under MPI, and a chain of jobs.
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
OF_RANKS = BUILD / "tests/job_simulation_mpi"
MPI = """export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=10.93.0.0/24
export OMPI_MCA_oob_tcp_if_include=10.93.0.0/24 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
"""
MEGABYTES = 4
# Bytes a second. KillWait is enough for two snapshots at 2.5 MB/s: each takes 1.7 s. Without forebay job the agent is
# slower, because on a busy machine a killed step ends late.
SLOW, SLOWEST = 2_500_000, 400_000
# How the job ends: the end of the simulation, its steps, and options of sbatch. With many steps, the memory of the node is
# full all the time.
ROWS = {
    "close": ("close", 3, ()),
    "crash": ("crash", 3, ()),
    "out of memory": ("hog", 3, ()),
    "scancel": ("wait", 1000, ()),
    "time limit": ("wait", 1000, ("-t", "1")),
}
HOSTS = 2 * len(ROWS)
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
    rate = SLOW if with_keeper else SLOWEST
    run = cluster.folder / f"run-{row.replace(' ', '-')}{'-kept' if with_keeper else ''}"
    simulation = f"srun {SIMULATION} {run} /dev/shm {steps} {MEGABYTES << 20} {rate} {end}"
    script = f"export FOREBAY_AGENT={FOREBAY}\necho on $(hostname).\n{f'{FOREBAY} job -- ' if with_keeper else ''}{simulation}\necho exit code $?\n"
    return run, cluster.job(script, "-N1", "-n1", "--exclusive", *options)


def result_of(cluster, run, job, what):
    state, output = cluster.wait_for(job), cluster.output(job)
    result = Result(sealed(output), committed(run), state, output)
    print(f"{what}: sealed {result.sealed}, committed {result.committed}, {state}", flush=True)
    return result


def the_table(cluster):
    """All jobs at once, a node for each."""
    jobs = {(row, kept): submit(cluster, row, kept) for row in ROWS for kept in (False, True)}
    for kept in (False, True):
        _, job = jobs["scancel", kept]
        for _ in range(300):
            if "saved step 3" in cluster.output(job):
                break
            time.sleep(0.2)
        cluster.run("scancel", job)
    for (row, kept), (run, job) in jobs.items():
        result = result_of(cluster, run, job, f"{'with' if kept else 'without'} forebay job, {row}")
        on_node = re.search(r"on (\w+)\.", result.output).group(1) in cluster.in_memory()
        if kept:
            # A save at the moment of the kill may be sealed without a line.
            expect(result.sealed <= result.committed <= result.sealed + 1, "all is committed", result)
            expect("this job step ends" not in result.output, "no warning", result.output)
            expect(not on_node, "nothing stays in memory", cluster.in_memory())
        else:
            expect("forebay job -- srun" in result.output, "the session prints the line to write", result.output)
            expect(row == "close" or (result.committed < result.sealed and on_node), "snapshots stay in memory", result)
        if row == "crash":
            expect("exit code 139" in result.output, "the exit code of the command", result.output)
    cluster.run("srun", f"-N{HOSTS}", "--ntasks-per-node=1", FOREBAY, "drain", "all")
    expect(not cluster.in_memory(), "drain all frees the rest", cluster.in_memory())


def two_nodes(cluster):
    """Each snapshot has a part on each node. All ranks crash."""
    if not OF_RANKS.exists():
        return
    for with_keeper in (False, True):
        run = cluster.folder / f"run-two-{with_keeper}"
        command = f"srun --mpi=pmix {OF_RANKS} {run} /dev/shm 3 {MEGABYTES << 20} {SLOWEST} crash"
        job = cluster.job(f"{MPI}export FOREBAY_AGENT={FOREBAY}\n{f'{FOREBAY} job -- ' if with_keeper else ''}{command}\n", "-N2", "-n2")
        result = result_of(cluster, run, job, f"{'with' if with_keeper else 'without'} forebay job, a crash on two nodes")
        expect(result.sealed == 3 and (result.committed == 3) == with_keeper, "a crash on two nodes", result)
        if with_keeper:
            expect(not cluster.in_memory(), "nothing stays in memory", cluster.in_memory())
        else:
            cluster.run("srun", f"-N{HOSTS}", "--ntasks-per-node=1", FOREBAY, "drain", "all")


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
    job = int(cluster.job(script, "-N2", "-n2", "--job-name=a chain", "--mem-per-cpu=300", "-t", "3"))
    for number in range(job, job + 5):
        expect(cluster.wait_for(str(number)) in ("COMPLETED", "FAILED"), f"job {number} of the chain", cluster.output(number))
        shown = cluster.run("scontrol", "show", "job", number).stdout
        for option in ("JobName=a chain\n", "NumNodes=2", "NumTasks=2", "MinMemoryCPU=300M", "TimeLimit=00:03:00"):
            expect(option in shown, f"job {number} keeps {option}", shown)
    time.sleep(3)
    expect(cluster.run("scontrol", "show", "job", job + 5, check=False).returncode != 0, "the chain ends", cluster.output(job + 4))
    expect("the chain ends" in cluster.output(job + 4), "it says so", cluster.output(job + 4))
    expect(sorted(path.parent.name[-1] for path in (run / "restart").glob("step-*/manifest.json")) == list("1234"), "the steps of four jobs", cluster.output(job))
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
            for check in (a_chain, two_nodes, the_table):
                check(cluster)


main()
