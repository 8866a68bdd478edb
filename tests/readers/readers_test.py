#!/usr/bin/env python3
"""Goal: programs that know nothing of Forebay read node files: every value, empty datasets, groups, attributes.

Usage: readers_test.py MAKE_NODE_FILE SCRATCH_DIRECTORY
Method: MAKE_NODE_FILE writes the cases of tests/support/node_file_cases.hpp; each reader opens them and values are
compared with value_of(), which says again what store_value() there says. Exits with 77 when a reader is not installed.
"""

import os
import shutil
import subprocess
import sys
import unittest

from forebay_test import output_of

try:
    import hdf5plugin
    import h5py
    import netCDF4
    import numpy as np
    import pyfive
    import xarray as xr
except ImportError as missing:
    print(f"skipped: {missing}; scripts/bootstrap installs the readers")
    sys.exit(77)

for tool in ("h5dump", "h5ls", "h5repack", "h5diff", "ncdump"):
    if shutil.which(tool) is None:
        print(f"skipped: {tool} is not installed (hdf5-tools, netcdf-bin)")
        sys.exit(77)

MAKE, SCRATCH = (sys.argv.pop(1), sys.argv.pop(1)) if len(sys.argv) >= 3 else (None, None)

TYPES = {
    "f16": "<f2", "f32": "<f4", "f64": "<f8", "c64": "<c8", "c128": "<c16", "i8": "i1", "i16": "<i2", "i32": "<i4",
    "i64": "<i8", "u8": "u1", "u16": "<u2", "u32": "<u4", "u64": "<u8", "text": "S5",
}


def value_of(name, count):
    """The first `count` elements of a variable of type `name`."""
    numbers = np.arange(count)
    if name == "text":
        return np.array([f"s{e % 1000}".encode() for e in range(count)], dtype="S5")
    if name == "f16":
        return (numbers % 32).astype("<f2")
    if name in ("c64", "c128"):
        return (numbers - 1j * numbers).astype(TYPES[name])
    return numbers.astype(TYPES[name])


def path_of(case):
    return os.path.join(SCRATCH, case + ".h5")


def setUpModule():
    os.makedirs(SCRATCH, exist_ok=True)
    for case in ("mixed", "many", "groups", "bare", "huge", "patched"):
        output_of(MAKE, case, path_of(case))


class H5py(unittest.TestCase):
    def test_every_type_and_kind(self):
        with h5py.File(path_of("mixed"), "r") as file:
            for name, numpy_type in TYPES.items():
                for path, shape in (("scalars/", ()), ("fields/deep/er/", (24,)), ("stars/", (7,))):
                    dataset = file[path + name]
                    self.assertEqual(dataset.shape, shape, path + name)
                    self.assertEqual(dataset.dtype, np.dtype(numpy_type), path + name)
                    expected = value_of(name, 1)[0] if shape == () else value_of(name, shape[0])
                    np.testing.assert_array_equal(dataset[()], expected, path + name)
            np.testing.assert_array_equal(file["top"][()], np.arange(6).reshape(2, 3))

    def test_empty_datasets_have_no_address(self):
        with h5py.File(path_of("mixed"), "r") as file:
            for path in ("none/x", "elsewhere"):
                self.assertEqual(file[path].shape, (0,))
                self.assertIsNone(file[path].id.get_offset())
                self.assertEqual(file[path][()].size, 0)

    def test_attributes(self):
        with h5py.File(path_of("mixed"), "r") as file:
            attributes = file["fields/deep/er/f16"].attrs
            self.assertEqual(attributes["units"], b"m s-1")
            self.assertEqual(attributes["long_name"], b"wind, eastward")
            self.assertEqual(attributes["forebay_dimensions"], b"y,x")
            self.assertEqual(list(attributes["forebay_shape"]), [4, 6])
            self.assertEqual(attributes["count"], -3)
            self.assertEqual(attributes["scale"], 0.25)
            self.assertEqual(attributes["note"].decode(), "caf\u00e9")
            self.assertEqual(attributes["empty"], b"")

    def test_many_variables_and_groups(self):
        with h5py.File(path_of("many"), "r") as file:
            self.assertEqual(sorted(file["fields"]), sorted(f"v{i}" for i in range(1000)))
            self.assertEqual(len(file["t"]), 1000)
            for i in range(1000):
                self.assertEqual(file[f"fields/v{i}"][0], 0)
                self.assertEqual(file[f"t/c{i}"].shape, (0,))
            self.assertNotIn("v1000", file["fields"])
        with h5py.File(path_of("groups"), "r") as file:
            self.assertEqual(len(file), 501)
            self.assertEqual(file["g499/v"][()], 0)

    def test_own_datasets(self):
        with h5py.File(path_of("mixed"), "r") as file:
            own = file["_forebay"]
            self.assertEqual(sorted(own), ["crc32c", "extents", "index", "ranks", "record", "schema"])
            self.assertEqual(own["record"].id.get_offset(), 4096)
            self.assertTrue(own["schema"][()].startswith(b'{"stream":"restart"'))
            self.assertEqual(list(own["ranks"]), [2, 3, 5])
            columns = own["index"].attrs["columns"].decode().split()
            self.assertEqual(len(columns), own["index"].shape[1])
            extents = own["extents"][()]
            index = own["index"][()]
            for row in index:
                variable, offset, size = (int(row[columns.index(c)]) for c in ("variable", "offset_bytes", "size_bytes"))
                first, used = int(extents[variable][0]), int(extents[variable][1])
                self.assertTrue(first <= offset and offset + size <= first + used)

    def test_rows_that_changed(self):
        with h5py.File(path_of("patched"), "r") as file:
            self.assertEqual(file["a/x"].shape, (0,))
            self.assertIsNone(file["a/x"].id.get_offset())
            np.testing.assert_array_equal(file["b/x"][()], np.arange(15))
            np.testing.assert_array_equal(file["b/id"][()], np.arange(15))

    def test_beyond_4_gib(self):
        with h5py.File(path_of("huge"), "r") as file:
            self.assertEqual(file["big"].shape, (1610612736,))
            self.assertGreater(file["after"].id.get_offset(), 12 << 30)
            self.assertEqual(file["after"][1], 42.0)
            self.assertEqual(file["big"][-1], 0.0)

    def test_a_bare_file(self):
        with h5py.File(path_of("bare"), "r") as file:
            self.assertEqual(list(file), ["_forebay"])
            self.assertEqual(file["_forebay/index"].shape, (0, 24))

    def test_appending_keeps_the_file_valid(self):
        copy = path_of("appended")
        shutil.copyfile(path_of("many"), copy)
        with h5py.File(copy, "r+") as file:
            file["fields/added"] = np.arange(1000.0)
            file["t/added"] = np.arange(10)
            for i in range(20):
                file["fields/v7"].attrs[f"a{i}"] = i
            del file["fields/v8"]
        with h5py.File(copy, "r") as file:
            self.assertEqual(len(file["fields"]), 1000)
            self.assertEqual(file["fields/v7"].attrs["a19"], 19)
            self.assertEqual(file["fields/v999"][0], 0)
            np.testing.assert_array_equal(file["fields/added"][()], np.arange(1000.0))


class OtherReaders(unittest.TestCase):
    def test_pyfive(self):
        with pyfive.File(path_of("mixed")) as file:
            for name in TYPES:
                if name in ("c64", "c128"):
                    continue  # compound types are beyond some of its versions
                np.testing.assert_array_equal(file["fields/deep/er/" + name][()], value_of(name, 24), name)
                np.testing.assert_array_equal(file["stars/" + name][()], value_of(name, 7), name)
        with pyfive.File(path_of("many")) as file:
            self.assertEqual(len(list(file["fields"])), 1000)

    def test_netcdf4(self):
        with netCDF4.Dataset(path_of("mixed")) as file:
            for name in TYPES:
                if name in ("f16", "c64", "c128"):
                    continue  # types that netCDF-4 does not have: it leaves the variables out
                variable = file["fields/deep/er/" + name]
                variable.set_auto_maskandscale(False)
                expected = value_of(name, 24)
                np.testing.assert_array_equal(variable[:].astype("S5") if name == "text" else variable[:], expected, name)
            self.assertEqual(file["top"][:].tolist(), [[0, 1, 2], [3, 4, 5]])
        with netCDF4.Dataset(path_of("many")) as file:
            self.assertEqual(len(file["fields"].variables), 1000)

    def test_xarray(self):
        for engine in ("netcdf4", "h5netcdf"):
            # netCDF-C 4.10.1 takes f16 for strings and crashes, whoever wrote the file.
            options = {"phony_dims": "sort"} if engine == "h5netcdf" else {"drop_variables": "f16"}
            with xr.open_dataset(path_of("mixed"), group="stars", engine=engine, **options) as data:
                np.testing.assert_array_equal(data["f64"].values, value_of("f64", 7))
                np.testing.assert_array_equal(data["i64"].values, value_of("i64", 7))
                self.assertEqual([str(text, "ascii") if isinstance(text, bytes) else text for text in data["text"].values],
                                 [f"s{e}" for e in range(7)])
        with xr.open_dataset(path_of("patched"), group="b") as data:  # the engine is guessed from the first bytes
            np.testing.assert_array_equal(data["id"].values, np.arange(15))


class Compressed(unittest.TestCase):
    """What an agent has compressed, with the usual plugins of HDF5."""

    @classmethod
    def setUpClass(cls):
        for case in ("large", "compressed-zstd", "compressed-lz4", "compressed-zfp", "compressed-reversible", "compressed-long"):
            output_of(MAKE, case, path_of(case))

    def test_values(self):
        for case in ("compressed-zstd", "compressed-lz4", "compressed-zfp", "compressed-reversible"):
            with h5py.File(path_of("large"), "r") as plain, h5py.File(path_of(case), "r") as compressed:
                names = []
                plain.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
                for name in names:
                    if name.startswith("_forebay"):
                        continue
                    lossy = case == "compressed-zfp" and plain[name].dtype.kind == "f" and plain[name].size > 10
                    difference = np.abs(plain[name][()] - compressed[name][()]).max() if lossy else 0
                    self.assertLessEqual(difference, 1e-4, name)
                    if not lossy:
                        np.testing.assert_array_equal(plain[name][()], compressed[name][()], name)
                self.assertLess(os.path.getsize(path_of(case)), 0.75 * os.path.getsize(path_of("large")))
                self.assertEqual(compressed["fields/u"].attrs["units"], b"m s-1")

    def test_filters_are_the_registered_ones(self):
        for case, number in (("compressed-zstd", "32001"), ("compressed-lz4", "32001"), ("compressed-zfp", "32013")):
            with h5py.File(path_of(case), "r") as file:
                self.assertIn(number, file["fields/u"]._filters)
                self.assertIsNone(file["clock"].chunks)
                self.assertEqual(file["fields/noise"].id.get_chunk_info(0).filter_mask, 1)  # no gain: as it is
        with h5py.File(path_of("compressed-zfp"), "r") as file:
            self.assertEqual(file["fields/u"].chunks, (35 * 50 * 73,))  # whole planes

    def test_any_slice_of_a_tree_of_levels(self):
        with h5py.File(path_of("compressed-long"), "r") as file:
            self.assertEqual(file["ramp"].id.get_num_chunks(), 69)
            for first in (0, 131071, 131072, 8_388_607, 8_999_990):
                np.testing.assert_array_equal(file["ramp"][first:first + 10], np.arange(first, min(first + 10, 9_000_000)))
            np.testing.assert_array_equal(file["ramp"][:], np.arange(9_000_000.0))

    def test_tools_and_netcdf(self):
        environment = dict(os.environ, HDF5_PLUGIN_PATH=hdf5plugin.PLUGINS_PATH)
        for case in ("compressed-zstd", "compressed-zfp"):
            done = subprocess.run(["h5dump", "-d", "/gas/id", "-s", "150000", "-c", "3", path_of(case)], capture_output=True,
                                  text=True, check=False, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("150000, 150001, 150002", done.stdout)
            read = "import sys, netCDF4; print(netCDF4.Dataset(sys.argv[1])['gas/id'][150000:150003].tolist())"
            done = subprocess.run([sys.executable, "-c", read, path_of(case)], capture_output=True, text=True, check=False,
                                  env=environment)
            self.assertEqual(done.stdout.strip(), "[150000, 150001, 150002]", done.stderr)


class Tools(unittest.TestCase):
    def test_dump_and_list(self):
        for case in ("mixed", "many", "groups", "bare", "patched"):
            output_of("h5dump", path_of(case))
            output_of("h5ls", "-r", path_of(case))
            # netCDF-C before 4.9.1 crashes on arrays of fixed-length strings (its issue 2159), which `mixed` has.
            output_of("ncdump", *(["-h"] if case == "mixed" else []), path_of(case))
        self.assertIn("forebay_shape", output_of("h5dump", "-A", path_of("mixed")))
        self.assertIn("id = 0, 1, 2, 3, 4", output_of("ncdump", path_of("patched")))
        output_of("h5dump", "-H", path_of("huge"))
        output_of("h5dump", "-d", "/after", "-s", "0", "-c", "4", path_of("huge"))

    def test_repack(self):
        for case in ("mixed", "many", "bare", "patched"):
            output_of("h5repack", path_of(case), path_of("repacked"))
            output_of("h5diff", path_of(case), path_of("repacked"))
        # Not all datasets at once: h5repack 1.10 fails on any empty dataset then, also of other files.
        output_of("h5repack", "-f", "b/x,b/id:GZIP=1", path_of("patched"), path_of("repacked"))
        output_of("h5diff", path_of("patched"), path_of("repacked"))


if __name__ == "__main__":
    if MAKE is None:
        sys.exit(__doc__)
    unittest.main(verbosity=2)
