"""Goal: every header compiles when it is included alone and first. Public headers need only the standard library. C
headers are C99.

Method: the build compiles a source's first include alone, if that header says `#pragma once`. With FOREBAY_JUMBO
modules are one text, and the presets that compile each source do it: dev, audit and asan. Every other header is
compiled by itself, included twice; public headers see only include/. Headers with MPI need an MPI compiler wrapper.
H5Part.h contains HDF5's types, GenericIO.h is C++.
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
    """The first includes of a source. Tests are left out: they are compiled after all headers of their module."""
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
    command += ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]  # without the C++ bindings that MPI-3 removed, as in CMake
    command += [f"-I{tree.ROOT / folder}" for folder in folders]
    command += flags_for(path)
    if "src/bindings/python/" in str(path):  # the Python environment has nanobind
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
