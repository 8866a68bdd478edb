"""Goal: the calls of H5Part for Fortran 77, by fortran.f90 on 2 ranks; h5py looks at what it wrote."""

import clients
import h5py
import numpy
from forebay_test import expect


def main():
    with clients.workplace() as work:
        clients.run(2, "h5part_fortran", cwd=work)
        with h5py.File(work / "fortran.h5part") as file:
            expect(list(file) == ["Step#0"], f"{list(file)}")
            expect(file.attrs["author"] == b"someone", f"{file.attrs['author']}")
            index = numpy.arange(1, 61)
            expect(numpy.array_equal(file["Step#0/minus"], -0.5 * index), "the strided column")
        with h5py.File(work / "parallel.h5part") as file:
            expect(list(file) == ["Step#0", "Step#1"], f"{list(file)}")
            expect(numpy.array_equal(file["Step#1/mine"], 2000 + numpy.arange(1, 121)), "the appended step")
        expect(clients.nothing_staged(), "something stays staged")


main()
