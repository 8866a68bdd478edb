#!/usr/bin/env python3
"""Goal: the checksum kernels of Arm give the right sums and copies, also where a build machine is none.

Method: compiles the kernels, their choice and their unit test for Armv8, and runs the test under an emulator.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64-static"
FLAGS = {"arm_pmull": ["-march=armv8-a+crc+crypto"], "arm_crc32": ["-march=armv8-a+crc"]}
SOURCES = ["src/core/base/crc32c.cpp", "src/core/base/crc32c_test.cpp", "src/core/base/result.cpp", "src/core/base/crc32c/portable.cpp",
           "tests/support/doctest_main.cpp"]


def said(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, f"{command} ends with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def header_only(name, folder):
    """A link to a library's headers alone: what else lies beside them is for another processor."""
    found = next((path for path in (pathlib.Path("/usr/include"), pathlib.Path("/usr/local/include")) if (path / name).is_dir()), None)
    if not found:
        print(f"skipped: the headers of {name} are neither in /usr/include nor in /usr/local/include")
        sys.exit(77)
    (folder / name).symlink_to(found / name)


def main():
    for program in (COMPILER, EMULATOR):
        if not shutil.which(program):
            print(f"skipped: no {program}")
            return 77
    with tempfile.TemporaryDirectory(prefix="forebay-arm-") as scratch:
        folder = pathlib.Path(scratch)
        for name in ("doctest", "fmt"):
            header_only(name, folder)
        compile_ = [COMPILER, "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-DFMT_HEADER_ONLY", "-Isrc", "-Iinclude", f"-isystem{folder}"]
        for kernel, flags in FLAGS.items():
            said(*compile_, *flags, "-c", f"src/core/base/crc32c/{kernel}.cpp", "-o", folder / f"{kernel}.o")
        said(*compile_, "-static", *SOURCES, *(folder / f"{kernel}.o" for kernel in FLAGS), "-o", folder / "test")
        ran = said(EMULATOR, "-cpu", "max", folder / "test")
        for kernel in ("pmull", "crc32", "portable"):
            assert f"MESSAGE: {kernel}\n" in ran, f"{kernel} was not tried:\n{ran}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
