"""The melt, looked at beside LAMMPS: the kinetic energy of an atom, and the distribution of speeds."""

import numpy as np

from forebay.insitu import every


def both(a, b):
    """Adds the results of two nodes."""
    return {name: a[name] + b[name] for name in a}


@every(1, stream="restart", variables=["atoms/v*"], reduce=both, finish=lambda all: all | {"ke": all["energy"] / all["atoms"]})
def kinetic(snapshot):
    squares = sum(np.square(snapshot[f"atoms/v{axis}"].array) for axis in "xyz")
    counts, _ = np.histogram(np.sqrt(squares), 64, (0, 8))
    return {"energy": squares.sum() / 2, "atoms": len(squares), "speeds": counts}
