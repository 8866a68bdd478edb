"""The command `forebay` of the package: starts the native program."""

import os
import pathlib
import sys


def main():
    """Replaces this process by the program: inside an installed package, or in bin/ of a build folder. The exit code
    is the program's."""
    here = pathlib.Path(__file__).absolute().parent  # in a build folder this is a link to the source; do not follow it
    places = [here / "bin" / "forebay", here.parent.parent / "bin" / "forebay"]
    for program in places:
        if program.is_file():
            os.execv(program, [str(program), *sys.argv[1:]])
    sys.exit("forebay: this package has no program. It is missing at " + " and ".join(map(str, places))
             + ". Next: build the target forebay_program, or install the package by pip.")
