#!/usr/bin/env python3
"""Goal: programs that know nothing of Forebay read views: every value, named dimensions, attributes, after a move too.

Method: make_view writes snapshots of 1, 2 and 3 nodes, and of 3 nodes in two files and in one, with their views (tests/support/view_sample.hpp) and lists their
variables; each reader opens the view and every value is compared with expected(), which says again what
store_number() there says. Exits with 77 when a reader is not installed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from forebay_test import BUILD, output_of

try:
    import h5py
    import netCDF4
    import numpy as np
    import xarray as xr
except ImportError as missing:
    print(f"skipped: {missing}; scripts/bootstrap installs the readers")
    sys.exit(77)

for tool in ("h5dump", "ncdump"):
    if shutil.which(tool) is None:
        print(f"skipped: {tool} is not installed (hdf5-tools, netcdf-bin)")
        sys.exit(77)

MAKE = BUILD / "tests" / "make_view"
CASES = ("one", "two", "three", "combined", "together", "shared")
SCRATCH = tempfile.TemporaryDirectory(prefix="forebay-views-")
VARIABLES = {}

TYPES = {
    "f16": "<f4", "f32": "<f4", "f64": "<f8", "c64": "<c8", "c128": "<c16", "i8": "i1", "i16": "<i2", "i32": "<i4",
    "i64": "<i8", "u8": "u1", "u16": "<u2", "u32": "<u4", "u64": "<u8", "text": "S6",
}  # as the view shows them: f16 widened


def expected(variable):
    shape = tuple(variable["shape"])
    elements = np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.uint64)
    numbers = elements * np.uint64(7) + np.uint64(variable["index"] * 13)
    kind = variable["type"]
    if kind == "text":
        values = np.array([f"s{n % 100000}".encode() for n in numbers.tolist()], dtype="S6")
    elif kind == "f16":
        values = (numbers % np.uint64(2048)).astype("<f4")
    elif kind == "f32":
        values = (numbers % np.uint64(1 << 20)).astype("<f4") / np.float32(2)
    elif kind == "f64":
        values = numbers.astype("<f8") / 4
    elif kind == "c64":
        real = (numbers % np.uint64(1 << 20)).astype("<f4") / np.float32(2)
        values = (real - 1j * real).astype("<c8")
    elif kind == "c128":
        real = numbers.astype("<f8") / 4
        values = real - 1j * real
    else:
        values = numbers.astype(TYPES[kind])
    if variable["name"].startswith("hole/"):
        unwritten = np.ones(len(values), dtype=bool)
        if variable["name"] != "hole/all":
            unwritten[[0, 1, 5, 6, 7]] = False
        fill = {"f32": np.nan, "i32": 0, "c128": complex(np.nan, np.nan)}[kind]
        values[unwritten] = fill
    return values.reshape(shape)


def view_of(case):
    return os.path.join(SCRATCH.name, case, "fields", "step-000120.h5")


def setUpModule():
    for case in CASES:
        lines = output_of(MAKE, case, os.path.join(SCRATCH.name, case)).splitlines()
        VARIABLES[case] = [json.loads(line) for line in lines]


def each(wanted=lambda variable: True):
    return [(case, variable) for case in CASES for variable in VARIABLES[case] if wanted(variable)]


def as_numpy(values):
    """Complex numbers and strings in the one form that expected() has."""
    values = np.asarray(values)
    if values.dtype.names == ("r", "i"):
        values = values["r"] + values["i"] * (1j if values["r"].dtype == "f8" else np.complex64(1j))
    if values.dtype.kind in "OSUT":
        flat = [v if isinstance(v, bytes) else str(v).encode() for v in values.ravel().tolist()]
        values = np.array(flat, dtype="S6").reshape(values.shape)
    return values


def same(test, found, variable):
    found = as_numpy(found)
    wanted = expected(variable)
    test.assertEqual(found.shape, wanted.shape)
    test.assertEqual(found.dtype.str[1:], wanted.dtype.str[1:])
    np.testing.assert_array_equal(found, wanted)


class H5py(unittest.TestCase):
    def test_every_value(self):
        for case, variable in each():
            with self.subTest(case=case, name=variable["name"]), h5py.File(view_of(case), "r") as file:
                same(self, file[variable["name"]][()], variable)

    def test_parts_of_an_array(self):
        for case, variable in each(lambda v: v["name"].startswith("fields/") and len(v["shape"]) == 3):
            with self.subTest(case=case, name=variable["name"]), h5py.File(view_of(case), "r") as file:
                whole = expected(variable)
                np.testing.assert_array_equal(file[variable["name"]][1:4, ::2, 3], whole[1:4, ::2, 3])

    def test_dimensions_are_named_scales(self):
        with h5py.File(view_of("three"), "r") as file:
            field = file["fields/f32"]
            self.assertEqual([os.path.basename(d[0].name) for d in field.dims], ["z", "y", "x"])
            self.assertEqual(file["particles/i64"].dims[0][0].name, "/particles/particles")
            for variable in VARIABLES["three"]:
                dataset = file[variable["name"]]
                if dataset.is_scale:
                    continue
                scales = [list(d.values()) for d in dataset.dims]
                self.assertEqual([len(s) for s in scales], [1] * dataset.ndim)
                self.assertEqual(tuple(s[0].shape[0] for s in scales), dataset.shape)
            self.assertTrue(file["fields/x"].is_scale and file["fields/z"].is_scale)
            users = [(file[r].name, dim) for r, dim in file["fields/x"].attrs["REFERENCE_LIST"]]
            self.assertEqual(users, [("/fields/" + name, 2) for name in TYPES])

    def test_attributes(self):
        with h5py.File(view_of("two"), "r") as file:
            root = {name: value for name, value in file.attrs.items()}
            self.assertEqual((root["step"], root["time"], root["node_files"]), (120, 0.5, 2))
            self.assertEqual((root["run"], root["stream"]), (b"two", b"fields"))
            self.assertEqual(root["snapshot_id"], b"00f30000c0ffee9a")
            self.assertEqual(root["Conventions"], b"Forebay-plain-1")
            self.assertRegex(root["forebay_version"].decode(), r"^\d+\.\d+\.\d+$")
            given = file["fields/f16"].attrs
            self.assertEqual((given["units"], given["long_name"]), (b"m s-1", b"wind, eastward"))
            self.assertEqual((given["count"], given["scale"]), (-3, 0.25))
            self.assertEqual(given["note"].decode(), "caf\u00e9")
            self.assertIsInstance(given["empty"], h5py.Empty)
            self.assertEqual((given["forebay_CLASS"], given["forebay_type"]), (b"DIMENSION_SCALE", b"f16"))
            self.assertNotIn("CLASS", given)
            self.assertEqual(file["fields/f64"].attrs["forebay_fill"], b"NaN")
            self.assertEqual(file["fields/i32"].attrs["forebay_fill"], b"0")
            self.assertNotIn("forebay_fill", file["scalars/f64"].attrs)

    def test_what_is_virtual(self):
        with h5py.File(view_of("three"), "r") as file:
            names = {source.file_name for source in file["particles/f64"].virtual_sources()}
            self.assertEqual(names, {f"step-000120/node-0000{n}.h5" for n in range(3)})
            for copied in ("scalars/f64", "lists/text"):
                self.assertFalse(file[copied].is_virtual)
            self.assertTrue(file["lists/large"].is_virtual)
            self.assertTrue(np.isnan(file["fields/f32"].fillvalue))

    def test_after_a_move(self):
        moved = os.path.join(SCRATCH.name, "moved")
        shutil.copytree(os.path.join(SCRATCH.name, "three"), os.path.join(moved, "elsewhere"))
        where = os.getcwd()
        os.chdir(moved)
        try:
            for variable in VARIABLES["three"]:
                with h5py.File("elsewhere/fields/step-000120.h5", "r") as file:
                    same(self, file[variable["name"]][()], variable)
        finally:
            os.chdir(where)

    def test_a_missing_node_file_reads_as_fill(self):
        broken = os.path.join(SCRATCH.name, "broken")
        shutil.copytree(os.path.join(SCRATCH.name, "two"), broken)
        os.remove(os.path.join(broken, "fields/step-000120/node-00001.h5"))
        with h5py.File(os.path.join(broken, "fields/step-000120.h5"), "r") as file:
            found = file["fields/f64"][()]
            self.assertTrue(np.isnan(found).any() and not np.isnan(found).all())
            self.assertEqual(file["scalars/i32"][()], expected(self.variable("two", "scalars/i32")))

    def variable(self, case, name):
        return next(v for v in VARIABLES[case] if v["name"] == name)


class Alone(unittest.TestCase):
    """A view that was copied without its node files: readers that open all of a group refuse it."""

    def setUp(self):
        self.views = []
        for case in CASES:
            alone = os.path.join(SCRATCH.name, f"alone-{case}.h5")
            shutil.copy(view_of(case), alone)
            self.views.append((view_of(case), alone))

    def test_refused(self):
        for beside, alone in self.views:
            with self.subTest(view=alone):
                self.assertEqual(subprocess.run(["ncdump", "-h", beside], capture_output=True).returncode, 0)
                self.assertNotEqual(subprocess.run(["ncdump", "-h", alone], capture_output=True).returncode, 0)
                self.assertRaises(OSError, netCDF4.Dataset, alone)
                self.assertRaises(OSError, xr.open_dataset, alone, engine="netcdf4")
                self.assertRaises((KeyError, OSError), xr.open_dataset, alone, engine="h5netcdf")

    def test_the_link(self):
        for beside, alone in self.views:
            with self.subTest(view=alone), h5py.File(beside) as whole, h5py.File(alone) as view:
                self.assertGreater(whole["forebay_schema"].size, 0)
                self.assertRaises(KeyError, lambda: view["forebay_schema"])


class NetCDF4(unittest.TestCase):
    def test_every_value(self):
        for case in CASES:
            with netCDF4.Dataset(view_of(case)) as file:
                for variable in VARIABLES[case]:
                    with self.subTest(case=case, name=variable["name"]):
                        found = file[variable["name"]]
                        found.set_auto_mask(False)
                        same(self, found[...], variable)

    def test_dimensions(self):
        with netCDF4.Dataset(view_of("three")) as file:
            self.assertEqual(file["fields/f64"].dimensions, ("z", "y", "x"))
            self.assertEqual(file["fields/deep/u"].dimensions, ("y_3", "x_8"))
            self.assertEqual(file["line"].dimensions, ("dim0_11",))
            self.assertEqual(file["four"].dimensions, ("dim0_3", "dim1_4", "dim2_2", "dim3_5"))
            self.assertEqual(file["pair"].dimensions, ("y_4", "y_4_2"))
            self.assertEqual(file["halos/inner/mass"].dimensions, ("inner_9",))
            self.assertEqual(file["none/x"].shape, (0,))
            self.assertEqual(file["fields/f16"].units, "m s-1")


class Xarray(unittest.TestCase):
    def check(self, engine, **options):
        for case in CASES:
            opened = {}
            for variable in VARIABLES[case]:
                group, _, leaf = variable["name"].rpartition("/")
                with self.subTest(engine=engine, case=case, name=variable["name"]):
                    if group not in opened:
                        opened[group] = xr.open_dataset(view_of(case), engine=engine, group=group or None, **options).load()
                    same(self, opened[group][leaf].values, variable)
                    self.assertFalse([d for d in opened[group][leaf].dims if str(d).startswith("phony")])
            fields = opened["fields"]
            self.assertEqual(dict(fields.sizes), {"z": 5, "y": 6, "x": 7})
            self.assertEqual(set(fields.coords), {"z", "x"})
            x = next(v for v in VARIABLES[case] if v["name"] == "fields/x")
            np.testing.assert_array_equal(fields["f64"].sel(x=expected(x)[3]).values, fields["f64"].values[:, :, 3])

    def test_netcdf4(self):
        self.check("netcdf4")
        self.check("netcdf4", auto_complex=True)

    def test_h5netcdf(self):
        self.check("h5netcdf")

    def test_the_engine_is_guessed(self):
        with xr.open_dataset(view_of("three"), group="particles") as particles:
            self.assertEqual(set(particles.sizes), {"particles"})

    def test_datatree(self):
        for engine in ("netcdf4", "h5netcdf"):
            with xr.open_datatree(view_of("three"), engine=engine) as tree:
                self.assertEqual(tree["fields/deep/u"].dims, ("y_3", "x_8"))
                self.assertEqual(tree["fields"].sizes["x"], 7)


class Tools(unittest.TestCase):
    def numeric(self, variable):
        return variable["type"] not in ("text", "c64", "c128", "f16") and re.fullmatch(r"[\w/]+", variable["name"])

    def test_h5dump_gives_the_bytes(self):
        out = os.path.join(SCRATCH.name, "dumped")
        for case, variable in each(lambda v: self.numeric(v) and v["shape"] and 0 not in v["shape"]):
            with self.subTest(case=case, name=variable["name"]):
                output_of("h5dump", "-d", "/" + variable["name"], "-b", "LE", "-o", out, view_of(case))
                found = np.fromfile(out, dtype=TYPES[variable["type"]]).reshape(variable["shape"])
                np.testing.assert_array_equal(found, expected(variable))

    def test_h5dump_of_everything(self):
        for case in CASES:
            text = output_of("h5dump", "-w", "0", view_of(case))
            self.assertNotIn("unable to", text)

    def test_ncdump_shows_the_names(self):
        text = output_of("ncdump", "-h", view_of("three"))
        for line in ("x = 7 ;", "float f32(z, y, x) ;", "complex128 c128(z, y, x) ;", "double f64(particles) ;",
                     "int64 line(dim0_11) ;", "string text(dim0_3) ;", ':note = "caf\u00e9" ;', ':stream = "fields" ;'):
            self.assertIn(line, text)
        self.assertNotIn("phony", text)

    def test_ncdump_gives_the_values(self):
        wanted = [v for v in VARIABLES["three"] if self.numeric(v) and v["shape"] and 0 < expected(v).size < 1000]
        for variable in wanted:
            with self.subTest(name=variable["name"]):
                name = variable["name"] if "/" not in variable["name"] else "/" + variable["name"]
                text = output_of("ncdump", "-p", "9,17", "-v", name, view_of("three"))
                leaf = variable["name"].rpartition("/")[2]
                data = re.search(r"^ *data:.*?^ *" + leaf + r" =(.*?);", text, re.S | re.M).group(1)
                values = [float(re.sub(r"(?<=\d)[a-zA-Z]+$|(?<=NaN)f$", "", n.strip())) for n in data.split(",")]
                found = np.array(values).reshape(variable["shape"])
                np.testing.assert_array_equal(found.astype(TYPES[variable["type"]]), expected(variable))

    def test_ncdump_of_texts(self):
        text = output_of("ncdump", "-v", "/lists/text", view_of("one"))
        v = next(v for v in VARIABLES["one"] if v["name"] == "lists/text")
        self.assertIn("text = " + ", ".join(f'"{t.decode()}"' for t in expected(v)), text)


if __name__ == "__main__":
    unittest.main()
