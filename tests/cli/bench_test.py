#!/usr/bin/env python3
"""Goal: `mpiexec -n N forebay bench ...` measures with N ranks and touches only files that it made. The program
`forebay` is not linked to MPI.

Method: the smallest bench of saves on 1 and 2 ranks, in a directory with a user's stream of the same name, and on full
storage; ldd of both programs.
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


def full(scratch):
    """On full storage in a private mount. Afterwards only the directory of the mount is left."""
    command = f"mount -t tmpfs -o size=1m tmpfs {scratch}/run && {PROGRAM} bench save --bytes-per-rank 4000000 --repeats 1 " \
        f"--run {scratch}/run --staging {scratch}; code=$?; ls -A {scratch}/run; exit $code"
    done = subprocess.run(["unshare", "--mount", "sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 5 and done.stdout == "", done
    assert "No space left on device" in done.stderr and "The files of the benchmark are removed" in done.stderr, done
    assert "Next:" not in done.stderr, done


def main():
    if not PROGRAM.with_name("forebay-mpi").exists() or not shutil.which("mpiexec"):
        print("skipped: a build without MPI, or no mpiexec")
        return 77
    assert "libmpi" in libraries(PROGRAM.with_name("forebay-mpi")), "ldd tells no MPI of forebay-mpi"
    assert "libmpi" not in libraries(PROGRAM), f"{PROGRAM} is linked to MPI"
    with tempfile.TemporaryDirectory(prefix="forebay-bench-") as scratch:
        mine = pathlib.Path(scratch, "run/particles/step-000100/notes.txt")
        mine.parent.mkdir(parents=True)
        mine.write_text("a user's", encoding="ascii")
        before = sorted(pathlib.Path(scratch).rglob("*"))
        for ranks in (1, 2):
            command = ["mpiexec", "-n", str(ranks), str(PROGRAM), "bench", "save", "--bytes-per-rank", "38000", "--repeats",
                       "1", "--run", f"{scratch}/run", "--staging", scratch, "--json"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stderr}"
            assert json.loads(done.stdout)["ranks"] == ranks, done.stdout
            assert sorted(pathlib.Path(scratch).rglob("*")) == before
        if os.geteuid() == 0:
            full(scratch)
            assert sorted(pathlib.Path(scratch).rglob("*")) == before
    for option, least, value in [("--repeats", 1, "0"), ("--bytes-per-rank", 38, "37"), ("--variables", 0, "-5")]:
        refused = subprocess.run([PROGRAM, "bench", "save", option, value], capture_output=True, text=True, check=False)
        assert refused.returncode == 2 and f"{option} must be {least} or more, not {value}" in refused.stderr, refused
    huge = subprocess.run([PROGRAM, "bench", "save", "--bytes-per-rank", "99999999999999"], capture_output=True, text=True, check=False)
    assert huge.returncode == 5 and "there is not enough memory for 99999999999999 bytes" in huge.stderr, huge
    return 0


if __name__ == "__main__":
    sys.exit(main())
