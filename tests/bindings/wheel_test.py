"""Goal: the wheel of scripts/wheel works in a clean environment, with the MPI of mpi4py: Open MPI or MPICH.

Method: the file writer and the choice of the MPI are tested alone. If build/dist has a wheel, or FOREBAY_WHEEL names it:
for each CPython and MPI a new environment gets the wheel, mpi4py and that MPI from the registry. Two ranks save and are
killed. Three ranks restart and compare the values. `forebay verify` reads the run. A C program is linked. With --build
(nightly) scripts/wheel builds the wheel twice, and the files must be equal.
"""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SIZE_MAX, MINUTES_MAX = 25_000_000, 3
SIMULATION = """
import os, sys
import numpy as np
from mpi4py import MPI
import forebay
world, (first, last, killed) = MPI.COMM_WORLD, map(int, sys.argv[1:])
rows, columns = 12, 5
start, end = rows * world.rank // world.size, rows * (world.rank + 1) // world.size
u = np.zeros((end - start, columns))
values = np.arange(start, end)[:, None] * 100.0 + np.arange(columns)
with forebay.Session("run", comm=world, staging="memory") as session:
    stream = session.stream("restart", slots=2)
    stream.array("u", u, shape=(rows, columns), start=(start, 0))
    restart = stream.restore()
    assert (restart is None) == (first == 0), restart
    if restart is not None:
        assert (u == values + restart.step).all(), (world.rank, restart.step, u)
        first = restart.step + 1
    for step in range(first, last):
        u[:] = values + step
        stream.save(step, float(step))
        if step == killed:
            world.Barrier()
            os.kill(os.getpid(), 9)
print("restarted after", None if restart is None else restart.step, "of", world.size, flush=True)
"""
PROGRAM = """
#include <stdio.h>
#include "forebay/forebay_mpi.h"
int main(int count, char** words) {
    MPI_Init(&count, &words);
    printf("open returns %d\\n", forebay_open_mpi == 0);
    return MPI_Finalize();
}
"""


def module(path):
    """A Python file as a module, without its package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def run(*words, cwd, seconds=600, fails=False):
    """Runs a command in a clean environment; returns what it printed."""
    bin_folder = pathlib.Path(words[0]).parent
    environment = {"PATH": f"{bin_folder}:/usr/bin:/bin", "HOME": str(cwd), "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_ALLOW_RUN_AS_ROOT": "1", "OMPI_MCA_btl": "self,sm,tcp",
                   "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=environment, check=False, text=True, timeout=seconds,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert (done.returncode != 0) == fails, (words, done.returncode, done.stdout[-3000:])
    return done.stdout


def files_are_equal():
    """The writer of the file: bytes depend on the contents, the modes and SOURCE_DATE_EPOCH alone."""
    pack = module(SOURCE / "packaging" / "wheel" / "pack.py")
    os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
    with tempfile.TemporaryDirectory() as folder:
        written = []
        for name in ("one", "two"):
            package = pathlib.Path(folder, name, "forebay")
            package.mkdir(parents=True)
            for file in sorted(("b.py", "a.py"), reverse=name == "two"):
                (package / file).write_text(f"# {file}\n")
            written.append(pack.wheel(package.parent, pathlib.Path(folder, f"out-{name}"), SOURCE).read_bytes())
        assert written[0] == written[1]


def family_is_right():
    """The texts of MPI_Get_library_version() of libraries with each ABI."""
    family = module(SOURCE / "src" / "bindings" / "python" / "forebay" / "_mpi.py").family
    assert family("Open MPI v5.0.11, package: x") == "openmpi"
    for text in ("MPICH Version:      5.0.2", "Intel(R) MPI Library 2021.13", "MPI VERSION    : CRAY MPICH version 8.1"):
        assert family(text) == "mpich", text
    for text in ("HPE MPT 2.28", "IBM Spectrum MPI 10.4"):
        assert family(text) == "", text


def interpreters():
    """Each CPython of this machine that the wheel is for, by version."""
    places = {}
    for path in sorted(pathlib.Path.home().joinpath(".pyenv", "versions").glob("3.*/bin/python")):
        version = tuple(map(int, path.parts[-3].split(".")[:2]))
        if version >= (3, 9):
            places[version] = path
    places.setdefault(sys.version_info[:2], pathlib.Path(sys.executable))
    return places


def works(wheel, python, mpi, work):
    """Save, kill, restart, verify and link in a new environment. Returns the seconds from pip to the first restart."""
    begin = time.monotonic()
    run(python, "-m", "venv", work / "venv", cwd=work)
    own = work / "venv" / "bin"
    run(own / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, "mpi4py", mpi, cwd=work)
    (work / "simulation.py").write_text(SIMULATION)
    (work / "memory").mkdir()
    start = [own / "mpiexec", "-n"]
    run(*start, 2, own / "python", "simulation.py", 0, 9, 4, cwd=work, fails=True)
    output = run(*start, 3, own / "python", "simulation.py", 1, 9, -1, cwd=work)
    seconds = time.monotonic() - begin
    assert output.count("restarted after 4 of 3") == 3 or output.count("restarted after 3 of 3") == 3, output
    output = run(own / "forebay", "verify", "run", cwd=work)
    listed = run(own / "forebay", "ls", "run", cwd=work)
    assert "committed" in listed, listed
    if mpicc := shutil.which(f"mpicc.{mpi}"):
        links(own, mpicc, work)
    print(f"{python} {mpi}: {seconds:.0f} s from pip to the restart; verify: {output.strip().splitlines()[-1]}", flush=True)
    return seconds


def links(own, mpicc, work):
    """CMake finds the package and its forebay_mpi for the MPI of a C project."""
    folder = run(own / "python", "-m", "forebay", "--cmake-dir", cwd=work).strip()
    project = work / "project"
    project.mkdir()
    (project / "main.c").write_text(PROGRAM)
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(user C CXX)\nfind_package(forebay REQUIRED COMPONENTS mpi)\n"
        "add_executable(user main.c)\ntarget_link_libraries(user PRIVATE forebay::forebay_mpi)\n")
    run("/usr/bin/cmake", "-S", project, "-B", project / "build", f"-Dforebay_DIR={folder}",
        f"-DMPI_C_COMPILER={mpicc}", f"-DMPI_CXX_COMPILER={mpicc.replace('mpicc', 'mpicxx')}", cwd=work)
    run("/usr/bin/cmake", "--build", project / "build", cwd=work)
    output = run("/usr/bin/ldd", project / "build" / "user", cwd=work)
    assert f"forebay/lib/{'openmpi' if 'openmpi' in mpicc else 'mpich'}/libforebay_mpi.so" in output, output
    run(project / "build" / "user", cwd=work)


def main():
    """All of it; 77 if there is no wheel."""
    files_are_equal()
    family_is_right()
    pythons = interpreters()
    if "--build" in sys.argv:
        folders = [SOURCE / "build" / name for name in ("dist", "dist-again")]
        for folder in folders:
            shutil.rmtree(SOURCE / "build" / "manylinux" / "build-mpich", ignore_errors=True)
            subprocess.run([SOURCE / "scripts" / "wheel", "--out", folder], check=True)
        first, second = (next(folder.glob("*.whl")).read_bytes() for folder in folders)
        assert first == second, "the wheel built again has other bytes"
    else:
        pythons = dict(list(pythons.items())[-1:])
    wheels = [pathlib.Path(os.environ["FOREBAY_WHEEL"])] if "FOREBAY_WHEEL" in os.environ else \
        sorted(SOURCE.joinpath("build", "dist").glob("forebay-*.whl"))
    if not wheels:
        print("skipped: build/dist has no wheel, which scripts/wheel makes (the writer and the choice of MPI are tested)")
        sys.exit(77)
    assert wheels[-1].stat().st_size <= SIZE_MAX, wheels[-1].stat().st_size
    for python in pythons.values():
        for mpi in ("mpich", "openmpi"):
            with tempfile.TemporaryDirectory() as folder:
                assert works(wheels[-1], python, mpi, pathlib.Path(folder)) < 60 * MINUTES_MAX or "--build" not in sys.argv


if __name__ == "__main__":
    main()
