#!/usr/bin/env python3
"""A melt in LAMMPS, driven from Python: saved beside the run, restarted by the same command on any number of ranks.

    mpiexec -n 2 python3 -m mpi4py melt.py --run run1 --steps 1000 --every 50

Every line has the step, the energies (potential, kinetic, total; per atom) and what the save took.
"""

import argparse
import ctypes
import os
import pathlib
import sys

import numpy as np
from mpi4py import MPI

import forebay

HERE = pathlib.Path(__file__).resolve().parent
DEBIAN = "/usr/lib/python3/dist-packages"
WORLD = MPI.COMM_WORLD


def open_lammps(**variables):
    """Opens LAMMPS on all ranks, silent, with variables for its input."""
    if DEBIAN not in sys.path:
        sys.path.append(DEBIAN)  # last, so that a virtual environment keeps its own packages
    from lammps import core  # pylint: disable=import-outside-toplevel
    # The module asks for liblammps.so, a name that Debian has in liblammps-dev alone.
    core.CDLL = lambda name, mode: ctypes.CDLL("liblammps.so.0" if name == "liblammps.so" else name, mode)
    words = ["-log", "none", "-screen", "none", "-nocite"]
    for name, value in variables.items():
        words += ["-var", name, str(value)]
    lmp = core.lammps(cmdargs=words)
    if lmp.extract_setting("world_size") != WORLD.size:
        sys.exit(f"melt.py: LAMMPS sees {lmp.extract_setting('world_size')} ranks, mpi4py {WORLD.size}: they load different "
                 "MPI libraries. Next: build mpi4py and Forebay with LAMMPS' own.")
    return lmp


# [guide]
def columns(lmp):
    """This rank's atoms in LAMMPS' own memory, which moves when atoms come and go."""
    at = lmp.numpy.extract_atom
    return {"id": at("id"), "type": at("type"), "image": at("image"),
            **dict(zip(("x", "y", "z"), at("x").T)), **dict(zip(("vx", "vy", "vz"), at("v").T))}


def describe(stream, lmp, box):
    """The box, and the table of atoms with LAMMPS' integers, whatever their size."""
    stream.replicated("box", box)
    return stream.particles("atoms", {"id": lmp.c_tagint, "type": "i4", "image": lmp.c_imageint}
                            | dict.fromkeys(("x", "y", "z", "vx", "vy", "vz"), "f8"))


def save(stream, atoms, lmp, box):
    """All of it, as it is after a step."""
    box[:] = lmp.extract_global("boxlo"), lmp.extract_global("boxhi")
    atoms.bind(**columns(lmp))
    return stream.save(lmp.extract_global("ntimestep"))


def make_room(restart, atoms, lmp, box):
    """In LAMMPS' memory, for as many atoms as this rank gets: anywhere in its domain."""
    lmp.command("clear")  # a snapshot that was tried before may have been damaged
    lmp.file("system.in")
    restart.read("box")
    lmp.reset_box(*box, 0, 0, 0)
    middle = np.add(lmp.extract_global("sublo"), lmp.extract_global("subhi")) / 2
    rows = restart.rows(atoms)
    lmp.create_atoms(rows, None, [1] * rows, [*middle] * rows)
    atoms.bind(**columns(lmp))


def go_on(restart, lmp):
    """What was read is LAMMPS' own: it sends each atom home."""
    lmp.command("displace_atoms all move 0 0 0 units box")
    lmp.command(f"reset_timestep {restart.step}")
# [guide]


def say(text):
    """Prints on the first rank."""
    if WORLD.rank == 0:
        print(text, flush=True)


def energies(lmp):
    """Energies per atom, with all their digits."""
    return " ".join(f"{lmp.get_thermo(name):.17g}" for name in ("pe", "ke", "etotal"))


def main():
    """Begins at the start, or at the newest snapshot of the run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", required=True, help="the run's directory at the target")
    parser.add_argument("--staging", help="the node's own directory (/dev/shm)")
    parser.add_argument("--cells", type=int, default=40, help="of 4 atoms along each edge of the box (40: 256,000 atoms)")
    parser.add_argument("--steps", type=int, default=1000, help="the last step")
    parser.add_argument("--every", type=int, default=50, help="steps between two saves")
    parser.add_argument("--script", help="looks at each snapshot beside the run: insitu.py")
    given = parser.parse_args()
    if given.every < 1:
        parser.error("--every must be 1 or more")
    lmp, box = open_lammps(cells=given.cells, every=given.every), np.zeros((2, 3))
    run, staging, script = (path and os.path.abspath(path) for path in (given.run, given.staging, given.script))
    looks = {"insitu": {"look": {"kind": "script", "script": script, "python": sys.executable}}} if script else {}
    os.chdir(HERE)  # where the inputs are, which name each other
    with forebay.Session(run, comm=WORLD, staging=staging, log=say) as session:
        stream = session.stream("restart", slots=2, **looks)
        atoms = describe(stream, lmp, box)
        restart = stream.restore(lambda chosen: make_room(chosen, atoms, lmp, box))
        if restart is None:
            lmp.file("melt.in")
        else:
            go_on(restart, lmp)
            lmp.command("run 0 post no")
        step = lmp.extract_global("ntimestep")
        say(f"step {step} energies {energies(lmp)} {'from ' + restart.source if restart else 'from the lattice'}")
        while step < given.steps:
            lmp.command(f"run {min(given.every, given.steps - step)} pre no post no")
            step = lmp.extract_global("ntimestep")
            try:
                told = f"saved in {1000 * save(stream, atoms, lmp, box).blocked_seconds:.1f} ms"
            except (forebay.RetryError, forebay.FullError) as problem:  # of storage: the run goes on, the next save tries
                told = f"not saved: {problem}"
            say(f"step {step} energies {energies(lmp)} {told}")
    lmp.close()


if __name__ == "__main__":
    main()
