"""Goal: every call of H5Part answers as H5Part's own does, and a serial program needs neither MPI nor mpiexec.

Method: calls.c, linked with the library that has no MPI; then h5py looks at the layout and types of its files.
"""

import clients
import h5py
import numpy
from forebay_test import expect


def values(dataset, wanted, dtype):
    expect(dataset.dtype == dtype and numpy.array_equal(dataset[...], wanted), f"{dataset}: {dataset[...]}")


def is_text(attrs, name, text):
    """A scalar of fixed length with its final NUL."""
    stored = attrs.get_id(name)
    expect(stored.shape == () and stored.dtype == numpy.dtype(f"S{len(text) + 1}"), f"{name}: {stored.dtype}")
    expect(attrs[name] == text.encode(), f"{name}: {attrs[name]}")


def is_numbers(attrs, name, wanted, dtype):
    """One-dimensional even for one value."""
    expect(attrs[name].shape == (len(wanted),) and attrs[name].dtype == dtype, f"{name}: {attrs[name]!r}")
    expect(list(attrs[name]) == wanted, f"{name}: {attrs[name]}")


def check_main(path):
    index = numpy.arange(100)
    with h5py.File(path) as file:
        expect(sorted(file) == [f"Step#{step}" for step in (0, 1, 2, 3, 5, 8)], f"steps {list(file)}")
        is_text(file.attrs, "title", "a run")
        is_numbers(file.attrs, "box", [1.5, 2.5, 3.5], "f8")
        is_numbers(file.attrs, "f4", [0.5], "f4")
        is_numbers(file.attrs, "f8", [0.25], "f8")
        is_numbers(file.attrs, "i4", [-7], "i4")
        is_numbers(file.attrs, "i8", [1 << 40], "i8")
        is_numbers(file.attrs, "chars", [97, 98, 99], "i1")
        is_numbers(file.attrs, "appended", [3], "i4")
        expect(len(file.attrs) == 8, f"attributes {list(file.attrs)}")
        for step in range(4):
            group = file[f"Step#{step}"]
            is_numbers(group.attrs, "time", [0.1 * step], "f8")
            x = index + 1000.0 * step
            values(group["x"], x, "f8")
            y = -index - 50000.0 if step == 1 else -x
            values(group["y"], numpy.where((index == 0) & (step == 3), 77, y), "f8")
            if step == 3:
                values(group["id"], index / 4, "f4")
            else:
                values(group["id"], 5000000000 + index, "i8")
        expect(sorted(file["Step#1"]) == ["id", "late", "x", "y"], f"{list(file['Step#1'])}")
        values(file["Step#1/late"], index / 4, "f4")
        expect(sorted(file["Step#2"]) == ["id", "kind", "x", "y"], f"{list(file['Step#2'])}")
        values(file["Step#2/kind"], index % 7, "i4")
        is_text(file["Step#2"].attrs, "note", "with kinds")
        values(file["Step#5/x"], [1000.0, 1001.0, 1002.0], "f8")
        expect(len(file["Step#8"]) == 0, f"{list(file['Step#8'])}")
        is_numbers(file["Step#8"].attrs, "empty", [1], "i4")


def check_others(work):
    index = numpy.arange(100)
    with h5py.File(work / "named.h5part") as file:
        group = file["Time#00042"]
        values(group["a"], index, "i4")
        values(group["b"], index / 2, "f4")
        values(group["100% odd."], index, "f8")
        offset = group["a"].id.get_offset()
        expect(offset % 65536 != 0 or group["a"].nbytes >= 32768, f"a small dataset is aligned: {offset}")
    with h5py.File(work / "plain.h5part") as file:
        expect(list(file["Step#7"]) == ["n" * 63], f"{list(file['Step#7'])}")
    with h5py.File(work / "empty.h5part") as file:
        expect(len(file) == 0, f"{list(file)}")
        is_text(file.attrs, "why", "")


def check_steps(path, steps):
    with h5py.File(path) as file:
        expect(sorted(file) == [f"Step#{step}" for step in range(steps)], f"{path}: {list(file)}")
        for group in file.values():
            values(group["x"], numpy.arange(100), "f8")
        return {name: list(group.attrs.items()) for name, group in file.items()}


def main():
    with clients.workplace() as work:
        with h5py.File(work / "flat.h5part", "w") as file:
            file["Step#0/x"] = numpy.arange(20.0).reshape(10, 2)
        with h5py.File(work / "theirs.h5part", "w") as file:
            file[f"{'n' * 56}#000012/x"] = numpy.arange(20.0)
        clients.run(None, "h5part_calls", "flat.h5part", "theirs.h5part", cwd=work)
        check_main(work / "main.h5part")
        check_others(work)
        check_steps(work / "left.h5part", 2)
        with h5py.File(work / "cut.h5part") as file:
            expect(list(file) == [f"{'n' * 56}#000012"], f"{list(file)}")
        with h5py.File(work / "views.h5part") as file:
            index = numpy.arange(50)
            expect(sorted(file) == ["Step#0", "Step#1"], f"{list(file)}")
            for step in range(2):
                group = file[f"Step#{step}"]
                values(group["x"], numpy.where((index < 10) | (index >= 40), index + 1000.0 * step, 0), "f8")
                values(group["y"], -2 * index - 1000.0 * step, "f8")
                values(group["id"], 5000000000 + index, "i8")
        clients.run(None, "h5part_blocks", cwd=work)
        with h5py.File(work / "blocks.h5part") as file:
            values(file["Step#0/x"], [1, 2, 3], "f8")
        attributes = check_steps(work / "room.h5part", 3)
        expect(attributes["Step#1"][0][1] == [2] and not attributes["Step#2"], f"{attributes}")
        left = [path for path in work.iterdir() if ".forebay" in path.name or ".part" in path.name]
        expect(not left and clients.nothing_staged(), f"left: {left}")


main()
