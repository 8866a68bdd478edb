"""Goal: every value of restart files of PALM 25.10.1 comes back with the right type and shape, in both formats.
Oddities are reported briefly.

Method: the files of two cases: thinned files (tests/foreign/palm), and complete files if they exist in
../shared/samples/palm beside the checkout or in FOREBAY_PALM_SAMPLES. A small second reader gives the expected values.
"""

import gzip
import json
import os
import pathlib
import sys
import tarfile

from forebay_test import forebay

try:
    import h5py
    import numpy as np
    import pytest
except ImportError as absent:
    print(f"skipped: {absent}")
    sys.exit(77)

import palm_reader

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES = pathlib.Path(os.environ.get("FOREBAY_PALM_SAMPLES", HERE.parents[2] / "shared/samples/palm"))


def source_of(which, case, form):
    """The path of the file; skips with its name if it is missing."""
    path = HERE / "palm" / f"{case}.{form}" if which == "thinned" else SAMPLES / case / f"BINOUT.{form}"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    return path


def mpi_file(which, case, folder):
    path = folder / "BINOUT"
    path.write_bytes(gzip.decompress(source_of(which, case, "mpi.gz").read_bytes()))
    return path


def binary_files(which, case, folder):
    """The directory, and the bytes of its files."""
    path = folder / "BINOUT"
    path.mkdir()
    with tarfile.open(source_of(which, case, "fortran.tgz")) as archive:
        for member in archive.getmembers():
            if member.isfile():
                (path / pathlib.PurePath(member.name).name).write_bytes(archive.extractfile(member).read())
    return path, [one.read_bytes() for one in sorted(path.iterdir())]


def imported(form, source, run, *options):
    """The program's report, and name to array and attributes of the snapshot's view."""
    said = json.loads(forebay("import", form, source, run, "--json", *options))
    forebay("verify", run)
    (view,) = run.glob("restart/step-*.h5")
    found = {}
    with h5py.File(view) as file:
        def take(name, one):
            if isinstance(one, h5py.Dataset) and one.attrs.get("CLASS", b"") != b"DIMENSION_SCALE":
                found[name] = (one[()], dict(one.attrs))
        file.visititems(take)
    return said, found


def expect_equal(found, name, expected):
    """Compares type, shape and every byte: uninitialised words may be NaNs."""
    value = found.pop(name)[0]
    if isinstance(expected, bytes):
        assert value == expected, name
        return
    expected = np.asarray(expected)
    assert (value.dtype, value.shape) == (expected.dtype, expected.shape), name
    assert value.tobytes() == expected.tobytes(), name


both = pytest.mark.parametrize("which", ["thinned", "whole"])
cases = pytest.mark.parametrize("case", ["cbl", "ue"])


@both
@cases
def test_a_file_by_mpi_io(tmp_path, which, case):
    """Integers, reals, texts and arrays. PALM reads the first of two equal names."""
    source = mpi_file(which, case, tmp_path)
    file = palm_reader.MpiFile(source.read_bytes())
    said, found = imported("palm-mpi", source, tmp_path / "run")
    first = dict(reversed(file.integers))
    assert (said["step"], said["time"]) == (first["current_timestep_number"], dict(file.reals)["simulated_time"])
    for name, value in first.items():
        expect_equal(found, name, np.int32(value))
    for name, value in dict(reversed(file.reals)).items():
        expect_equal(found, name, np.float64(value))
    for name, value in dict(reversed(file.texts)).items():
        expect_equal(found, name, value)
    for name, _, _ in file.arrays:
        if pair := palm_reader.index_of(name):
            value, attributes = found[name]
            assert tuple(attributes[key].decode() for key in ("start_index", "end_index")) == pair, name
            # Takes one column as the guide describes: from its start to its end.
            start, end = (found[plane][0] for plane in pair)
            for (y, x), values in file.surfaces(name).items():
                column = np.atleast_2d(value)[:, start[y, x]:end[y, x]]
                assert column.tobytes() == values.tobytes(), (name, y, x)
    for name, _, _ in file.arrays:
        expect_equal(found, name, file.array(name))
    assert not found
    twice = {"cbl": "nz, nx, ny", "ue": "nz, nx, ny, time_radiation"}[case]
    assert said["notes"] == [f"repeated names with the same bytes, kept once: {twice}"]


@both
@cases
def test_a_file_a_process(tmp_path, which, case):
    """The global part, joined fields, and tables. The reader takes the last of two equal names."""
    source, files = binary_files(which, case, tmp_path)
    run = palm_reader.BinaryRun([palm_reader.BinaryFile(data) for data in files])
    said, found = imported("palm-fortran", source, tmp_path / "run")
    values = run.globals()
    assert (said["step"], said["time"], said["ranks"]) == (values["current_timestep_number"], values["simulated_time"], 4)
    for name, value in values.items():
        expect_equal(found, name, value)
    for name in run.local_names():
        rows = run.rows(name)
        if rows is None:
            expect_equal(found, name, run.field(name))
        elif rows.size > 0 or f"{name}/value" in found:
            expect_equal(found, f"{name}/value", rows)
    assert not found
    twice = {"cbl": "passive_scalar", "ue": "passive_scalar, time_radiation"}[case]
    assert said["notes"] == [f"repeated names with the same bytes, kept once: {twice}"]


def test_both_formats_say_the_same(tmp_path):
    """Bit for bit, fields transposed. Only for complete files: thinning keeps other words in each format. PALM ran once
    per format."""
    for folder in ("mpi", "binary"):
        (tmp_path / folder).mkdir()
    mpi = imported("palm-mpi", mpi_file("whole", "cbl", tmp_path / "mpi"), tmp_path / "mpi/run")[1]
    binary = imported("palm-fortran", binary_files("whole", "cbl", tmp_path / "binary")[0], tmp_path / "binary/run",
                      "--ghosts", "cut")[1]
    for name in ("e", "u", "v", "w", "id_random_array"):
        assert np.array_equal(mpi[name][0], np.swapaxes(binary[name][0], 0, 1)), name


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-rs", "-p", "no:cacheprovider"]))
