"""The command `forebay` of the package: it becomes the native program."""

import os
import pathlib
import sys


def main():
    """Becomes the program, whose exit code is the command's: inside an installed package, or in bin/ of a build folder."""
    here = pathlib.Path(__file__).absolute().parent  # in a build folder a link to the source: it is not followed
    places = [here / "bin" / "forebay", here.parent.parent / "bin" / "forebay"]
    for program in places:
        if program.is_file():
            os.execv(program, [str(program), *sys.argv[1:]])
    sys.exit("forebay: this package has no program. It is missing at " + " and ".join(map(str, places))
             + ". Next: build the target forebay_program, or install the package by pip.")
