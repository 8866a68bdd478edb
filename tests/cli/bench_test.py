#!/usr/bin/env python3
"""Goal: `mpiexec -n N forebay bench ...` measures with N ranks, and the program `forebay` itself is linked to no MPI.

Method: the smallest bench of saves on 1 and on 2 ranks, in a folder of its own; ldd of both programs.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(os.environ["FOREBAY_AGENT"])


def libraries(program):
    return subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout


def main():
    if not PROGRAM.with_name("forebay-mpi").exists() or not shutil.which("mpiexec"):
        print("skipped: a build without MPI, or no mpiexec")
        return 77
    assert "libmpi" in libraries(PROGRAM.with_name("forebay-mpi")), "ldd tells no MPI of forebay-mpi"
    assert "libmpi" not in libraries(PROGRAM), f"{PROGRAM} is linked to MPI"
    with tempfile.TemporaryDirectory(prefix="forebay-bench-") as scratch:
        for ranks in (1, 2):
            command = ["mpiexec", "-n", str(ranks), str(PROGRAM), "bench", "save", "--bytes-per-rank", "38000", "--repeats",
                       "1", "--run", f"{scratch}/run{ranks}", "--staging", scratch, "--json"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stderr}"
            assert json.loads(done.stdout)["ranks"] == ranks, done.stdout
    refused = subprocess.run([PROGRAM, "bench", "save", "--repeats", "0"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2 and "--repeats must be 1 or more" in refused.stderr, refused
    return 0


if __name__ == "__main__":
    sys.exit(main())
