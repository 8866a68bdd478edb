"""Goal: every header can be included alone and first, the public ones need nothing but the standard library, and those
for C are C99.

Method: compiles each header by itself, public ones with include/ as the only folder of ours. mpi.hpp is compiled
where an MPI compiler wrapper is found.
"""

import concurrent.futures
import os
import shutil
import subprocess

import tree


def compile_as_c(path):
    command = [os.environ.get("CC", "cc"), "-std=c99", "-pedantic", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
               f"-I{tree.ROOT / 'include'}", "-x", "c", "-"]
    done = subprocess.run(command, input=f'#include "{path}"\n#include "{path}"\nint unused;\n', capture_output=True,
                          text=True, check=False)
    return None if done.returncode == 0 else f"{tree.shown(path)} is not C99:\n{done.stderr}"


def compile_alone(compiler, path):
    folders = ["include"] if tree.shown(path).startswith("include/") else ["include", "src", "tests"]
    command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers"]
    command += ["-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]  # the bindings that MPI-3 removed; CMake skips them too
    command += [f"-I{tree.ROOT / folder}" for folder in folders]
    if tree.shown(path).startswith("src/views/") or tree.shown(path).startswith("tests/"):
        command += subprocess.run(["pkg-config", "--cflags", "hdf5-serial"], capture_output=True, text=True,
                                  check=False).stdout.split()
    source = f'#include "{path}"\n#include "{path}"\n'
    done = subprocess.run([*command, "-x", "c++", "-"], input=source, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"{tree.shown(path)} does not compile alone:\n{done.stderr}"


def main():
    compiler = os.environ.get("CXX", "c++")
    mpi_compiler = shutil.which("mpicxx")
    jobs = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path in tree.tracked(".h", under=("include/",)):
            jobs += [pool.submit(compile_as_c, path), pool.submit(compile_alone, compiler, path)]
        for path in tree.tracked(".hpp", under=("src/", "include/", "tests/")):
            text = path.read_text()
            needs_mpi = "mpi.h>" in text or "forebay/mpi.hpp" in text or '/mpi_' in text
            if needs_mpi and not mpi_compiler:
                print(f"not compiled, no mpicxx: {tree.shown(path)}")
                continue
            jobs.append(pool.submit(compile_alone, mpi_compiler if needs_mpi else compiler, path))
    problems = [job.result() for job in jobs if job.result()]
    tree.finish("headers", len(jobs), problems)


main()
