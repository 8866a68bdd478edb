"""Forebay: save the state of a simulation for the price of one memory copy, and restart it on any number of ranks.

Save and restart, with all ranks of a communicator or in one process:

    with forebay.Session("run1", comm=MPI.COMM_WORLD) as session:
        stream = session.stream("restart", slots=2)
        stream.array("u", u, shape=(nz, ny, nx), start=(0, y0, 0), halo=(0, 3, 0), unit="m s-1")
        stream.restore()  # the newest snapshot that reads whole; None at the first start
        for step in range(first, last):
            ...
            stream.save(step, time)

Read committed snapshots, without MPI:

    run = forebay.open("run1")
    run["restart"].newest.dataset("fields")  # an xarray.Dataset; data are read when you use them

Errors are of the class Error. Its subclasses say how to react: RetryError, FullError, MissingError, CorruptError,
RefusedError, UnsupportedError, BrokenError. The text says what is still safe, and the next command.
"""

from ._forebay import (BrokenError, Counters, CorruptError, Error, FullError, MissingError, RefusedError, RetryError,
                       Saved, UnsupportedError, __version__)
from .reading import Run, Snapshot, StreamOfRun, open  # pylint: disable=redefined-builtin
from .writing import Particles, Restart, Session, Stream, dedicate

__all__ = ["BrokenError", "CorruptError", "Counters", "Error", "FullError", "MissingError", "Particles", "RefusedError",
           "Restart", "RetryError", "Run", "Saved", "Session", "Snapshot", "Stream", "StreamOfRun", "UnsupportedError",
           "__version__", "dedicate", "open"]
