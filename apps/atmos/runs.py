"""Runs of atmos for its tests: the program on some ranks, what it told, and what lies at its target."""

import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

BUILD = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"])
FOREBAY = BUILD / "bin/forebay"
FIELDS = ("theta", "u", "v", "w")
GRID = (8, 48, 44)


def check(holds, text):
    """What is not true ends the test."""
    if not holds:
        sys.exit(f"atmos: {text}")


def program(*arguments, codes=(0,)):
    """The program forebay, which must end with one of these exit codes."""
    done = subprocess.run([FOREBAY, *arguments], capture_output=True, text=True, check=False, timeout=600)
    check(done.returncode in codes, f"forebay {arguments}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Place:
    """A run of its own and its staging, with a configuration."""

    def __init__(self, folder, name, mode, rate=0, stream=""):
        self.folder, self.mode = pathlib.Path(folder) / name, mode
        self.run, self.staging, self.config = self.folder / "run", self.folder / "staging", self.folder / "forebay.toml"
        self.staging.mkdir(parents=True)
        self.configure(rate, stream)

    def configure(self, rate=0, stream=""):
        self.config.write_text(f'[agent]\nmode = "{self.mode}"\nrate_bytes_per_second = {rate}\n'
                               f"[streams.fields]\nslots = 2\nkeep = 0\n{stream}\n")

    def start(self, computing, *arguments):
        """Starts atmos with so many ranks that compute; a dedicated agent is one more."""
        ranks = computing + (self.mode == "dedicated")
        command = ["mpiexec", "-n", ranks, BUILD / "bin/atmos", "--config", self.config, "--run", self.run,
                   "--staging", self.staging, "--grid", ",".join(map(str, GRID)), *arguments]
        # Killed ranks leave Open MPI's shared files behind.
        environment = os.environ | {"OMPI_MCA_btl_vader_backing_directory": str(self.folder)}
        return subprocess.Popen(list(map(str, command)), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=environment, start_new_session=True)

    def simulate(self, computing, *arguments, codes=(0,)):
        """Runs atmos to its end; what it printed, and its errors."""
        process = self.start(computing, *arguments)
        try:
            out, errors = process.communicate(timeout=600)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            sys.exit(f"atmos: {self.mode} {arguments} hangs: {process.communicate()}")
        check(process.returncode in codes, f"{self.mode} {arguments}: exit code {process.returncode}\n{out}{errors}")
        return out, errors

    def agent(self):
        """The process of the agent that its log names."""
        logs = "".join(log.read_text() for log in self.staging.glob("forebay-*/*/agent.log"))
        found = re.findall(r"agent (\d+) serves", logs)
        return int(found[-1]) if found else None

    def committed(self):
        """The steps at the target."""
        listed = json.loads(program("ls", self.run, "--json"))
        return sorted(one["step"] for one in listed if one["state"] == "committed")

    def bytes_of(self, step):
        """A digest of each field as a view shows it, after every byte was verified."""
        import h5py  # pylint: disable=import-outside-toplevel
        program("verify", f"{self.run}@{step}")
        view = self.run / f"fields/step-{step:06}.h5"
        if not view.exists():  # threads make none
            program("view", f"{self.run}@{step}")
        with h5py.File(view) as file:
            check(all(file[name].shape == GRID for name in FIELDS), f"{view}: {[file[name].shape for name in FIELDS]}")
            check(file["w"][...].std() > 0, f"{view}: nothing moves")
            return [hashlib.sha256(file[name][...].tobytes()).hexdigest() for name in FIELDS]


def totals(out):
    """The last line, by its words."""
    line = next(line for line in reversed(out.splitlines()) if line.startswith("total: "))
    found = {name: int(value) for name, value in re.findall(r"(kept|skipped|replaced|failed) (\d+)", line)}
    total = re.search(r"total: (\d+) steps in ([\d.]+) s, ended after ([\d.]+) s, ([\d.]+) s blocked.*step (-?\d+)", line)
    return found | {"steps": int(total[1]), "seconds": float(total[2]), "ended": float(total[3]),
                    "blocked": float(total[4]), "durable": int(total[5])}


def told(out):
    """What each step's line says after its times."""
    return {int(step): rest for step, rest in re.findall(r"^step (\d+): .* blocked, (.*)$", out, re.MULTILINE)}


def ranks_of(process):
    """The processes of atmos that mpiexec started."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().partition("(")[2].rpartition(")")
        except OSError:
            continue  # it has ended meanwhile
        if name == "atmos" and int(rest.split()[3]) == process.pid:
            found.append(int(stat.parent.name))
    return sorted(found)
