"""Shared by the tests under a real Slurm: Open MPI's settings, and the steps of a run."""

import re

MPI = """export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=10.93.0.0/24
export OMPI_MCA_oob_tcp_if_include=10.93.0.0/24 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
"""


def expect(good, what, seen=""):
    if not good:
        raise AssertionError(f"{what}\n{seen}")


def committed(run):
    return len(list((run / "restart").glob("step-*/manifest.json")))


def sealed(output):
    return max((int(step) for step in re.findall(r"saved step (\d+)", output)), default=0)
