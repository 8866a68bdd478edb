"""Goal: melt.py gives Forebay LAMMPS' own memory, for saves and for reads, also after LAMMPS has moved it.

Method: on 2 ranks, one without atoms, the test compares addresses with LAMMPS' pointers. Changes after bind() must be
saved. LAMMPS' arrays must move between two saves. On 5 ranks a restart fills LAMMPS' arrays, and each atom must end in
the part of its rank.
"""

import ctypes
import pathlib
import subprocess
import sys
import tempfile

import needs


def address(pointer):
    """The address that a ctypes pointer holds."""
    return ctypes.cast(pointer, ctypes.c_void_p).value


def check_views(lmp, columns):
    """Each column lies at LAMMPS' pointer, with LAMMPS' stride, for this rank's atoms."""
    rows = lmp.extract_global("nlocal")
    for names, pointer in [(("x", "y", "z"), lmp.extract_atom("x")[0]), (("vx", "vy", "vz"), lmp.extract_atom("v")[0]),
                           (("id",), lmp.extract_atom("id")), (("type",), lmp.extract_atom("type")),
                           (("image",), lmp.extract_atom("image"))]:
        for index, name in enumerate(names):
            place, stride = columns[name].__array_interface__["data"][0], columns[name].strides[0]
            expected = address(pointer) + index * columns[name].itemsize
            assert place == expected and stride == len(names) * columns[name].itemsize, f"{name} lies elsewhere"
            assert len(columns[name]) == rows, f"{name} has {len(columns[name])} rows, LAMMPS {rows}"


def start(melt, stream, np):
    """Opens LAMMPS with a box and describes its atoms. There are no atoms yet."""
    lmp, box = melt.open_lammps(cells=6), np.zeros((2, 3))
    return lmp, box, melt.describe(stream, lmp, box)


def save_twice(melt, forebay, np, run, staging):
    """Saves step 0 with values changed after bind(), and step 1 with more atoms, in moved arrays. All on rank 0."""
    with forebay.Session(run, comm=melt.WORLD, staging=staging) as session:
        stream = session.stream("restart", slots=2)
        lmp, box, atoms = start(melt, stream, np)
        lmp.file("system.in")
        box[:] = lmp.extract_global("boxlo"), lmp.extract_global("boxhi")
        lmp.command("create_atoms 1 single 1 1 1")
        first = melt.columns(lmp)
        check_views(lmp, first)
        atoms.bind(**first)
        lmp.command("velocity all set 1.5 2.5 3.5 units box")
        stream.save(0)
        lmp.command("region corner block 0 5 0 5 0 2.5")
        lmp.command("create_atoms 1 region corner")
        lmp.command("velocity all set 4.5 5.5 6.5 units box")
        lmp.command("reset_timestep 1")
        melt.save(stream, atoms, lmp, box)
        check_views(lmp, atoms.bound)
        moved = atoms.bound["x"].__array_interface__["data"][0] != first["x"].__array_interface__["data"][0]
        rows = melt.WORLD.allgather((len(first["x"]), len(atoms.bound["x"])))
        assert rows[1] == (0, 0) and rows[0][0] == 1 and rows[0][1] > 100, f"atoms before and after on each rank: {rows}"
        assert moved or melt.WORLD.rank, "LAMMPS has not moved its arrays, so that nothing was tested"
        lmp.close()


def read_back(melt, forebay, np, run, staging, step, velocity):
    """Reads into LAMMPS' memory: first this rank's share, after go_on() the atoms in its part of the box."""
    with forebay.Session(run, comm=melt.WORLD, staging=staging) as session:
        stream = session.stream("restart", slots=2)
        lmp, box, atoms = start(melt, stream, np)
        restart = stream.newest(below=step + 1)
        count = melt.WORLD.allreduce(restart.rows(atoms))
        assert restart.step == step and (count == 1 if step == 0 else count > 100), f"{count} atoms of step {restart.step}"
        melt.make_room(restart, atoms, lmp, box)
        restart.read()
        melt.go_on(restart, lmp)
        here = melt.columns(lmp)
        check_views(lmp, here)
        assert melt.WORLD.allreduce(len(here["x"])) == count == lmp.get_natoms(), "not as many atoms as were saved"
        for name, value in zip(("vx", "vy", "vz"), velocity):
            assert (here[name] == value).all(), f"{name} is not {value}"
        for name, low, high in zip(("x", "y", "z"), lmp.extract_global("sublo"), lmp.extract_global("subhi")):
            assert ((here[name] >= low) & (here[name] < high)).all(), f"{name} is outside of this rank's part of the box"
        assert lmp.extract_global("ntimestep") == step
        lmp.close()


def rank(act, run, staging):
    """Runs on each rank."""
    sys.path.insert(0, str(needs.HERE))
    import os  # pylint: disable=import-outside-toplevel
    import numpy as np  # pylint: disable=import-outside-toplevel
    import forebay  # pylint: disable=import-outside-toplevel
    import melt  # pylint: disable=import-outside-toplevel
    os.chdir(needs.HERE)
    if act == "save":
        save_twice(melt, forebay, np, run, staging)
    else:
        read_back(melt, forebay, np, run, staging, 0, (1.5, 2.5, 3.5))
        read_back(melt, forebay, np, run, staging, 1, (4.5, 5.5, 6.5))


def main():
    """Starts 2 ranks and then 5 in a row, so atoms have to cross ranks."""
    needs.look()
    with tempfile.TemporaryDirectory(prefix="forebay-lammps-") as folder:
        (pathlib.Path(folder) / "staging").mkdir()
        for act, ranks in (("save", 2), ("read", 5)):
            command = needs.python(ranks, __file__, act, pathlib.Path(folder) / "run", pathlib.Path(folder) / "staging")
            if code := subprocess.run(command, env=needs.ENVIRONMENT, check=False).returncode:
                sys.exit(code)


if __name__ == "__main__":
    rank(*sys.argv[1:]) if len(sys.argv) > 1 else main()
