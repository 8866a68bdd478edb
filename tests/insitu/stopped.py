"""An application on all ranks of MPI, for flags_test.py: stopped.py CONFIG RUN. From step 5 of its first session on a value
of its second rank is no number. It waits until results of each step are made, or missed, ends where Session.job() says so, and
prints what each rank has restored, when it ended and why."""

import json
import pathlib
import sys
import time

import numpy as np
from mpi4py import MPI

import forebay

WORLD = MPI.COMM_WORLD


def main(config, run):
    """Until it is told to end, at most 20 steps."""
    theta, step = np.ones((4, 2)), np.zeros((), "i8")
    with forebay.Session(run, comm=WORLD, config=config) as session:
        stream = session.stream("fields")
        stream.array("theta", theta, shape=(4, 2 * WORLD.size), start=(0, 2 * WORLD.rank))
        stream.replicated("step", step)
        stream.restore()
        begun, job = int(step), None
        for _ in range(20):
            step += 1
            theta += 1
            if begun == 0 and step >= 5 and WORLD.rank == 1:
                theta[1, 1] = np.nan
            missed = stream.counters.scripts_missed
            assert stream.save(int(step)).kept
            ended = time.monotonic() + 300
            made = pathlib.Path(run, f"fields.look/step-{int(step):06}")
            while not WORLD.allreduce(made.exists() or stream.counters.scripts_missed > missed):
                assert time.monotonic() < ended, f"no results of step {step}: {stream.counters}"
                time.sleep(0.01)
            job = session.job(stop_wanted=begun > 0)
            if job.stop:
                break
        told = WORLD.gather([begun, int(step), job.condition, job.value])
    if WORLD.rank == 0:
        print(json.dumps(told))


main(sys.argv[1], sys.argv[2])
