"""Sessions whose snapshots are analysed by Python scripts, for the tests of this folder."""

import os
import pathlib
import subprocess
import sys
import time

BUILD = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"])
if not list((BUILD / "python/forebay").glob("_forebay_insitu.*so")):
    print("skipped: the Python package is not built (it needs nanobind in build/venv)")
    sys.exit(77)
sys.path.insert(0, str(BUILD / "python"))
ENVIRONMENT = os.environ | {"PYTHONPATH": str(BUILD / "python"), "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}"}

import numpy as np  # pylint: disable=wrong-import-position

import forebay  # pylint: disable=wrong-import-position
from forebay._forebay_insitu import ScriptRun  # pylint: disable=wrong-import-position
from forebay.insitu import Snapshot, raise_flag  # pylint: disable=wrong-import-position

HEAD = "from forebay.insitu import every\nimport ctypes, os, sys, time\nimport numpy as np\n"


def write_config(folder, script, nodes=1, more="", **options):
    """A configuration whose stream has the script as its analysis `look`; its path."""
    folder.mkdir(exist_ok=True)
    (folder / "memory").mkdir(exist_ok=True)
    path = folder / "look.py"
    path.write_text(HEAD + script)
    lines = [f'staging = "{folder}/memory"', f"virtual_nodes = {nodes}", "[agent]", 'mode = "process"', "linger_seconds = 0",
             "[streams.fields]", "slots = 2", "keep = 0", "view = false",
             "[streams.fields.insitu.look]", 'kind = "script"', f'script = "{path}"', f'python = "{sys.executable}"']
    lines += [f"{key} = {value}" for key, value in options.items()]
    config = folder / "forebay.toml"
    config.write_text("\n".join(lines) + "\n" + more)
    return config


def results(run, stream="fields.look"):
    """What a script has made: {step: {name: value}}."""
    found = {}
    for directory in sorted(pathlib.Path(run, stream).glob("step-*[0-9]")):
        (node,) = ScriptRun(str(run)).drained(str(directory))
        found[node.step] = {name: variable.array for name, variable in Snapshot([node], ["*"], "").items()}
    return found


def soon(holds, seconds=60):
    """Waits for it."""
    ended = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ended, "it did not come in time"
        time.sleep(0.01)


def mpi(ranks, *command):
    """What it prints on so many ranks."""
    done = subprocess.run(["mpiexec", "-n", str(ranks), sys.executable, "-m", "mpi4py", *map(str, command)],
                          env=ENVIRONMENT | {"OMPI_MCA_btl_vader_backing_directory": str(command[1].parent)},
                          capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def insitu(*words, code=0):
    """forebay insitu."""
    done = subprocess.run(["forebay", "insitu", *map(str, words)], env=ENVIRONMENT, capture_output=True, text=True,
                          check=False, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    return done


class Saves:
    """A session of this process alone that saves a field and a table."""

    def __init__(self, folder, config):
        self.run = folder / "run"
        self.memory = folder / "memory"
        self.session = forebay.Session(self.run, config=config)
        self.stream = self.session.stream("fields")
        self.theta = np.arange(24.0).reshape(4, 6)
        self.x = np.arange(7.0)
        self.stream.array("theta", self.theta, unit="K", dimensions=("y", "x"))
        self.stream.particles("gas", {"x": "f8"}).bind(x=self.x)
        self.saved = 0

    def save(self, step, waits=True):
        """Its snapshot is committed, and analysed or missed, when this returns."""
        self.theta += 1
        assert self.stream.save(step, step / 2).kept
        self.saved += 1
        self.stream.wait_committed()
        if waits:
            soon(lambda: len(list(self.run.glob("fields.look/step-*[0-9]"))) + self.stream.counters.scripts_missed == self.saved)

    def close(self):
        """What the agent has said, and the counters."""
        logs = list(self.memory.glob("*/*/agent.log"))
        told, counters = logs[0].read_text(), self.stream.counters
        self.session.close()
        soon(lambda: not list(self.memory.glob("*/*")))
        return told, counters


def printed(run):
    """What the scripts of a run have printed."""
    return "".join(path.read_text() for path in pathlib.Path(run, "forebay").glob("scripts-*.log"))
