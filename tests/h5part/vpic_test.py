"""Goal: a particle code that speaks H5Part alone gets a genuine H5Part file, whatever its ranks, and reads it on others.

Method: vpic.c writes three steps on 1, 2, 3 and 5 ranks; h5py looks at layout and values; vpic.c reads on another count.
"""

import clients
import h5py
import numpy
from forebay_test import expect


def count_of(rank, ranks, step):
    if rank == 3:
        return 0 if step == 0 else 40
    return 1000 + 150 * rank // max(ranks - 1, 1) + 7 * step


def check(path, ranks, steps):
    with h5py.File(path) as file:
        expect(sorted(file) == sorted(f"Step#{10 * step}" for step in range(steps)), f"steps {list(file)}")
        for step in range(steps):
            group = file[f"Step#{10 * step}"]
            rows = sum(count_of(rank, ranks, step) for rank in range(ranks))
            index = numpy.arange(rows)
            base = (index % 100000).astype("f4") + numpy.float32(0.25 * step)
            wanted = {"dX": base, "dY": base + 1, "dZ": base + 2, "i": (index * 10 + step).astype("i4"), "Ux": -base,
                      "Uy": -base - 1, "Uz": -base - 2, "q": base * 2}
            expect(set(group) == set(wanted), f"datasets {list(group)}")
            for name, values in wanted.items():
                dataset = group[name]
                expect(dataset.shape == (rows,) and dataset.dtype == values.dtype, f"{name} is {dataset}")
                expect(dataset.chunks is None and dataset.maxshape == (rows,), f"{name} is not contiguous")
                expect(numpy.array_equal(dataset[...], values), f"values of {name} at step {step}")
        expect(not file["Step#0"].attrs and not file.attrs, "attributes that nobody wrote")


def main():
    with clients.workplace() as work:
        for ranks, readers in ((1, 2), (2, 3), (3, 1), (5, 2)):
            path = work / f"dump-{ranks}.h5part"
            clients.run(ranks, "h5part_vpic", "write", path, 3)
            expect(not clients.run_of(path).exists(), f"{path}.forebay stays")
            check(path, ranks, 3)
            clients.run(readers, "h5part_vpic", "read", path, 3, ranks)
            clients.h5dump(path)
        path = work / "dump-3.h5part"
        clients.run(3, "h5part_vpic", "append", path, 2, 3)
        check(path, 3, 5)
        clients.run(2, "h5part_vpic", "again", work / "again.h5part", 2)
        check(work / "again.h5part", 2, 2)
        for step in range(2):
            check(work / f"again.h5part-{step}", 2, 1)
        clients.run(3, "h5part_vpic", "refused", work / "refused.h5part", 0)
        clients.run(2, "h5part_vpic", "write", path, 1)  # over what was there
        check(path, 2, 1)
        expect(clients.nothing_staged(), "something stays staged")


main()
