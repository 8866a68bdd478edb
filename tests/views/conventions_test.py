#!/usr/bin/env python3
"""Goal: programs of each convention read views of real runs: every value, names, units, time, and steps in one file.

Method: nbody on 4 ranks (2 nodes) saves 3 steps, and its agent makes views in all four conventions at commit; les does it
on 2 x 2 ranks, of which `forebay view` makes them. What openPMD-api, openPMD-validator, netCDF4, ncdump, xarray, h5py and
h5dump read is compared with what the node files hold. Exits with 77 when a reader is not installed.
"""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from forebay_test import BUILD, all_of_forebay

try:
    import h5py
    import netCDF4
    import numpy as np
    import openpmd_api
    import xarray as xr
    from openpmd_validator import check_h5
except ImportError as missing:
    print(f"skipped: {missing}; scripts/bootstrap installs the readers")
    sys.exit(77)

BIN = BUILD / "bin"
for tool in ("h5dump", "ncdump", "mpiexec", BIN / "nbody"):
    if shutil.which(tool) is None:
        print(f"skipped: {tool} is not installed")
        sys.exit(77)

SCRATCH = tempfile.TemporaryDirectory(prefix="forebay-conventions-")
ROOT = Path(SCRATCH.name)
STREAM = ROOT / "nbody/restart"
STEPS, MESH = (2, 4, 6), 12
DESCRIPTION = """[file]
author = "A. Person"
timeUnitSI = 4.4e17
[variables."fields/density"]
gridSpacing = [0.5, 0.25, 0.125]
gridGlobalOffset = [1, 2, 3]
unitSI = 9.2e-27
unitDimension = "-3 1 0 0 0 0 0"
position = 0.5
"""


def dumped(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def setUpModule():
    STREAM.mkdir(parents=True)
    (ROOT / "staging").mkdir()
    (STREAM / "describe.toml").write_text(DESCRIPTION)
    (ROOT / "nbody.toml").write_text('[streams.restart]\nview = ["plain", "h5part", "openpmd", "netcdf"]\n')
    subprocess.run(["mpiexec", "-n", "4", BIN / "nbody", "--mesh", str(MESH), "--particles", str(MESH), "--steps", "6",
                    "--save-every", "2", "--run", ROOT / "nbody", "--virtual-nodes", "2", "--staging", ROOT / "staging",
                    "--config", ROOT / "nbody.toml"], stdout=subprocess.DEVNULL, check=True, timeout=600)


def of_nodes(step, name):
    """What the node files hold of a variable, one after the other: columns, and slabs of the slowest dimension."""
    parts = []
    for path in sorted((STREAM / f"step-{step:06}").glob("node-*.h5")):
        with h5py.File(path) as file:
            parts.append(file[name][()])
    assert len(parts) == 2
    return np.concatenate(parts)


def field(step, name):
    return of_nodes(step, name).reshape(MESH, MESH, MESH)


class H5Part(unittest.TestCase):
    def test_columns_and_attributes(self):
        for step in STEPS:
            with h5py.File(STREAM / f"step-{step:06}.h5part") as file:
                group = file[f"Step#{step}"]
                self.assertEqual({*group}, {"x", "y", "z", "vx", "vy", "vz", "phi", "id", "mask", "Block"})
                for name in {*group} - {"Block"}:
                    np.testing.assert_array_equal(group[name][()], of_nodes(step, "particles/" + name))
                    self.assertEqual(group[name].shape, (MESH**3,))
                self.assertEqual(group.attrs["TimeValue"].shape, (1,))
                self.assertEqual(group.attrs["state_step"].tolist(), [step])
                text = group.attrs.get_id("snapshot_id")
                self.assertEqual((text.shape, text.dtype.itemsize), ((), 17))  # a string of C, with its NUL
                block = group["Block/density"]
                np.testing.assert_array_equal(block["0"][()], field(step, "fields/density"))
                self.assertEqual(block.attrs["__Spacing__"].tolist(), [0.125, 0.25, 0.5])
                self.assertEqual(block.attrs["__Origin__"].tolist(), [3, 2, 1])

    def test_all_steps_in_one_file(self):
        all_of_forebay("view", STREAM, "--as", "h5part", "--series")
        with h5py.File(STREAM / "series.h5part") as file:
            self.assertEqual({*file}, {f"Step#{step}" for step in STEPS})
            for step in STEPS:
                np.testing.assert_array_equal(file[f"Step#{step}/vx"][()], of_nodes(step, "particles/vx"))
        self.assertIn("Step#4", dumped("h5dump", "-n", STREAM / "series.h5part"))


class OpenPmd(unittest.TestCase):
    def validate(self, path):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), h5py.File(path) as file:
            extensions = check_h5.get_extensions(file, False)
            result = check_h5.check_root_attr(file, False) + check_h5.check_iterations(file, False, extensions)
        self.assertEqual(result[0], 0, said.getvalue())
        warnings = [line for line in said.getvalue().splitlines() if "Warning" in line]
        self.assertEqual([line for line in warnings if "particlePatches" not in line], [])

    def check(self, series):
        self.assertEqual([*series.iterations], [*STEPS])
        for step in STEPS:
            iteration = series.iterations[step]
            self.assertEqual(iteration.time_unit_SI, 4.4e17)
            with h5py.File(STREAM / f"step-{step:06}.h5") as plain:
                self.assertEqual(iteration.time, plain.attrs["time"])
            species = iteration.particles["particles"]
            wanted = {("position", axis): axis for axis in "xyz"} | {("velocity", axis): "v" + axis for axis in "xyz"}
            for (record, component), column in wanted.items():
                found = species[record][component].load_chunk()
                series.flush()
                np.testing.assert_array_equal(found, of_nodes(step, "particles/" + column))
            scalars = {name: species[name][openpmd_api.Record_Component.SCALAR].load_chunk() for name in ("id", "phi")}
            offset = species["positionOffset"]["x"].load_chunk()
            density = iteration.meshes["density"]
            values = density[openpmd_api.Mesh_Record_Component.SCALAR].load_chunk()
            series.flush()
            for name, found in scalars.items():
                np.testing.assert_array_equal(found, of_nodes(step, "particles/" + name).astype(found.dtype))
            self.assertEqual(scalars["id"].dtype, np.uint64)
            self.assertEqual((offset.shape, offset.max()), ((MESH**3,), 0))
            np.testing.assert_array_equal(values, field(step, "fields/density"))
            self.assertEqual(density.axis_labels, ["x", "y", "z"])
            self.assertEqual(density.grid_spacing, [0.5, 0.25, 0.125])
            self.assertEqual(density.grid_global_offset, [1, 2, 3])
            self.assertEqual(density.unit_dimension, [-3, 1, 0, 0, 0, 0, 0])
            component = density[openpmd_api.Mesh_Record_Component.SCALAR]
            self.assertEqual((component.unit_SI, component.position), (9.2e-27, [0.5, 0.5, 0.5]))
            self.assertEqual(iteration.meshes["potential"].grid_spacing, [1, 1, 1])

    def test_a_file_a_step(self):
        series = openpmd_api.Series(str(STREAM / "step-%06T.openpmd.h5"), openpmd_api.Access.read_only)
        self.assertEqual(str(series.iteration_encoding), "Iteration_Encoding.file_based")
        self.assertEqual((series.author, series.openPMD), ("A. Person", "1.1.0"))
        self.check(series)
        series.close()
        for step in STEPS:
            self.validate(STREAM / f"step-{step:06}.openpmd.h5")

    def test_all_steps_in_one_file(self):
        all_of_forebay("view", STREAM, "--as", "openpmd", "--series")
        series = openpmd_api.Series(str(STREAM / "series.openpmd.h5"), openpmd_api.Access.read_only)
        self.assertEqual(str(series.iteration_encoding), "Iteration_Encoding.group_based")
        self.check(series)
        series.close()
        self.validate(STREAM / "series.openpmd.h5")


class NetCdf(unittest.TestCase):
    def check(self, path, steps):
        with netCDF4.Dataset(path) as file:
            self.assertEqual(file.Conventions, "CF-1.9")  # of i64 and u16 columns
            self.assertEqual(file.groups, {})
            self.assertEqual((file["step"][:].tolist(), file["step"].dtype), ([*steps], np.int32))
            density = file["fields_density"]
            self.assertEqual(density.forebay_name, "fields/density")
            self.assertEqual(density.dimensions, ("simulation_time", "x", "y", "z"))
            self.assertTrue(file.dimensions["simulation_time"].isunlimited())
            self.assertEqual((density.units, density.long_name), ("mean density", "cloud-in-cell density"))
            for i, step in enumerate(steps):
                np.testing.assert_array_equal(density[i], field(step, "fields/density"))
            rows = file["particles_row_size"][:].tolist()
            self.assertEqual(rows, [MESH**3] * len(steps))
            for name in ("x", "vz", "id"):
                wanted = np.concatenate([of_nodes(step, "particles/" + name) for step in steps])
                np.testing.assert_array_equal(file["particles_" + name][:], wanted)
            self.assertEqual(file["state_step"][:].tolist(), [*steps])
            self.assertEqual(file["state_random"].shape, (len(steps), 4))
        for engine in ("netcdf4", "h5netcdf"):
            with xr.open_dataset(path, engine=engine) as found:
                self.assertEqual(found["simulation_time"].dims, ("simulation_time",))
                np.testing.assert_array_equal(found["z"].values, 3 + 0.125 * np.arange(MESH))
                chosen = found["fields_density"].isel(simulation_time=-1).sel(y=2.25)
                np.testing.assert_array_equal(chosen.values, field(steps[-1], "fields/density")[:, 1, :])

    def test_a_file_a_step(self):
        for step in STEPS:
            self.check(STREAM / f"step-{step:06}.nc", [step])

    def test_all_steps_in_one_file(self):
        all_of_forebay("view", STREAM, "--as", "netcdf", "--series")
        self.check(STREAM / "series.nc", STEPS)
        head = dumped("ncdump", "-h", STREAM / "series.nc")
        for line in ("simulation_time = UNLIMITED ; // (3 currently)", "float fields_density(simulation_time, x, y, z) ;", "float particles_vx(particles) ;"):
            self.assertIn(line, head)
        self.assertIn("step = 2, 4, 6 ;", dumped("ncdump", "-v", "step", STREAM / "series.nc"))


class Elsewhere(unittest.TestCase):
    """Views that are not beside their snapshots, and snapshots that are not whole."""

    def test_a_file_somewhere_else(self):
        (ROOT / "results/deep").mkdir(parents=True)
        made = ROOT / "results/deep/run 120%.nc"
        said = json.loads(all_of_forebay("view", f"{STREAM}@4", "--as", "netcdf", "--to", made, "--json"))
        self.assertEqual((said["path"], said["steps"], said["missing"], said["not_shown"]), (str(made), [4], [], []))
        with h5py.File(made) as file:
            np.testing.assert_array_equal(file["particles_x"][()], of_nodes(4, "particles/x"))

    def test_missing_node_files_are_said(self):
        broken = ROOT / "broken/restart"
        shutil.copytree(STREAM, broken)
        os.remove(broken / "step-000004/node-00001.h5")
        text = all_of_forebay("view", f"{broken}@4", "--as", "openpmd", code=3)
        self.assertIn("1 of its 2 files are missing", text)
        self.assertIn("node-00001.h5", text)
        self.assertIn("--partial", text)
        text = all_of_forebay("view", f"{broken}@4", "--as", "netcdf", "--partial", code=1)
        self.assertIn("missing, read as fill values: step-000004/node-00001.h5", text)
        with h5py.File(broken / "step-000004.nc") as file:
            self.assertEqual(file.attrs["forebay_missing_files"].tolist(), [b"step-000004/node-00001.h5"])
            whole, found = field(4, "fields/density"), file["fields_density"][0]
            there = ~np.isnan(found)
            self.assertTrue(there.any() and not there.all())
            np.testing.assert_array_equal(found[there], whole[there])
            x = file["particles_x"][()]
            self.assertEqual(x.shape, (MESH**3,))
            self.assertTrue(np.isnan(x).any())

    def test_prune_takes_all_views(self):
        pruned = ROOT / "pruned/restart"
        shutil.copytree(STREAM, pruned)
        all_of_forebay("view", pruned, "--as", "netcdf", "--series")
        all_of_forebay("prune", pruned, "--keep", "1")
        self.assertEqual(sorted(path.name for path in pruned.iterdir() if not path.name.startswith(".")),
                         ["describe.toml", "step-000006", "step-000006.h5", "step-000006.h5part", "step-000006.nc",
                          "step-000006.openpmd.h5"])

    def test_recover_makes_what_is_missing(self):
        left = ROOT / "left/restart"
        shutil.copytree(STREAM, left)
        os.remove(left / "step-000004.openpmd.h5")
        os.remove(left / "step-000006.nc")
        all_of_forebay("recover", ROOT / "left")
        self.assertTrue((left / "step-000004.openpmd.h5").exists() and (left / "step-000006.nc").exists())


@unittest.skipUnless((BIN / "les").exists(), "no les in this build: hypre is missing")
class LargeEddy(unittest.TestCase):
    """280 variables of five shapes on 2 x 2 ranks, of which openPMD and netCDF show all arrays."""

    @classmethod
    def setUpClass(cls):
        os.environ.setdefault("FOREBAY_BINARY_DIR", str(BIN.parent))
        sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "apps/les"))
        from simulation import SMALL, Les

        cls.where = ROOT / "les"
        (ROOT / "les-staging").mkdir()
        Les(ROOT, 2, 2, **SMALL, run=str(cls.where), staging=str(ROOT / "les-staging"), save_every=2, end_step=4).finish()
        (cls.stream,) = [path for path in cls.where.iterdir() if path.is_dir() and path.name != "forebay"]

    def test_every_array(self):
        all_of_forebay("view", self.stream, "--as", "openpmd", "--all")
        all_of_forebay("view", self.stream, "--as", "netcdf", "--series")
        steps = sorted(int(path.name[5:]) for path in self.stream.glob("step-??????"))
        self.assertGreaterEqual(len(steps), 2)
        series = openpmd_api.Series(str(self.stream / "step-%06T.openpmd.h5"), openpmd_api.Access.read_only)
        meshes = 0
        with h5py.File(self.stream / "series.nc") as whole:
            for i, step in enumerate(steps):
                with h5py.File(self.stream / f"step-{step:06}.h5") as plain:
                    for _, record in series.iterations[step].meshes.items():
                        component = record[openpmd_api.Mesh_Record_Component.SCALAR]
                        name = component.get_attribute("forebay_name")
                        found = component.load_chunk()
                        series.flush()
                        np.testing.assert_array_equal(found, plain[name][()])
                        np.testing.assert_array_equal(whole[name.replace("/", "_")][i], plain[name][()])
                        meshes += 1
        self.assertGreaterEqual(meshes, 2 * 30)
        series.close()


if __name__ == "__main__":
    unittest.main()
