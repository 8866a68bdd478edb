"""Goal: the calls of H5Part for Fortran 77, by fortran.f90 on 2 ranks, and by fortran77.f, which includes H5PartF.h; h5py
looks at what they wrote.
"""

import clients
import h5py
import numpy
from forebay_test import expect


def main():
    with clients.workplace() as work:
        clients.run(2, "h5part_fortran", cwd=work)
        clients.run(None, "h5part_fortran77", cwd=work)
        with h5py.File(work / "fortran.h5part") as file:
            expect(list(file) == ["Step#0"], f"{list(file)}")
            expect(file.attrs["author"] == b"someone", f"{file.attrs['author']}")
            index = numpy.arange(1, 61)
            expect(numpy.array_equal(file["Step#0/minus"], -0.5 * index), "the strided column")
        with h5py.File(work / "parallel.h5part") as file:
            expect(list(file) == ["Step#0", "Step#1"], f"{list(file)}")
            expect(numpy.array_equal(file["Step#1/mine"], 2000 + numpy.arange(1, 121)), "the appended step")
        with h5py.File(work / "fortran77.h5part") as file:
            expect(numpy.array_equal(file["Step#0/id"], numpy.arange(101, 106)), "the column of the fixed form")
        expect(clients.nothing_staged(), "something stays staged")


main()
