"""Goal: `forebay job --chain` submits a successor with the options of the first job, and only if the job made progress. A
successor that fails at its start ends the chain. Nothing is submitted if the simulation is done or the job was cancelled.

Method: stand-ins for Slurm's commands. sbatch only writes down what it was given, and the test runs each submitted job.
"""

import json
import signal
import subprocess
import time

import fake_slurm
import forebay_test as test

SIMULATION = test.BUILD / "tests/job_simulation"
SHOWN = """JobId=77 JobName=a long run
   UserId=ann(1000) GroupId=ann(1000) MCS_label=N/A
   Priority=4294901756 Nice=0 Account=astro QOS=normal
   JobState=RUNNING Reason=None Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0
   RunTime=00:00:03 TimeLimit=1-00:02:00 TimeMin=N/A
   Partition=main AllocNode:Sid=head:1
   ReqNodeList=(null) ExcNodeList=n4
   NodeList=n[0-1]
   NumNodes=2 NumCPUs=4 NumTasks=2 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
   Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=*
   MinCPUsNode=1 MinMemoryCPU=700M MinTmpDiskNode=0
   Features=(null) DelayBoot=00:00:00
   OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null)
   Command=/home/ann/chain.sh first
   WorkDir=/home/ann/runs
   StdErr=/home/ann/runs/out-77.txt
   StdIn=/dev/null
   StdOut=/home/ann/runs/out-77.txt
   Power=
"""
OPTIONS = ["--job-name=a long run", "--partition=main", "--account=astro", "--qos=normal", "--exclude=n4", "--mem-per-cpu=700M",
           "--nodes=2", "--ntasks=2", "--time=1-00:02:00", "--output=/home/ann/runs/out-%j.txt", "--chdir=/home/ann/runs"]


class Chain:
    def __init__(self, folder):
        self.run, self.staging, self.bin = folder / "run7", folder / "node", folder / "bin"
        self.staging.mkdir()
        self.bin.mkdir()
        self.environment = fake_slurm.commands(self.bin) | {"SLURM_NTASKS": "2"}
        (self.bin / "job.txt").write_text(SHOWN)

    def submitted(self):
        log = self.bin / "sbatch.log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def words(self, script, *options):
        return [str(word) for word in (test.FOREBAY, "job", "--staging", self.staging, "--chain", "--run", self.run, *options, "--", "sh", "-c", script)]

    def job(self, script, *options, number=77, code=0, **more):
        return test.run(*self.words(script, *options), code=code, env=self.environment | {"SLURM_JOB_ID": str(number)} | more)

    def steps(self, count=1, after=""):
        """A job that makes progress and is ended by its time limit."""
        return f"srun {SIMULATION} {self.run} {self.staging} {count} 8000 0 close && touch {self.run}/.continue{after}"


def options_are_kept(folder):
    chain = Chain(folder)
    done = chain.job(chain.steps(), "--sbatch=--signal=USR1@300", FOREBAY_RESTART="none")
    sent = chain.submitted()
    test.expect(len(sent) == 1 and "job 78" in done.stderr, "a successor", (sent, done.stderr))
    words = sent[0]["arguments"]
    for option in (*OPTIONS, "--signal=USR1@300"):
        test.expect(option in words, f"{option} is kept", words)
    test.expect(words[-2:] == ["/home/ann/chain.sh", "first"] and sent[0]["restart"] is None, "the script and its arguments", sent)
    test.expect(not any(word.startswith("--error") for word in words), "no option is invented", words)


def five_jobs(folder):
    """The third job fails at its start: no storm."""
    chain = Chain(folder)
    number, scripts = 77, [chain.steps(), chain.steps(), "exit 9", chain.steps(), f"srun {SIMULATION} {chain.run} {chain.staging} 1 8000 0 close"]
    for index, script in enumerate(scripts):
        before = len(chain.submitted())
        done = chain.job(script, number=number, code=9 if script == "exit 9" else 0)
        after = len(chain.submitted())
        wanted = 1 if index in (0, 1, 3) else 0
        test.expect(after - before == wanted, f"job {index + 1} of the chain", done.stderr)
        number = 77 + after if wanted else 500 + index  # a person submits again
    test.expect("no newer step" in chain.job("exit 9", number=number, code=9).stderr, "the reason")
    test.expect(not (chain.run / ".chain").exists(), "no mark is left")


def a_limit(folder):
    """Two jobs in a row may fail. Then the chain ends, whatever they leave behind."""
    chain = Chain(folder)
    chain.job(chain.steps(), number=77)
    for number, submitted in ((78, 2), (79, 3), (80, 3)):
        done = chain.job(f"touch {chain.run}/.continue; exit 3", "--chain-limit", "2", number=number, code=3)
        test.expect(len(chain.submitted()) == submitted, f"job {number}", (done.stderr, chain.submitted()))
    test.expect("the last 3 jobs" in done.stderr, "the reason", done.stderr)
    # Progress begins the count again.
    chain.job("exit 3", "--chain-limit", "1", number=90, code=3)
    chain.job(chain.steps(), "--chain-limit", "1", number=81)
    chain.job("exit 3", "--chain-limit", "1", number=82, code=3)
    test.expect(len(chain.submitted()) == 6, "one failure after progress", chain.submitted())


def first_job_fails(folder):
    """There is no run yet, so nothing can be counted."""
    chain = Chain(folder)
    chain.job("exit 4", "--chain-limit", "5", code=4)
    test.expect(not chain.submitted(), "nothing is submitted")


def crash_with_progress(folder):
    chain = Chain(folder)
    chain.job(f"srun {SIMULATION} {chain.run} {chain.staging} 2 8000 0 crash", code=128 + signal.SIGSEGV)
    test.expect(len(chain.submitted()) == 1, "a crash after a newer step continues")


def done_or_cancelled(folder):
    chain = Chain(folder)
    done = chain.job(f"srun {SIMULATION} {chain.run} {chain.staging} 1 8000 0 close")
    test.expect("the chain ends" in done.stderr and not chain.submitted(), "the simulation is done", done.stderr)
    process = subprocess.Popen(chain.words(f"exec srun {SIMULATION} {chain.run} {chain.staging} 1 8000 0 wait"), env=chain.environment, stderr=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, text=True)
    while not list((chain.run / "restart").glob("step-000002/manifest.json")):
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    errors = process.communicate(timeout=120)[1]
    test.expect("cancelled" in errors and not chain.submitted(), "the job was cancelled", errors)


def old_mark(folder):
    """A mark of an earlier job does not count."""
    chain = Chain(folder)
    chain.job(chain.steps())
    test.expect((chain.run / ".continue").exists(), "the session's mark stays for the next job")
    done = chain.job("true", number=78)
    test.expect(len(chain.submitted()) == 1 and "the chain ends" in done.stderr, "it was removed first", done.stderr)


def begins_anew(folder):
    """Each session has a line of its own. That alone is no progress: such a chain would never end."""
    chain = Chain(folder)
    chain.job(chain.steps(3))
    done = chain.job(f"export FOREBAY_RESTART=none; {chain.steps(2)}; exit 3", number=78, code=3)
    test.expect(len(chain.submitted()) == 1 and "no newer step" in done.stderr, "the chain ends", done.stderr)


def path_with_blanks(folder):
    chain = Chain(folder)
    script = folder / "my scripts/chain.sh"
    script.parent.mkdir()
    script.touch()
    (chain.bin / "job.txt").write_text(SHOWN.replace("Command=/home/ann/chain.sh first", f"Command={script} first"))
    chain.job(chain.steps())
    test.expect(chain.submitted()[0]["arguments"][-2:] == [str(script), "first"], "the script", chain.submitted())


def refused(folder):
    chain = Chain(folder)
    for more in ({"SLURM_ARRAY_JOB_ID": "77"}, {"SLURM_HET_SIZE": "2"}):
        chain.job("true", code=2, **more)
    (chain.bin / "job.txt").write_text(SHOWN.replace("Command=/home/ann/chain.sh first", "Command=(null)"))
    done = chain.job(chain.steps())
    test.expect("no next job" in done.stderr and not chain.submitted(), "a job without a script", done.stderr)


def main():
    test.check_each("chain", (options_are_kept, five_jobs, a_limit, first_job_fails, crash_with_progress, done_or_cancelled, old_mark,
                              begins_anew, path_with_blanks, refused))


main()
