#!/usr/bin/env python3
"""Goal: halos found in situ, while nbody runs, equal those of another implementation.

Method: nbody saves a small universe with an analysis of halos. The test reads the particles of the last step with h5py
and links all pairs of particles across the periodic walls. Number and sizes of halos must be equal.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"]).resolve()
try:
    import h5py
    import numpy as np
except ImportError:
    print("skipped: no h5py in build/venv (scripts/bootstrap)")
    sys.exit(77)
if not shutil.which("mpiexec"):
    print("skipped: no mpiexec")
    sys.exit(77)

MESH, STEPS, MEMBERS, LINKING_LENGTH = 20, 24, 10, 0.2
CONFIG = f"""
[streams.restart.insitu.halos]
kind = "halos"
variables = ["particles/x", "particles/y", "particles/z"]
length = [{MESH}]
members = {MEMBERS}
linking_length = {LINKING_LENGTH}
"""


def sizes_of_groups(places, reach):
    """Links particles over `reach` or less. Returns the sizes of the groups, the largest first."""
    labels = np.arange(len(places))
    pairs = []
    for first in range(0, len(places), 500):
        apart = places[first:first + 500, None] - places[None]
        apart -= MESH * np.round(apart / MESH)
        one, other = np.nonzero((apart**2).sum(axis=2) <= reach**2)
        pairs.append(np.stack([one + first, other]))
    one, other = np.concatenate(pairs, axis=1)
    while True:  # the smallest label of all that are linked wins, one link further each time
        new = labels.copy()
        np.minimum.at(new, one, labels[other])
        new = new[new]
        if (new == labels).all():
            return sorted((int(size) for size in np.bincount(labels) if size >= MEMBERS), reverse=True)
        labels = new


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-halos-") as scratch:
        work = pathlib.Path(scratch)
        (work / "forebay.toml").write_text(CONFIG)
        subprocess.run(["mpiexec", "-n", "2", BUILD / "bin/nbody", "--mesh", str(MESH), "--particles", str(MESH), "--steps",
                        str(STEPS), "--box", "30", "--run", work / "run", "--save-every", str(STEPS), "--config",
                        work / "forebay.toml", "--staging", work], check=True)
        snapshot = f"{work}/run/restart@{STEPS}"
        subprocess.run([BUILD / "bin/forebay", "view", snapshot], check=True, capture_output=True)
        with h5py.File(work / f"run/restart/step-{STEPS:06d}.h5") as view:
            places = np.stack([view[f"particles/{axis}"][:].astype("f8") for axis in "xyz"], axis=1)
        wanted = sizes_of_groups(places, LINKING_LENGTH * MESH / len(places) ** (1 / 3))
        told = subprocess.run([BUILD / "bin/forebay", "plot", f"{work}/run/restart.halos", "particles/members", "--json"],
                              check=True, capture_output=True, text=True)
        found = [int(size) for size in json.loads(told.stdout)[0]["steps"][0]["values"]]
        print(f"{len(wanted)} groups of {MEMBERS} particles or more, the largest of {wanted[0]}")
        assert len(wanted) > 10, "too few for a comparison"
        assert found == wanted, f"in situ {found}, here {wanted}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
