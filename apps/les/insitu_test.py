"""Goal: the agents of a large-eddy run make time series of horizontal means, variances, histograms and planes. They are
equal, bit for bit, to the results of forebay insitu afterwards, and equal over 1, 2 and 3 nodes. The means are those of
the simulation itself.

Method: few steps, each saved and analysed, on 2 to 8 ranks that are 1 to 3 virtual nodes. No save waits for an analysis,
so an analysis may miss a step, but never the last step. Missed steps are analysed afterwards. The solver rounds
differently on another number of ranks: their means are compared within rounding.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from simulation import BIN, SMALL, Les, claim

try:
    import h5py
    import numpy as np
except ImportError:
    print("skipped: h5py is missing. Next: scripts/bootstrap")
    sys.exit(77)

STEPS = 5
FIELDS = ["u", "v", "w", "theta", "q"]
RUNS = [(2, 1, 1), (2, 2, 1), (2, 2, 2), (2, 2, 3), (3, 2, 2), (2, 4, 3)]  # ranks in x and y, nodes
ROUNDING = 1e-8

ANALYSES = f"""
[streams.restart]
slots = 2
keep = 0
view = false
[streams.restart.insitu.levels]
kind = "statistics"
variables = {FIELDS}
by = 2
[streams.restart.insitu.whole]
kind = "statistics"
variables = {FIELDS}
[streams.restart.insitu.spread]
kind = "histogram"
variables = ["theta", "w"]
bins = 32
[streams.restart.insitu.cut]
kind = "slice"
variables = ["w"]
axis = 2
"""
STREAMS = ["levels", "whole", "spread", "cut"]


def results(run):
    """The results of a run: (stream, step) -> name -> values."""
    found = {}
    for stream in STREAMS:
        for path in sorted((run / f"restart.{stream}").glob("step-*/node-00000.h5")):
            values = {}

            def keep(name, item, values=values):
                if isinstance(item, h5py.Dataset) and name.startswith(tuple(f"{field}/" for field in FIELDS)):
                    values[name] = item[()]

            with h5py.File(path) as file:
                file.visititems(keep)
            found[stream, int(path.parent.name[5:])] = values
    return found


def same_bits(one, other):
    return one.keys() == other.keys() and all(
        one[name].dtype == other[name].dtype and one[name].tobytes() == other[name].tobytes() for name in one)


def own_profiles(run, step):
    """The profiles of the simulation itself, from its snapshot."""
    with h5py.File(next((run / f"restart/step-{step:06}").glob("node-00000.h5"))) as file:
        return {field: file[f"profiles/{field}"][1:-1] for field in ("theta", "q")}


def simulated(folder, px, py, nodes):
    """Runs les with analyses beside it. Returns the results; missed steps are analysed afterwards."""
    place = folder / f"{px}x{py}-{nodes}"
    (place / "memory").mkdir(parents=True)
    config, run = place / "les.toml", place / "run"
    config.write_text(f"virtual_nodes = {nodes}\n" + ANALYSES)
    Les(place, px, py, **SMALL, run=str(run), staging=str(place / "memory"), config=str(config), save_every=1,
        end_step=STEPS).finish()
    beside = results(run)
    claim(all((stream, STEPS) in beside for stream in STREAMS),
          f"{px} x {py} ranks on {nodes} nodes: {len(beside) // len(STREAMS)} of {STEPS} steps analysed beside the run")
    parts = list((run / "forebay/insitu").glob("*/step-*"))
    claim(all(int(part.name[5:11]) < STEPS for part in parts) and (nodes == 1 or not parts),
          "no part of an analysis is left")
    subprocess.run([BIN / "forebay", "insitu", config, f"{run}/restart@all", "--to", place / "later"], check=True,
                   stdout=subprocess.DEVNULL)
    later = results(place / "later")
    claim(len(later) == STEPS * len(STREAMS) and all(same_bits(values, later[key]) for key, values in beside.items()),
          "they are what forebay insitu finds afterwards, bit for bit")
    for step in range(1, STEPS + 1):
        for field, means in own_profiles(run, step).items():
            own = later["levels", step][f"{field}/mean"][1:-1]
            assert np.allclose(own, means, rtol=1e-12, atol=0), (step, field, own, means)
    verified = subprocess.run([BIN / "forebay", "verify", run], check=False, stdout=subprocess.DEVNULL)
    claim(verified.returncode == 0, "and the means that the simulation has found; forebay verify agrees")
    return later


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-les-") as name:
        found = {which: simulated(Path(name).resolve(), *which) for which in RUNS}
        for which, one in found.items():
            other = found[2, 2, 1]
            if which[:2] == (2, 2):
                claim(all(same_bits(one[key], other[key]) for key in other), f"the same bits on {which[2]} nodes as on 1")
            apart = max(float(np.max(np.abs(one[key]["theta/mean"] / other[key]["theta/mean"] - 1)))
                        for key in other if key[0] == "levels")
            claim(apart < ROUNDING, f"{which[0]} x {which[1]} ranks: means within {apart:.1e} of those of 2 x 2")


if __name__ == "__main__":
    sys.exit(main())
