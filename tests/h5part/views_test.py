"""Goal: particles that are written through views stand in their rows, and a view that cannot be written changes nothing.

Method: views.c on 1, 2, 3 and 5 ranks, of which the fourth has no particles; h5py looks at its files.
"""

import clients
import h5py
import numpy
from forebay_test import expect

N, CUT = 99, 32


def values(group, name, wanted):
    expect(numpy.array_equal(group[name], wanted), f"{group.name}/{name}: {group[name][...]}")


def main():
    with clients.workplace() as work:
        for ranks in (1, 2, 3, 5):
            writers = ranks - 1 if ranks > 3 else ranks
            index = numpy.arange(N * writers)
            path = work / f"passes-{ranks}.h5part"
            clients.run(ranks, "h5part_views", "passes", path)
            with h5py.File(path) as file:
                expect(sorted(file) == ["Step#0", "Step#1", "Step#2"], f"{list(file)}")
                for step in range(3):
                    group = file[f"Step#{step}"]
                    values(group, "x", index + 1000.0 * step)
                    values(group, "id", 2 * index + step)
                    values(group, "part", numpy.where((index % N < CUT) & (step > 0), 0, 2 * index + step))

            path = work / f"points-{ranks}.h5part"
            clients.run(ranks, "h5part_views", "points", path)
            with h5py.File(path) as file:
                values(file["Step#0"], "x", numpy.where(index % 3 == (N - 1) % 3, index, 0))
                if ranks <= 3:
                    values(file["Step#0"], "id", 2 * index)

            path = work / f"beyond-{ranks}.h5part"
            said = clients.run(ranks, "h5part_views", "beyond", path)
            expect("step 1 is NOT in the file" in said and "of 'x' exceeds this rank's 99 rows from 0 on" in said, said)
            with h5py.File(path) as file:
                expect(sorted(file) == ["Step#0", "Step#2"], f"{list(file)}")
                values(file["Step#2"], "x", index + 2000.0)

            path = work / f"passes-{ranks}.h5part"
            clients.run(ranks, "h5part_views", "stored", path)
            with h5py.File(path) as file:
                values(file["Step#0"], "id", 2 * index + 7)
                values(file["Step#0"], "x", index)
                values(file["Step#1"], "x", index + 1000.0)
                expect("new" not in file["Step#2"], f"{list(file['Step#2'])}")
        expect(clients.nothing_staged(), "something stays staged")


main()
