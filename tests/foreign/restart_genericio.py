"""restart_genericio.py RUN STAGING: reads the table that an import of the genuine file soa_r4 made, on any number of
ranks, and prints the rows of all ranks together."""

import sys

import numpy as np
from mpi4py import MPI

import forebay

WORLD = MPI.COMM_WORLD
with forebay.Session(sys.argv[1], comm=WORLD, config=sys.argv[2]) as session:
    stream = session.stream("restart")
    table = stream.particles("particles", {"x": "f4", "id": "i8", "mask": "u2"})
    restart = stream.newest()
    rows = table.empty(restart.rows(table))
    table.bind(**rows)
    restart.read()
    assert restart.same_ranks == (WORLD.size == 4)
parts = WORLD.gather(rows)
if WORLD.rank == 0:
    found = {name: np.concatenate([part[name] for part in parts]) for name in ("x", "id", "mask")}
    np.savez(sys.argv[3], **found)
    print("rows", *[len(part["id"]) for part in parts])
