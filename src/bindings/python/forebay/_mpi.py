"""The extension module for communicators. A wheel has the module twice, for Open MPI and for the ABI of MPICH."""

import ctypes
import importlib
import pathlib
import sys


def family(version):
    """The folder of the module, from the text of MPI_Get_library_version(); "" if the ABI of that MPI is not known."""
    if version.startswith("Open MPI"):
        return "openmpi"
    # All of them have the ABI of MPICH.
    return "mpich" if any(name in version for name in ("MPICH", "Intel(R) MPI", "MVAPICH")) else ""


def binding():
    """The module. An ImportError says why there is none."""
    if not pathlib.Path(__file__).with_name("mpich").is_dir():
        return importlib.import_module("._forebay_mpi", __package__)
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is None:
        raise ImportError("mpi4py.MPI is not imported, so the MPI of this program is unknown")
    version = mpi.Get_library_version()
    if not family(version):
        raise ImportError(f"this wheel serves MPIs with the ABI of MPICH, and Open MPI, not {version.splitlines()[0]}. "
                          "Next: build Forebay with this MPI")
    # The module names no library of MPI, because sites name it differently. It finds the functions of MPI among the global
    # symbols. This call makes the symbols of mpi4py's library global.
    ctypes.CDLL(mpi.__file__, mode=ctypes.RTLD_GLOBAL)
    return importlib.import_module(f".{family(version)}._forebay_mpi", __package__)
