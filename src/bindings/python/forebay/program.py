"""The command `forebay` of the package: starts the native program. Only --cmake-dir is answered here."""

import os
import pathlib
import sys


def _cmake_folder(here):
    """The folder for `cmake -Dforebay_DIR=`. Only an installed package has one."""
    folder = here / "lib" / "cmake" / "forebay"
    if not folder.is_dir():
        sys.exit(f"forebay: this package has no files for CMake at {folder}. Next: install it with pip, or use the "
                 "folder lib/cmake/forebay where `cmake --install` put Forebay.")
    return folder


def main():
    """Replaces this process by the program: inside an installed package, or in bin/ of a build folder. The exit code
    is the program's."""
    here = pathlib.Path(__file__).absolute().parent  # in a build folder this is a link to the source; do not follow it
    if sys.argv[1:] == ["--cmake-dir"]:
        print(_cmake_folder(here))
        return
    places = [here / "bin" / "forebay", here.parent.parent / "bin" / "forebay"]
    for program in places:
        if program.is_file():
            os.execv(program, [str(program), *sys.argv[1:]])
    sys.exit("forebay: this package has no program. It is missing at " + " and ".join(map(str, places))
             + ". Next: build the target forebay_program, or install the package by pip.")
