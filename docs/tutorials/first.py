import sys

import numpy as np
from mpi4py import MPI

import forebay

world = MPI.COMM_WORLD
cells = 1_000_000
first, last = cells * world.rank // world.size, cells * (world.rank + 1) // world.size
u = np.zeros(last - first)  # this rank's part of a global array
step = np.zeros((), dtype="i8")

with forebay.Session(sys.argv[1] if len(sys.argv) > 1 else "run1", comm=world) as session:
    stream = session.stream("restart")
    stream.replicated("step", step)
    stream.array("u", u, shape=(cells,), start=(first,), unit="m/s")
    stream.restore()  # the newest snapshot that reads whole, on any number of ranks
    if world.rank == 0:
        print("starting after step", step)

    for _ in range(5):
        u += 0.5
        step += 1
        stream.save(int(step))  # one memory copy; the agent does the rest
