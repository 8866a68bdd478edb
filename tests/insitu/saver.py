"""Saves a field and particles on all ranks of MPI, for nodes_test.py: saver.py CONFIG RUN STEPS. Each rank owns columns of
the field; after each save it waits until the script has results of the step."""

import pathlib
import sys
import time

import numpy as np
from mpi4py import MPI

import forebay

ROWS, COLUMNS, PARTICLES = 11, 24, 900
WORLD = MPI.COMM_WORLD


def share(count):
    """This rank's part of so many."""
    return count * WORLD.rank // WORLD.size, count * (WORLD.rank + 1) // WORLD.size


def main(config, run, steps):
    """All steps."""
    first, last = share(COLUMNS)
    begin, end = share(PARTICLES)
    z, x = np.meshgrid(np.arange(ROWS), np.arange(first, last), indexing="ij")
    theta, ids, positions = np.zeros((ROWS, last - first)), np.arange(begin, end), np.zeros(end - begin, "f4")
    with forebay.Session(run, comm=WORLD, config=config) as session:
        stream = session.stream("fields")
        stream.array("theta", theta, shape=(ROWS, COLUMNS), start=(0, first), unit="K", description="potential temperature",
                     dimensions=("z", "x"))
        stream.replicated("dt", np.array(0.25))
        gas = stream.particles("gas", {"id": "i8", "x": "f4"}, {"x": "m"})
        for step in range(1, steps + 1):
            theta[:] = np.sin(z * 1.7 + x * 0.3 + step) * 100
            positions[:] = ids * 7919 % 1009 * 0.37 + step
            gas.bind(id=ids, x=positions)
            assert stream.save(step, step / 4).kept
            ended = time.monotonic() + 300
            while WORLD.rank == 0 and not pathlib.Path(run, f"fields.look/step-{step:06}").exists():
                assert time.monotonic() < ended, f"no results of step {step}: {stream.counters}"
                time.sleep(0.01)
            WORLD.barrier()
        missed = WORLD.allreduce(stream.counters.scripts_missed)
        assert missed == 0, missed


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
