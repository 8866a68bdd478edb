#!/usr/bin/env python3
"""Goal: a shared file is what other people's programs expect of one HDF5 file: each variable is one dataset of its global
shape, with the values that were saved; and it says the same as the node files of the same state.

Usage: shared_test.py MAKE_SHARED SCRATCH_DIRECTORY
Method: MAKE_SHARED saves the state of tests/support/shared_state.hpp with three nodes; values are said again here. Exits
with 77 when a reader is not installed.
"""

import os
import pathlib
import shutil
import sys
import unittest

from forebay_test import output_of

try:
    import h5py
    import netCDF4
    import numpy as np
    import pyfive
    import xarray as xr
except ImportError as missing:
    print(f"skipped: {missing}; scripts/bootstrap installs the readers")
    sys.exit(77)

for tool in ("h5dump", "h5repack", "h5diff"):
    if shutil.which(tool) is None:
        print(f"skipped: {tool} is not installed (hdf5-tools)")
        sys.exit(77)

MAKE, SCRATCH = (sys.argv.pop(1), sys.argv.pop(1)) if len(sys.argv) >= 3 else (None, ".")
NODES, RANKS, STEP = 3, 7, 120
READER = pathlib.Path(__file__).resolve().parents[2] / "tools" / "readers" / "read_node_file.py"
ONE, STEPS, FILES = (os.path.join(SCRATCH, "run", name, f"step-{STEP:06}") for name in ("one", "steps", "files"))


def rows():
    return sum(0 if rank % 3 == 1 else 700 + 113 * rank + STEP % 7 * 40 for rank in range(RANKS))


def expected():
    numbers = np.arange(rows())
    holes = np.zeros((40, 16), "i4")
    for rank in range(0, RANKS, 2):
        per, rest = divmod(40, RANKS)
        first, count = rank * per + min(rank, rest), per + (rank < rest)
        holes[first:first + count, 3:10] = np.arange(640).reshape(40, 16)[first:first + count, 3:10]
    return {
        "clock/dt": np.float64(0.125 * STEP),
        "matrix": (np.arange(6) + 1j * STEP).reshape(2, 3),
        "fields/slabs": (np.arange(53 * 3001) + 1e5 * STEP).reshape(53, 3001),
        "fields/boxes": (np.arange(31 * 37 * 11) + 0.5).astype("f4").reshape(31, 37, 11),
        "fields/holes": holes,
        "gas/id": numbers,
        "gas/x": (numbers * 0.5).astype("f4"),
        "gas/name": np.array([f"n{chr(97 + n % 26)}{n % 10}".encode() for n in numbers], "S5"),
        "ghosts/mass": np.zeros(0),
    }


def setUpModule():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    output_of(MAKE, SCRATCH, str(NODES), str(RANKS))


class SharedFile(unittest.TestCase):
    one = os.path.join(ONE, "shared.h5")

    def test_one_file_a_snapshot(self):
        self.assertEqual(sorted(os.listdir(ONE)), ["manifest.json", "shared.h5"])

    def test_h5py_reads_every_variable_in_its_global_shape(self):
        with h5py.File(self.one, "r") as file:
            for name, values in expected().items():
                np.testing.assert_array_equal(file[name][()], values, name)
                self.assertEqual(file[name].shape, np.shape(values), name)
            self.assertEqual(file["clock/dt"].attrs["units"], b"s")
            self.assertEqual(file["fields/boxes"].attrs["forebay_dimensions"], b"z,y,x")
            self.assertEqual(file["_forebay/nodes"].shape[0], NODES)
            self.assertEqual(file["_forebay/nodes"][1, 4096:4104].tobytes(), b"FBNODE\r\n")

    def test_it_says_what_the_node_files_say(self):
        with h5py.File(self.one, "r") as one:
            parts = [h5py.File(path, "r") for path in sorted(pathlib.Path(FILES).glob("node-*.h5"))]
            self.assertEqual(len(parts), NODES)
            for name in ("gas/id", "gas/x", "gas/name", "fields/slabs"):
                together = np.concatenate([part[name][()] for part in parts])
                np.testing.assert_array_equal(one[name][()].ravel(), together, name)

    def test_pyfive_and_netcdf_read_it(self):
        values = expected()
        with pyfive.File(self.one) as file:
            for name in ("fields/slabs", "fields/boxes", "gas/id"):
                np.testing.assert_array_equal(file[name][:], values[name], name)
        with netCDF4.Dataset(self.one) as file:
            file.set_auto_mask(False)
            for name in ("fields/slabs", "fields/boxes", "fields/holes", "gas/id", "gas/x"):
                np.testing.assert_array_equal(file[name][:], values[name], name)
        with xr.open_dataset(self.one, group="fields", engine="netcdf4") as fields:
            np.testing.assert_array_equal(fields["boxes"].values, values["fields/boxes"])

    def test_hdf5_tools_take_it(self):
        self.assertIn("31, 37, 11", output_of("h5dump", "-H", "-d", "/fields/boxes", self.one))
        copy = os.path.join(SCRATCH, "copy.h5")
        output_of("h5repack", self.one, copy)
        output_of("h5diff", self.one, copy)

    def test_second_reader_verifies_it(self):
        listing = output_of(sys.executable, READER, self.one)
        self.assertIn(f"nodes {NODES}", listing)
        output_of(sys.executable, READER, "--quiet", os.path.join(ONE, "manifest.json"))

    def test_h5part_names(self):
        with h5py.File(os.path.join(STEPS, "shared.h5"), "r") as file:
            step = file[f"Step#{STEP}"]
            np.testing.assert_array_equal(step["id"][()], np.arange(rows()))
            np.testing.assert_array_equal(step["x"][()], (np.arange(rows()) * 0.25).astype("f4"))
        output_of(sys.executable, READER, "--quiet", os.path.join(STEPS, "manifest.json"))


if __name__ == "__main__":
    unittest.main()
