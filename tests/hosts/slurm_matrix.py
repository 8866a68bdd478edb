"""Goal: each end of a job under a real Slurm, with and without `forebay job`. With it, each sealed snapshot is committed as
far as KillWait permits, and nothing stays in /dev/shm. Without it, `forebay ls` names each snapshot that is left. The next
job begins after the newest sealed snapshot, on the same hosts and on other hosts. If a host is lost, it begins after the
newest committed snapshot.

Method: a cluster of namespaces on this machine (slurm_cluster.py). A simulation of one rank a host saves faster than its
agents drain. Each end is tried on two sets of hosts at once. Prints a table.
"""

import collections
import concurrent.futures
import json
import os
import re
import tempfile
import threading
import time
from pathlib import Path

import slurm_cluster
from forebay_test import BUILD, FOREBAY
from machine import skip
from slurm_ways import MPI, committed, expect, sealed

SIMULATION = BUILD / "tests/job_simulation_mpi"
BYTES = 4 << 20  # of a host
SLOW, SLOWEST = 2_500_000, 400_000  # bytes a second, with and without forebay job
MANY = 1000  # steps: more than the time of a job
# The first set is for jobs without forebay job, the second set for jobs with it. The third set has the "other hosts".
SETS = (("n0", "n1", "n2"), ("n3", "n4", "n5"), ("n6", "n7"))
HOSTS = sum(len(hosts) for hosts in SETS)
Line = collections.namedtuple("Line", "end way sealed committed named left same other")
LINES, OTHERS = [], threading.Lock()


class Way:
    def __init__(self, cluster, end, kept):
        self.cluster, self.kept, self.end = cluster, kept, end
        self.name = "with" if kept else "without"
        self.run = cluster.folder / f"run-{re.sub('[^a-z]+', '-', end.name.lower())}-{self.name}-x"
        self.hosts = SETS[kept][:end.hosts]
        self.rate = end.rate or (SLOW if kept else SLOWEST)

    def script(self, steps, ending, launcher, kept=True):
        simulation = f"{launcher} {SIMULATION} {self.run} /dev/shm {steps} {BYTES * self.end.hosts} {self.rate} {ending}"
        return f"{MPI}export FOREBAY_AGENT={FOREBAY}\n{self.wrapped(simulation) if kept else simulation}\n"

    def wrapped(self, command):
        return f"exec {FOREBAY} job -- {command}" if self.kept else command

    def submit(self, script, hosts, *options):
        return self.cluster.job(script, f"-N{len(hosts)}", f"-n{len(hosts)}", "--exclusive", "--open-mode=append", f"--nodelist={','.join(hosts)}", *options)

    def until(self, job, text, seconds=120):
        for _ in range(seconds * 10):
            if text in self.cluster.output(job):
                return
            time.sleep(0.1)
        raise AssertionError(f"{self.end.name}: {text} does not come\n{self.cluster.output(job)}")

    def next_job(self, hosts):
        """The step after which a short job begins."""
        job = self.submit(self.script(1, "close", "srun --mpi=pmix"), hosts, "-t", "5")
        state, output = self.cluster.wait_for(job), self.cluster.output(job)
        expect(state == "COMPLETED" and "begins after step" in output, f"{self.end.name} {self.name}: the next job", output)
        return int(re.search(r"begins after step (-?\d+)", output).group(1)), output

    def named(self):
        """The steps that ls names as sealed. The status of a killed agent counts as old after some seconds."""
        time.sleep(6)
        done = self.cluster.run(FOREBAY, "ls", self.run, "--json", check=False)
        return sorted(entry["step"] for entry in json.loads(done.stdout) if entry["state"] == "sealed")


class End:
    """An end of a job: how the simulation ends, and what the test does to the job."""

    def __init__(self, name, ending, steps=4, do=None, rate=0, hosts=2, options=(), launcher="srun --mpi=pmix", states=(), lost=False, script=None):
        self.name, self.ending, self.steps, self.do, self.rate, self.hosts = name, ending, steps, do, rate, hosts
        self.options, self.launcher, self.states, self.lost, self.make_script = options, launcher, states, lost, script


def after_four_steps(way, job):
    way.until(job, "saved step 4")
    time.sleep(1.5)  # an agent writes its status each second


def scancel(way, job):
    after_four_steps(way, job)
    way.cluster.run("scancel", job)


def limit(way, job):
    after_four_steps(way, job)
    way.cluster.run("scontrol", "update", f"JobId={job}", "EndTime=now+2")


def requeue(way, job):
    after_four_steps(way, job)
    way.cluster.run("scontrol", "requeue", job)
    way.until(job, "begins again", 400)  # Slurm holds the job for two minutes


def power_off(way, job):
    after_four_steps(way, job)
    way.cluster.power_off(way.hosts[-1])


def power_off_when_committed(way, job):
    way.until(job, "saved step 3")
    for _ in range(600):
        if committed(way.run) == 3:
            break
        time.sleep(0.1)
    way.cluster.power_off(way.hosts[-1])


def twice(way):
    """After a requeue the same script does one step."""
    first, again = (way.script(steps, ending, "srun --mpi=pmix", kept=False).splitlines()[-1] for steps, ending in ((MANY, "wait"), (1, "close")))
    return (f"{MPI}export FOREBAY_AGENT={FOREBAY}\n[ -z \"$SLURM_RESTART_COUNT\" ] || {{ echo begins again; {way.wrapped(again)}; exit; }}\n"
            f"{way.wrapped(first)}\n")


def on_the_rest(way):
    """A second step of the same job, on the hosts that live."""
    first, again = (way.script(steps, ending, launcher, kept=False).splitlines()[-1]
                    for steps, ending, launcher in ((MANY, "wait", "srun --mpi=pmix"), (1, "close", "srun --mpi=pmix -N2 -n2")))
    both = way.cluster.folder / f"both-{way.name}.sh"
    both.write_text(f"#!/bin/bash\n{first}\necho on the rest\nsleep 3\n{again}\n")
    both.chmod(0o755)
    return f"{MPI}export FOREBAY_AGENT={FOREBAY}\n{way.wrapped(str(both))}\n"


MPIEXEC = "mpiexec --map-by ppr:1:node"
ENDS = (
    End("close()", "close"),
    End("exit without close()", "leave"),
    End("crash of all ranks", "crash"),
    End("crash under mpiexec", "crash", launcher=MPIEXEC),
    End("scancel", "wait", MANY, scancel),
    End("scancel under mpiexec", "wait", MANY, scancel, launcher=MPIEXEC),
    End("time limit without job()", "wait", MANY, limit, states=("TIMEOUT",)),
    End("time limit with job()", "job", MANY, options=("-t", "1"), states=("COMPLETED",)),
    End("SIGTERM caught", "job", MANY, scancel, rate=20_000_000),
    End("SIGTERM caught and a slow drain", "job", MANY, scancel),
    End("OOM of a rank", "hog", launcher="srun --mpi=pmix --kill-on-bad-exit=1"),
    End("requeue", "wait", MANY, requeue, states=("COMPLETED",), script=twice),
    End("power-off", "wait", MANY, power_off, hosts=3, options=("--no-requeue",), lost=True),
    End("power-off with --no-kill", "wait", MANY, power_off, hosts=3, options=("--no-requeue", "--no-kill"), lost=True, script=on_the_rest),
    End("power-off after the commits", "wait", 3, power_off_when_committed, hosts=3, options=("--no-requeue",), rate=20_000_000),
)


def run_end(cluster, end, kept):
    way = Way(cluster, end, kept)
    script = end.make_script(way) if end.make_script else way.script(end.steps, end.ending, end.launcher)
    job = way.submit(script, way.hosts, *(end.options if "-t" in end.options else ("-t", "10", *end.options)))
    if end.do:
        end.do(way, job)
    state, output = cluster.wait_for(job, 400), cluster.output(job)
    what = f"{end.name} {way.name} forebay job"
    begins = [int(step) for step in re.findall(r"begins after step (-?\d+)", output)]
    again = "begins again" if "begins again" in output else "on the rest" if "on the rest" in output else ""
    last = sealed(output.split(again)[0] if again else output)
    have, left = committed(way.run), cluster.in_memory(way.run)
    named = way.named()
    expect(not end.states or state in end.states, f"{what}: it ends as {state}", output)
    # The next job on the hosts that live.
    same, other = begins[1] if again else None, None
    hosts = [host for host in way.hosts if host in cluster.processes]
    if same is None:
        same, _ = way.next_job(hosts)
    with OTHERS:
        other, _ = way.next_job(SETS[2])
    line = Line(end.name, way.name, last, have, named, {host: len(files) for host, files in left.items()}, same, other)
    LINES.append(line)
    print(line, flush=True)
    still = cluster.in_memory(way.run)
    expect(not still, f"{what}: the next job frees the memory", (line, still))
    missing = [step for step in range(have + 1, last + 1)] if not again else []
    if end.lost:
        expect(same >= have or again, f"{what}: the next job begins after what is committed", (line, output))
        expect(again or set(missing) <= set(named), f"{what}: what is left is named", (line, output))
        return
    expect(same >= last, f"{what}: the next job begins after the newest sealed snapshot", (line, output))
    if kept:
        expect(not missing and not left, f"{what}: all is committed, and nothing stays", (line, output))
    else:
        expect(not missing or set(missing) <= set(named), f"{what}: what is left is named", (line, output))


def cost_of_keepers(cluster):
    """Memory, CPU time and start of the keepers of five hosts, of which nothing is asked."""
    hosts, seconds = cluster.names[1:6], 10
    script = f"date +%s.%N\n{FOREBAY} job -- sh -c 'date +%s.%N; sleep {seconds}'\n"
    job = cluster.job(script, "-N5", "-n5", "--exclusive", f"--nodelist={','.join(hosts)}", "-t", "5")
    for _ in range(600):
        if len(cluster.output(job).split()) == 2:
            break
        time.sleep(0.1)
    begin, ready = (float(word) for word in cluster.output(job).split())
    time.sleep(seconds * 0.8)
    memory, cpu = [], []
    for host in hosts:
        process = cluster.run("pgrep", "-f", f"^{FOREBAY} job --keeper", host=host).stdout.split()[0]
        status = cluster.run("cat", f"/proc/{process}/status", host=host).stdout
        times = cluster.run("cat", f"/proc/{process}/stat", host=host).stdout.rsplit(")", 1)[1].split()
        memory.append(sum(int(re.search(rf"{name}:\s+(\d+)", status).group(1)) for name in ("RssAnon", "RssShmem")) / 1000)
        cpu.append((int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK") / (seconds * 0.8))
    cluster.wait_for(job)
    print(f"keepers of 5 hosts: ready after {ready - begin:.1f} s, at most {max(memory):.1f} MB of memory and {max(cpu):.2%} of a CPU each", flush=True)
    expect(max(memory) < 20 and max(cpu) < 0.05, "a keeper costs little", (memory, cpu))


def main():
    reason = slurm_cluster.reason_to_skip()
    if reason:
        skip(reason)
    if not SIMULATION.exists():
        skip(f"{SIMULATION} is not built")
    wanted = os.environ.get("FOREBAY_SLURM_ENDS", "")
    with tempfile.TemporaryDirectory(prefix="forebay-slurm-", dir="/tmp") as name:
        with slurm_cluster.Cluster(Path(name), HOSTS) as cluster, concurrent.futures.ThreadPoolExecutor(2) as pool:
            failed = []
            if not wanted:
                cost_of_keepers(cluster)
            for end in ENDS:
                if not re.search(wanted, end.name):
                    continue
                for future in [pool.submit(run_end, cluster, end, kept) for kept in (False, True)]:
                    if error := future.exception():
                        failed.append(error)
                        print(f"FAILED: {error}", flush=True)
                for host in cluster.names[1:]:
                    if host not in cluster.processes:
                        cluster.power_on(host)
                cluster.wait_for_idle()
    print(f"\n{'end':35}{'way':9}sealed  committed  named            left                next: same  other")
    for line in LINES:
        print(f"{line.end:35}{line.way:9}{line.sealed:6}{line.committed:11}  {str(line.named):16} {str(line.left):22}{line.same:7}{line.other:7}")
    expect(not failed, f"{len(failed)} ends", failed)


main()
