"""Goal: every header can be included alone and first, the public ones need nothing but the standard library, and those
for C are C99.

Method: what a source of ours includes before all else is compiled alone by the build, if it says `#pragma once`; where modules
are compiled as one text (FOREBAY_JUMBO) by the presets that compile each source, dev, audit and asan.
Each other header is compiled by itself, twice included, public ones with include/ as the only folder of ours. What includes MPI
is compiled where an MPI compiler wrapper is found; H5Part.h has HDF5's types in it, GenericIO.h is of C++.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import tree


HDF5 = ("src/insight/h5/", "src/insight/views/", "src/insight/foreign/hdf5/", "src/bindings/compat/made/h5part/",
        "src/bindings/compat/h5part/", "include/forebay/h5part/", "tests/")
MPI = ("mpi.h>", "forebay/mpi.hpp", "/mpi_", "genericio/GenericIO.h", "bench/")


def first_included():
    """The headers that a source includes before all else; tests see those of their whole module first."""
    found = set()
    for source in tree.tracked(".cpp", under=("src/", "transfer/", "tests/")):
        if source.name.endswith("_test.cpp"):
            continue
        name = re.search(r"^#include (\S+)", source.read_text(), re.MULTILINE)
        if name and name[1].startswith('"'):
            found |= {tree.ROOT / folder / name[1].strip('"') for folder in ("src", "tests", ".")}
    return found


COMPILED = first_included()


def compiled_by_the_build(path):
    return path in COMPILED and "#pragma once" in path.read_text()


def flags_for(path):
    if "/daos/" in tree.shown(path):
        return [f"-I{tree.ROOT / 'transfer/tests/daos/interface'}"]
    if not tree.shown(path).startswith(HDF5):
        return []
    return subprocess.run(["pkg-config", "--cflags", "hdf5-serial"], capture_output=True, text=True, check=False).stdout.split()


def compile_as_c(path):
    command = [os.environ.get("CC", "cc"), "-std=c99", "-pedantic", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
               f"-I{tree.ROOT / 'include'}", *flags_for(path)]
    done = subprocess.run([*command, "-x", "c", "-"], input=f'#include "{path}"\n#include "{path}"\nint unused;\n', capture_output=True,
                          text=True, check=False)
    return None if done.returncode == 0 else f"{tree.shown(path)} is not C99:\n{done.stderr}"


def compile_alone(compiler, path):
    folders = ["include"] if tree.shown(path).startswith("include/") else ["include", "src", "tests", "."]
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers"]
    command += ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]  # the bindings that MPI-3 removed; CMake skips them too
    command += [f"-I{tree.ROOT / folder}" for folder in folders]
    command += flags_for(path)
    if "src/bindings/python/" in str(path):  # nanobind comes with the Python environment
        command += [f"-isystem{found}" for found in (tree.ROOT / "build/venv").glob("lib/python*/site-packages/nanobind/include")]
        command.append(f"-isystem{sysconfig.get_paths()['include']}")
    source = f'#include "{path}"\n#include "{path}"\n'
    done = subprocess.run([*command, "-x", "c++", "-"], input=source, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"{tree.shown(path)} does not compile alone:\n{done.stderr}"


def main():
    compiler = os.environ.get("CXX", "c++")
    mpi_compiler = shutil.which("mpicxx")
    jobs = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        of_c = [path for path in tree.tracked(".h", under=("include/",)) if path.name != "H5PartF.h"]  # is Fortran
        jobs += [pool.submit(compile_as_c, path) for path in of_c if path.name != "GenericIO.h"]
        for path in [*of_c, *tree.tracked(".hpp", under=("src/", "transfer/", "include/", "tests/"))]:
            if compiled_by_the_build(path):
                continue
            text = path.read_text()
            needs_mpi = any(name in text for name in MPI)
            if needs_mpi and not mpi_compiler:
                print(f"not compiled, no mpicxx: {tree.shown(path)}")
                continue
            jobs.append(pool.submit(compile_alone, mpi_compiler if needs_mpi else compiler, path))
    problems = [job.result() for job in jobs if job.result()]
    tree.finish("headers", len(jobs), problems)


main()
