"""For the tests: les under mpiexec, and its printed lines."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["FOREBAY_BINARY_DIR"]) / "bin"
SMALL = {"nx": 25, "ny": 18, "nz": 12}  # odd, so that ranks get unequal parts

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "apps/nbody/demo"))
from processes import agent_of, descendants, is_alive, wait_until  # noqa: E402,F401


def fortran(value):
    if isinstance(value, bool):
        return ".true." if value else ".false."
    return repr(value) if isinstance(value, (int, float)) else f"'{value}'"


class Les:
    """Starts les on px x py ranks, and keeps its lines as they come."""

    def __init__(self, folder, px, py, **parameters):
        parameters |= {"ranks_x": px, "ranks_y": py}
        file = folder / "parameters.nml"
        file.write_text("&les\n" + "".join(f"  {name} = {fortran(value)}\n" for name, value in parameters.items()) + "/\n")
        self.process = subprocess.Popen(["mpiexec", "-n", str(px * py), BIN / "les", file], cwd=folder, text=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.lines = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip())

    def found(self, pattern):
        """The groups of the lines that match at their beginning, in order."""
        return [match.groups() for line in list(self.lines) if (match := re.match(pattern, line))]

    def steps(self):
        """step -> the numbers of its line."""
        lines = (line.split() for line in list(self.lines) if line.startswith("step "))
        return {int(words[1]): dict(zip(words[2::2], map(float, words[3::2]))) for words in lines}

    def finish(self):
        code = self.process.wait(1200)
        self.reader.join(10)
        assert code == 0, f"les ended with {code}:\n" + "\n".join(self.lines)
        return self

    def hashes(self, what, step):
        """Variable, or class of variables -> its fingerprint when the step was saved, or read."""
        return dict(self.found(rf"{what} {step} hash (\S+) +([0-9A-F]{{16}})$"))

    def sums(self):
        return {name: [float(value) for value in values.split()] for name, values in self.found(r"sums of (\S+) (.*)")}

    def gained(self, what):
        """The gain of the air since the start, and the amount from the surface."""
        (values,) = self.found(rf"{what} gained, from the surface (.*)")
        return [float(value) for value in values[0].split()]


def claim(true, text):
    assert true, f"not true: {text}"
    print(f"ok: {text}", flush=True)
