"""Goal: `forebay --version` prints the version of CMakeLists.txt, then each option of cmake/dependencies.txt with its
libraries or "no". All programs print the same.

Method: compares the lines with both files, and "no" with the libraries and programs that lie in the build.
"""

import pathlib
import os
import re

from forebay_test import BUILD, expect, output_of

SOURCE = pathlib.Path(os.environ["FOREBAY_SOURCE_DIR"])
# A file that a build has if it has the part.
FILES = {"MPI": "lib/libforebay_mpi.so", "FORTRAN": "lib/libforebay_fortran.so", "HDF5": "lib/libforebay_hdf5.so",
         "S3": "lib/libforebay_s3.so", "CAIRO": "lib/libforebay_drawing.so", "TRANSFER": "bin/forebay-transfer"}


def main():
    version = re.search(r"^project\(forebay VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text(), re.M).group(1)
    rows = [[cell.strip() for cell in line.split("|")]
            for line in (SOURCE / "cmake/dependencies.txt").read_text().splitlines() if not line.startswith("#")]
    options = list(dict.fromkeys(row[2].removeprefix("FOREBAY_") for row in rows))
    text = output_of(BUILD / "bin/forebay", "--version")
    head, *lines = text.splitlines()
    expect(head == f"forebay {version}", "the first line is the version", head)
    parts = dict(re.match(r"  (\w+): (\S.*)$", line).groups() for line in lines)
    required = [option for option in options if option == "required"]
    expect(list(parts) == required + [option for option in options if option not in required] + ["TRANSFER"],
           "each option has one line", text)
    for name, *_ in [row for row in rows if row[2] == "required"]:
        expect(re.search(rf"(^|, ){re.escape(name)} \d+\.\d+", parts["required"]), f"{name} has its version", text)
    for option, file in FILES.items():
        expect((parts[option] != "no") == (BUILD / file).exists(), f"{option} is printed as it was built", text)
    for program in ("forebay-mpi", "forebay-transfer", "forebay-transfer-mpi"):
        if (BUILD / "bin" / program).exists():
            expect(output_of(BUILD / "bin" / program, "--version") == text, f"{program} prints the same", text)


main()
