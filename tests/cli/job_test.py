"""Goal: `forebay job` keeps the agents alive beyond the job step of the simulation. When it ends, every sealed snapshot is
committed and no memory is occupied, or each snapshot that is left is named. It exits as the command does.

Method: a stand-in for srun kills every process of a step when the step ends, as Slurm does with proctrack/cgroup. A
simulation of one rank crashes before its agent has drained everything. Without `forebay job` its snapshots stay in memory;
this shows that the stand-in kills agents. Then the same with keepers, with a keeper that cannot start, with too little
time, and with the signals of Slurm.
"""

import fcntl
import os
import pathlib
import pty
import signal
import subprocess
import termios
import time

import fake_slurm
import forebay_test as test

SIMULATION = test.BUILD / "tests/job_simulation"
MEGABYTES = 4
SLOW = 2_000_000  # bytes a second: two seconds for a snapshot
CRASH = 128 + signal.SIGSEGV


class Place:
    """A run, the memory of a node, and Slurm's commands."""

    def __init__(self, folder, slurm=True):
        self.run, self.staging, self.bin = folder / "run7", folder / "node", folder / "bin"
        self.staging.mkdir()
        self.bin.mkdir()
        self.environment = fake_slurm.commands(self.bin)
        if not slurm:
            del self.environment["SLURM_JOB_ID"], self.environment["SLURM_JOB_NUM_NODES"]

    def simulation(self, steps=3, rate=SLOW, end="crash"):
        return [SIMULATION, self.run, self.staging, steps, MEGABYTES << 20, rate, end]

    def words(self, *options, command):
        return [str(word) for word in (test.FOREBAY, "job", "--staging", self.staging, *options, "--", *command)]

    def job(self, *options, command, code=0):
        return test.run(*self.words(*options, command=command), code=code, env=self.environment)

    def start(self, *options, command):
        return subprocess.Popen(self.words(*options, command=command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self.environment)

    def committed(self):
        done = test.run(test.FOREBAY, "ls", self.run, "--json", code=None)
        return sorted(path.parent.name for path in (self.run / "restart").glob("step-*/manifest.json")) if done.returncode in (0, 1) else []

    def in_memory(self):
        """Node files, and sockets of keepers."""
        return sorted(path.name for path in self.staging.glob("forebay-*/*/*.h5")) + sorted(path.name for path in self.staging.glob("forebay-*/keeper.*"))


def steps(last):
    return [f"step-{step:06}" for step in range(1, last + 1)]


def until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        test.expect(time.monotonic() < end, what)
        time.sleep(0.05)


def crash_without_the_wrapper(folder):
    """The stand-in kills agents."""
    place = Place(folder)
    test.run(place.bin / "srun", *place.simulation(rate=SLOW // 4), code=CRASH, env=place.environment)
    test.expect(len(place.committed()) < 3, "a snapshot is missing", place.committed())
    test.expect(place.in_memory(), "and stays in memory")
    # The default staging directory has nothing of this run. Then ls names this host too.
    seen = f"The memory of {os.uname().nodename} may still have it"
    until(lambda: seen in test.run(test.FOREBAY, "ls", place.run).stdout, "ls names what is left, without --staging")
    with_staging = test.run(test.FOREBAY, "ls", place.run, "--staging", place.staging).stdout
    test.expect(seen not in with_staging and "left by a session" in with_staging, "once", with_staging)
    test.run(test.FOREBAY, "drain", "all", "--staging", place.staging)
    test.expect(place.committed() == steps(3) and not place.in_memory(), "drain brings it back")


def crash_in_a_step(folder):
    place = Place(folder)
    done = place.job(command=["srun", "--mpi=pmix", *place.simulation()], code=CRASH)
    test.expect("saved step 3" in done.stdout, "the command's output is passed on", done.stdout)
    test.expect(place.committed() == steps(3), "all is committed", (place.committed(), done.stderr))
    test.expect(not place.in_memory(), "the memory is free", place.in_memory())
    test.expect("committed" in done.stderr and "NOT" not in done.stderr, "it says so", done.stderr)
    keeper = [line for line in (place.bin / "srun.log").read_text().splitlines() if "--keeper" in line]
    test.expect(len(keeper) == 1 and all(word in keeper[0] for word in ("--overlap", "--mem=0", "--ntasks-per-node=1")), "a step of its own", keeper)


def good_end(folder):
    place = Place(folder)
    done = place.job(command=["srun", *place.simulation(rate=0, end="close")])
    test.expect(place.committed() == steps(3) and not place.in_memory(), "all is committed", done.stderr)
    again = place.job(command=["srun", *place.simulation(steps=1, rate=0, end="close")])
    test.expect("begins after step 3" in again.stdout, "the next command of the script goes on", again.stdout)


def on_one_host(folder):
    """Without a batch system."""
    place = Place(folder, slurm=False)
    done = place.job(command=place.simulation(), code=CRASH)
    test.expect(place.committed() == steps(3) and not place.in_memory(), "all is committed", done.stderr)
    test.expect(place.job(command=["sh", "-c", "exit 7"], code=7).stdout == "", "the exit code of the command")
    missing = place.job(command=["/no/such/program"], code=127)
    test.expect("/no/such/program" in missing.stderr, "a command that does not exist", missing.stderr)


def over_ssh(folder):
    """A shell of the other host reads the keeper's words."""
    (folder / "a b").mkdir()
    place = Place(folder / "a b", slurm=False)
    ssh = place.bin / "ssh"
    ssh.write_text('#!/bin/sh\nshift\nexec sh -c "$*"\n')
    ssh.chmod(0o755)
    place.environment["PATH"] = f"{place.bin}:{place.environment['PATH']}"
    done = place.job("--hosts", "far", command=place.simulation(), code=CRASH)
    test.expect("no keeper" not in done.stderr and "after the command" in done.stderr, "the keeper works", done.stderr)
    test.expect(place.committed() == steps(3) and not place.in_memory(), "all is committed", done.stderr)


def in_pbs(folder):
    """pbsdsh gives a program no input and takes no output."""
    place = Place(folder, slurm=False)
    home, nodes, program = folder / "home", folder / "nodes", place.bin / "pbsdsh"
    home.mkdir()
    nodes.write_text("far.site\nfar.site\n")
    program.write_text(f'#!/bin/sh\nprintf "%s " "$@" >> {folder}/pbsdsh.log\n[ "$1" = -n ] && shift 3\n"$@" < /dev/null >> {folder}/job.out 2>&1\n')
    program.chmod(0o755)
    place.environment |= {"PBS_JOBID": "12.server", "PBS_NODEFILE": str(nodes), "HOME": str(home)}
    done = place.job(command=place.simulation(), code=CRASH)
    test.expect((folder / "pbsdsh.log").read_text().startswith("-n 0 -- "), "pbsdsh starts the keeper", ((folder / "pbsdsh.log").read_text(), done.stderr, (folder / "job.out").read_text()))
    test.expect("no keeper" not in done.stderr and "after the command" in done.stderr, "the keeper works", (done.stderr, (folder / "job.out").read_text()))
    test.expect(place.committed() == steps(3) and not place.in_memory(), "all is committed", done.stderr)
    test.expect(not list(home.iterdir()) and not (folder / "job.out").read_text(), "nothing stays behind", (folder / "job.out").read_text())
    program.write_text("#!/bin/sh\necho no such vnode >&2\nexit 1\n")
    done = place.job(command=["sh", "-c", "exit 7"], code=7)
    test.expect("no keeper: far.site" in done.stderr and "no such vnode" in done.stderr, "a launcher that fails is named", done.stderr)


def one_interrupt(folder):
    """The terminal sends Ctrl-C to the command too. Then forebay job passes nothing on, wherever its errors go."""
    place = Place(folder, slurm=False)
    terminal, side = pty.openpty()
    script = f'trap "echo interrupted" INT; echo ready; until [ -e {folder}/stop ]; do sleep 0.1; done'
    out = folder / "out"
    with out.open("w") as output:
        process = subprocess.Popen(place.words(command=["sh", "-c", script]), stdin=side, stdout=output, stderr=output, env=place.environment,
                                   start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    until(lambda: "ready" in out.read_text(), "the command runs")
    os.write(terminal, b"\x03")
    until(lambda: "interrupted" in out.read_text(), "Ctrl-C reaches the command")
    time.sleep(1)
    test.expect(out.read_text().count("interrupted") == 1, "once", out.read_text())
    process.send_signal(signal.SIGINT)
    until(lambda: out.read_text().count("interrupted") == 2, "a signal to forebay job alone is passed on")
    (folder / "stop").touch()
    test.expect(process.wait(60) == 0, "the command ends by itself", out.read_text())


def no_keeper(folder):
    """The sessions start their agents themselves."""
    place = Place(folder)
    (place.bin / "no_keepers").touch()
    done = place.job(command=["srun", *place.simulation(rate=0, end="close")])
    test.expect("no keeper" in done.stderr and "Unable to create step" in done.stderr, "it says so", done.stderr)
    test.expect(place.committed() == steps(3), "the run is as without keepers")


def too_little_time(folder):
    """--wait, and the end of the job."""
    for number, (options, left) in enumerate(((["--wait", "1"], None), ([], 16))):
        (folder / str(number)).mkdir()
        place = Place(folder / str(number))
        if left:
            (place.bin / "left").write_text(str(left))
        began = time.monotonic()
        done = place.job(*options, command=["srun", *place.simulation(rate=100_000)], code=CRASH)
        test.expect(time.monotonic() - began < 60, "the wait is bounded")
        for word in ("NOT committed", "restart@3", str(place.run), str(place.staging), os.uname().nodename, "drain all"):
            test.expect(word in done.stderr, f"it names {word}", done.stderr)
        test.expect(place.in_memory(), "the snapshots stay")
        test.run(test.FOREBAY, "drain", "all", "--staging", place.staging)
        test.expect(place.committed() == steps(3), "drain brings them back", place.committed())


def told_to_end(folder):
    """SIGTERM goes to the command, and its snapshots are committed."""
    place = Place(folder)
    process = place.start(command=["srun", *place.simulation(end="wait")])
    until(lambda: len(list(place.staging.glob("forebay-*/*/*.h5"))) == 2 and place.committed(), "it saves")
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=120)
    test.expect(process.returncode == 128 + signal.SIGTERM, "the exit code of the command", (process.returncode, errors))
    test.expect(place.committed() == steps(3) and not place.in_memory(), "all is committed", errors)


def killed_by_slurm(folder):
    """Slurm sends SIGTERM to the tasks of all steps, and SIGKILL after KillWait. The keeper writes what is left."""
    place = Place(folder)
    process = place.start(command=["srun", *place.simulation(rate=100_000, end="wait")])
    until(lambda: (place.bin / "keeper.pid").exists() and len(list(place.staging.glob("forebay-*/*/*.h5"))) == 2, "it saves")
    time.sleep(1)
    keeper = int((place.bin / "keeper.pid").read_text())
    began = time.monotonic()
    os.kill(keeper, signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=120)
    test.expect(time.monotonic() - began < 20, "it ends soon after KillWait", errors)
    test.expect("NOT committed" in errors, "it says what is left", errors)
    status = "".join(path.read_text() for path in (place.run / "forebay").glob("status-*.json"))
    test.expect('"state":"left"' in status and ('"sealed"' in status or '"draining"' in status), "the run names what is left", status)


def signals_that_end_nothing(folder):
    """Slurm sends the signal of --signal to all steps. The keeper lives on, and serves the job as before."""
    place = Place(folder)
    process = place.start("--kill-wait", "3", command=["srun", *place.simulation(rate=800_000, end="wait")])
    until(lambda: (place.bin / "keeper.pid").exists() and len(list(place.staging.glob("forebay-*/*/*.h5"))) == 2, "it saves")
    keeper = int((place.bin / "keeper.pid").read_text())
    for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGPIPE, signal.SIGTERM):
        os.kill(keeper, number)
    time.sleep(9)  # KillWait, and 5 s more
    os.kill(keeper, 0)
    test.expect(len(place.committed()) < 3, "the agent is not done", place.committed())
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=120)
    saved = output.count("saved step")
    test.expect(place.committed() == steps(saved) and saved >= 2 and not place.in_memory(), "all is committed", (output, errors))


def no_session(folder):
    """A summary claims nothing about sessions that did not use the keeper."""
    done = Place(folder, slurm=False).job(command=["true"])
    test.expect("no session asked a keeper" in done.stderr and "every sealed" not in done.stderr, "it says so", done.stderr)


def refused(folder):
    place = Place(folder)
    for words in ((), ("--chain", "--", "true"), ("--run", place.run, "--", "true")):
        done = test.run(test.FOREBAY, "job", *words, code=2, env=place.environment)
        test.expect("forebay job" in done.stderr, "it names the next step", done.stderr)


def main():
    test.check_each("job", (crash_without_the_wrapper, crash_in_a_step, good_end, on_one_host, over_ssh, in_pbs, one_interrupt, no_keeper, too_little_time, told_to_end,
                            killed_by_slurm, signals_that_end_nothing, no_session, refused))


main()
