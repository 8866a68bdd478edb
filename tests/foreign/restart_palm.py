"""restart_palm.py RUN STAGING: reads the arrays of write_palm_fortran.f90 on any number of ranks and checks each value."""

import sys

import numpy as np
from mpi4py import MPI

import forebay

WORLD = MPI.COMM_WORLD
NX, NY, LEVELS = 9, 8, 6

first, last = NX * WORLD.rank // WORLD.size, NX * (WORLD.rank + 1) // WORLD.size
field = np.zeros((last - first, NY, LEVELS))
flags = np.zeros((last - first, NY, LEVELS), np.int32)
profile = np.zeros(LEVELS)
with forebay.Session(sys.argv[1], comm=WORLD, config=sys.argv[2]) as session:
    stream = session.stream("restart")
    stream.array("e", field, shape=(NX, NY, LEVELS), start=(first, 0, 0))
    stream.array("wall_flags", flags, shape=(NX, NY, LEVELS), start=(first, 0, 0))
    stream.replicated("u_init", profile)
    restart = stream.newest()
    restart.read()
    assert restart.step == 77 and restart.time == 1234.5, (restart.step, restart.time)
    assert restart.same_ranks == (WORLD.size == 6)
x, y, z = np.meshgrid(np.arange(first, last), np.arange(NY), np.arange(LEVELS), indexing="ij")
assert np.array_equal(field, 1000.0 + x + y / 100.0 + z / 10000.0)
assert np.array_equal(flags, 10000 * z + 100 * y + x)
assert np.array_equal(profile, 0.25 * np.arange(LEVELS))
print(f"rank {WORLD.rank} of {WORLD.size} has x {first} to {last - 1}")
