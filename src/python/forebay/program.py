"""The command `forebay` of an installed package: the native program beside it."""

import os
import pathlib
import sys


def main():
    """Becomes the program; its exit code is the command's."""
    program = pathlib.Path(__file__).parent / "bin" / "forebay"
    os.execv(program, [str(program), *sys.argv[1:]])
