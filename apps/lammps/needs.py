"""The needs of these tests and of bench/lammps besides the build. Without them the tests are skipped."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

DEBIAN = "/usr/lib/python3/dist-packages"
HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("FOREBAY_BINARY_DIR", HERE.parents[1] / "build"))
ENVIRONMENT = os.environ | {
    "PYTHONPATH": str(BUILD / "python"), "PYTHONDONTWRITEBYTECODE": "1", "FOREBAY_AGENT": str(BUILD / "bin/forebay"),
    # More ranks than cores, and as root in containers: Open MPI refuses or crawls otherwise. Other MPIs ignore these.
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_btl": "self,vader"}


def python(ranks, *arguments):
    """The command of a Python program on some ranks. If one rank fails, all end."""
    return ["mpiexec", "-n", str(ranks), sys.executable, "-m", "mpi4py", *map(str, arguments)]


def skip(reason):
    """Skips the test: CTest takes 77 for skipped."""
    print(f"skipped: {reason}")
    sys.exit(77)


def mpi_of(binary):
    """The names of the MPI libraries loaded by a program or library."""
    found = subprocess.run(["ldd", str(binary)], capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r"^\s*(libmpi\.so\S*|libmpich\.so\S*)", found, re.MULTILINE)))


def look():
    """Skips the test, with the reason, if LAMMPS, its Python module or ours is missing, or if they load different MPIs.
    The tests find all other faults."""
    ours = list((BUILD / "python/forebay").glob("_forebay_mpi.*so"))
    if not ours:
        skip("the Python package is not built with MPI")
    program = shutil.which("lmp")
    if not program:
        skip("there is no program lmp (Debian's package lammps; scripts/bootstrap installs it)")
    module = subprocess.run([sys.executable, "-c", f"import sys; sys.path.append({DEBIAN!r}); import lammps"],
                            capture_output=True, text=True, check=False)
    if module.returncode:
        skip("there is no module lammps (Debian's package python3-lammps; scripts/bootstrap installs it): "
             f"{module.stderr.strip().rpartition(chr(10))[2]}")
    if mpi_of(program) != mpi_of(ours[0]):
        skip(f"LAMMPS loads {mpi_of(program)}, Forebay {mpi_of(ours[0])}: not the same MPI")


if __name__ == "__main__":
    look()
