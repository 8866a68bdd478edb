"""The programs of the demo: simulations under mpiexec, their ranks by process number, and the command forebay."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

STEP = re.compile(r"^step +(\d+)/\d+ +a [\d.]+ +([\d.]+) s +particles a rank \S+ *(.*)$")

# More ranks than cores, and as root in containers: Open MPI refuses or crawls otherwise. Other MPIs ignore these.
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
}


def name_and_parent(process):
    """Returns None if the process is gone or a zombie."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    name, rest = stat[stat.index("(") + 1 : stat.rindex(")")], stat[stat.rindex(")") + 2 :].split()
    return None if rest[0] in "ZX" else (name, int(rest[1]))


def is_alive(process):
    return name_and_parent(process) is not None


def descendants(process, name):
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (found := name_and_parent(entry.name)):
            parents[int(entry.name)] = found

    def comes_from(child):
        while child in parents and child != process:
            child = parents[child][1]
        return child == process

    return sorted(child for child, (called, _) in parents.items() if called == name and comes_from(child))


def wait_until(condition, seconds_max):
    deadline = time.monotonic() + seconds_max
    while not (answer := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return answer


class Simulation:
    """nbody on some ranks. Its lines are kept, and printed if `shown` returns true."""

    def __init__(self, bin_directory, ranks, options, memory, shown=lambda line: True):
        """`memory`: the directory of Open MPI's shared files. Killed ranks leave files behind there."""
        command = ["mpiexec", "-n", str(ranks), str(bin_directory / "nbody"), *map(str, options)]
        environment = {**os.environ, **MPI_ENVIRONMENT, "OMPI_MCA_btl_vader_backing_directory": str(memory)}
        self.process = subprocess.Popen(command, env=environment, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.lines, self.news, self.shown = [], threading.Condition(), shown
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            with self.news:
                self.lines.append(line.rstrip())
                self.news.notify_all()
            if self.shown(line):
                print("    " + line.rstrip(), flush=True)

    def steps(self):
        """(step, seconds, note) of each step that was printed."""
        found = (STEP.match(line) for line in list(self.lines))
        return [(int(m[1]), float(m[2]), m[3]) for m in found if m]

    def wait_for(self, condition, seconds_max):
        """Checks the steps at each new line. Returns None if the program ends or time is over."""
        deadline = time.monotonic() + seconds_max
        with self.news:
            while not (answer := condition(self.steps())):
                left = deadline - time.monotonic()
                if left <= 0 or not self.reader.is_alive():
                    return None
                self.news.wait(min(left, 0.5))
        return answer

    def ranks(self):
        return descendants(self.process.pid, "nbody")

    def finish(self, seconds_max=300):
        self.process.wait(seconds_max)
        self.reader.join(10)
        return self.process.returncode

    def end(self):
        """Ends mpiexec after a fault; mpiexec ends its ranks."""
        if self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            for process in [*self.ranks(), self.process.pid]:
                os.kill(process, signal.SIGKILL)
            self.process.wait(10)


class Forebay:
    """The command forebay. Its scripts run in the demo's own Python, because it has matplotlib."""

    def __init__(self, bin_directory):
        self.program = str(bin_directory / "forebay")
        self.environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

    def run(self, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, check=False, env=self.environment)

    def ls(self, run):
        done = self.run("ls", run, "--json")
        return json.loads(done.stdout) if done.returncode == 0 else []

    def committed(self, run):
        return {entry["step"]: entry for entry in self.ls(run) if entry["state"] == "committed"}

    def parts(self, run):
        return {entry["step"]: entry for entry in self.ls(run) if entry["state"] == "part"}


def agent_of(staging):
    """The process number of the agent for the one session under `staging`, from its log."""
    for log in Path(staging).glob("forebay-*/*/agent.log"):
        served = re.findall(r"agent (\d+) serves", log.read_text())
        if served and (found := name_and_parent(served[-1])) and found[0] == "forebay":
            return int(served[-1])
    return None
