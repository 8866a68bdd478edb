"""What the tests here and bench/lammps need beside the build; without it they say so and are skipped."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("FOREBAY_BINARY_DIR", HERE.parents[1] / "build"))
ENVIRONMENT = os.environ | {
    "PYTHONPATH": str(BUILD / "python"), "PYTHONDONTWRITEBYTECODE": "1", "FOREBAY_AGENT": str(BUILD / "bin/forebay"),
    # More ranks than cores, and as root in containers: Open MPI refuses or crawls otherwise. Other MPIs ignore these.
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_btl": "self,vader"}
PROBE = """
import forebay._forebay_mpi, melt, re
melt.open_lammps().close()
print("loads", *sorted(set(re.findall(r"/(libmpi[.]so[.0-9]*|libmpich[.]so[.0-9]*)", open("/proc/self/maps").read()))))
"""


def python(ranks, *arguments):
    """The command of a Python program on some ranks, all of which end when one fails."""
    return ["mpiexec", "-n", str(ranks), sys.executable, "-m", "mpi4py", *map(str, arguments)]


def skip(reason):
    """77 is what CTest takes for skipped."""
    print(f"skipped: {reason}")
    sys.exit(77)


def look():
    """Skips, with the reason, where LAMMPS, its Python module or ours is missing, or where they load different MPIs."""
    if not list((BUILD / "python/forebay").glob("_forebay_mpi.*so")):
        skip("the Python package is not built with MPI")
    if not shutil.which("lmp"):
        skip("there is no program lmp (Debian's packages lammps and python3-lammps; scripts/bootstrap installs them)")
    done = subprocess.run(python(1, "-c", PROBE), capture_output=True, text=True, check=False, cwd=HERE,
                          env=ENVIRONMENT | {"PYTHONPATH": f"{ENVIRONMENT['PYTHONPATH']}:{HERE}"})
    libraries = re.search(r"loads (.*)", done.stdout)
    if done.returncode or not libraries:
        skip("LAMMPS cannot be driven from Python here (Debian's package python3-lammps): "
             f"{done.stderr.strip() or done.stdout.strip()}")
    if len(libraries.group(1).split()) != 1:
        skip(f"LAMMPS and Forebay load different MPI libraries: {libraries.group(1)}")


if __name__ == "__main__":
    look()
