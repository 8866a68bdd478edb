"""The story of story.md, in Python."""

import sys

import numpy as np
from mpi4py import MPI

import forebay

ROWS, COLUMNS, PARTS = 12, 10, 3
WORLD = forebay.dedicate(MPI.COMM_WORLD, sys.argv[4])
if WORLD is None:
    sys.exit()
RANK, RANKS = WORLD.rank, WORLD.size


class State:
    """This rank's part."""

    def __init__(self):
        self.first = ROWS * RANK // RANKS
        self.count = ROWS * (RANK + 1) // RANKS - self.first
        self.density = np.zeros((self.count + 2, COLUMNS + 2))  # with a halo of 1
        self.velocity = np.zeros((PARTS, self.count, COLUMNS), np.float32)
        self.mask = np.zeros(self.count, np.int32)
        self.dt = np.zeros(())
        self.gas = {"id": np.zeros(0, np.int64), "x": np.zeros(0)}

    def fill(self, step):
        """Fills in values that follow from their positions."""
        self.dt[...] = 0.125
        rows = np.arange(self.first, self.first + self.count)
        columns = np.arange(COLUMNS)
        self.mask[:] = rows * rows + step
        self.density[1:-1, 1:-1] = 100 * rows[:, None] + columns + 0.25 * step
        self.velocity[:] = 1000 * np.arange(PARTS)[:, None, None] + 10 * rows[:, None] + columns
        ids = 100 * RANK + np.arange(0 if RANK % 2 else 4 + RANK)
        self.gas = {"id": ids, "x": 0.5 * ids}

    def describe(self, stream, wrong=""):
        """Describes the state; `wrong` selects a wrong description."""
        other_shape = wrong == "shape"
        stream.replicated("clock/dt", self.dt, first_rank=wrong == "owns")
        stream.array("fields/density", self.density, shape=(ROWS + 1 if other_shape else ROWS, COLUMNS),
                     start=(self.first, 0), halo=1, unit="kg m-3", description="gas density", dimensions=("y", "x"),
                     partial=other_shape)
        stream.array("fields/velocity", self.velocity, shape=(PARTS, ROWS, COLUMNS), start=(0, self.first, 0))
        if wrong == "type":
            stream.array("mask", self.mask.astype(np.float32), shape=ROWS, start=(self.first,))
        elif wrong == "rank":
            stream.array("mask", self.mask[:, None], shape=(ROWS, 1), start=(self.first, 0))
        else:
            stream.array("maske" if wrong == "missing" else "mask", self.mask, shape=ROWS, start=(self.first,))
        return stream.particles("gas", {"id": "i8", "x": "f8"})


def say(text):
    """Prints on rank 0."""
    if RANK == 0:
        print(text, flush=True)


def save(state, stream, gas, step):
    """Fills and saves one step."""
    state.fill(step)
    gas.bind(**state.gas)
    saved = stream.save(step, 0.5 * step)
    say(f"saved step {saved.step}, {'kept' if saved.kept else 'skipped'}")


def restart(state, stream, gas):
    """Restarts on any number of ranks."""
    found = stream.newest()
    state.gas = gas.empty(found.rows(gas))
    gas.bind(**state.gas)
    found.read()
    sums = np.array([state.density[1:-1, 1:-1].sum(), state.velocity.sum(dtype=float), state.mask.sum(),
                     state.gas["id"].sum(), state.gas["x"].sum()], float)
    WORLD.Reduce(MPI.IN_PLACE if RANK == 0 else sums, sums, root=0)
    rows = WORLD.gather(len(state.gas["id"]))
    if RANK == 0:
        say(f"restart from step {found.step}, time {found.time:.2f}, {'the same' if found.same_ranks else 'other'} ranks, "
            f"dt {state.dt:.3f}")
        say(f"density {sums[0]:.2f} velocity {sums[1]:.0f} mask {sums[2]:.0f} id {sums[3]:.0f} x {sums[4]:.1f}")
        for rank, count in enumerate(rows):
            say(f"rank {rank} has {count} particles")


def mistake(state, session, stream, wrong):
    """A mistake gives the error of the first call that notices."""
    gas = state.describe(stream, wrong)
    if wrong == "closed":
        gas.bind(**state.gas)
        session.close()
        stream.save(9)
        return
    if wrong == "options":
        session.stream("other", slots=1 + RANK)
        return
    if wrong in ("differs", "owns", "steps"):
        state.dt[...] = 0.125 if wrong == "steps" else 0.125 * (1 + RANK)
        gas.bind(**state.gas)
        stream.save(9 + RANK if wrong == "steps" else 9)
        return
    found = stream.newest()
    state.gas = gas.empty(found.rows(gas))
    gas.bind(**state.gas)
    found.read()


def forms(state, session):
    """Compression and file form; then options that are refused."""
    streams = []
    for name, options in (("packed", {"compression": {"codec": "zstd", "level": 5}}), ("one", {"file": "shared", "keep": 2})):
        streams.append(session.stream(name, **options))
        save(state, streams[-1], state.describe(streams[-1]), 3)
        streams[-1].wait_committed(60)
    try:
        session.stream("packed", compression="lz4")
    except forebay.RefusedError as problem:
        say(f"refused: {problem}")
    try:
        session.stream("cut", insitu={"a": {"kind": "density", "variables": ["gas/x"], "length": [1, 2.5, 1],
                                            "range": (0.5, 4), "every": 2, "picture": False, "factor": 2}})
    except forebay.RefusedError as problem:
        say(f"refused: {problem}")


def told(state, session):
    """An analysis finds a fulfilled condition, and all ranks receive it at the end of a step."""
    stream = session.stream("looked", insitu={"numbers": {"variables": ["mask"], "condition": "*/count > 11.5",
                                                          "action": ["save", "mark"]}})
    save(state, stream, state.describe(stream), 3)
    stream.wait_committed(60)
    job = session.job()
    while not job.condition:
        job = session.job()
    if RANK == RANKS - 1:
        print(f"save {job.save:d}, stop {job.stop:d}, value {job.value:.1f}, step {job.condition_step}: {job.condition}")
        print(job.reason)


def main(act, run, staging, config):
    """One act of the story."""
    state = State()
    if act not in ("save", "restart", "forms", "told"):
        try:
            own = "nowhere.toml" if act == "file" and RANK == RANKS - 1 else config
            session = forebay.Session(run, comm=WORLD, staging=staging, config=own)
            mistake(state, session, session.stream("restart", slots=2), act)
            say("ok: ")
        except forebay.Error as problem:
            say(f"{type(problem).__name__.removesuffix('Error').lower()}: {problem}")
        return
    with forebay.Session(run, comm=WORLD, staging=staging, config=config) as session:
        stream = session.stream("restart", slots=2)
        if act in ("forms", "told"):
            return (forms if act == "forms" else told)(state, session)
        gas = state.describe(stream)
        if act == "save":
            save(state, stream, gas, 3)
            save(state, stream, gas, 7)
            stream.wait_committed(60)
        else:
            restart(state, stream, gas)
    return None


main(*sys.argv[1:])
