#!/usr/bin/env python3
"""Goal: programs of others open views and exports as docs/how-to/export-one-file.md says, and read what was saved.

Method: a run of three steps, saved here, with views and exports of it. tools_test.py TOOL gives them to one program and
compares what it makes of them with what was saved. Exits with 77 where the program is not installed; `scripts/bootstrap
tools` installs all of them.
"""

import importlib
import json
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

from forebay_test import BUILD, FOREBAY, output_of, run

if not list((BUILD / "python/forebay").glob("_forebay.*so")):
    print("skipped: the Python package is not built (it needs nanobind in build/venv)")
    sys.exit(77)
sys.path.insert(0, str(BUILD / "python"))

import netCDF4  # noqa: E402
import numpy as np  # noqa: E402

import forebay  # noqa: E402

SCRATCH = tempfile.TemporaryDirectory(prefix="forebay-tools-")
ROOT = pathlib.Path(SCRATCH.name)
STEPS, SHAPE, ROWS = (10, 20, 40), (4, 6, 5), (7, 9, 0)
DESCRIPTION = """[file]
timeUnits = "days since 2001-01-01 00:00:00"
[variables."air/*"]
gridSpacing = [100, 0.5, 0.25]
"""


def temperature(i):
    return (np.arange(np.prod(SHAPE), dtype="f4").reshape(SHAPE) + 250 + i).astype("f4")


def column(name, i):
    """Places inside the grid."""
    return (np.arange(ROWS[i], dtype="f4") + i) / 64 * {"x": 1, "y": 2, "z": 100}[name]


def save(run_directory, id_type="i4", is_alone=False):
    """A field, a scalar and a table of tracers, whose ids have this type; without `is_alone` another field."""
    config = ROOT / "config.toml"
    (ROOT / "staging").mkdir(exist_ok=True)
    config.write_text(f'staging = "{ROOT / "staging"}"\n[agent]\nmode = "thread"\n')
    with forebay.Session(run_directory, config=config) as session:
        stream = session.stream("fields", keep=0)
        air, wind, dt = np.zeros(SHAPE, "f4"), np.zeros(SHAPE[1:], "f8"), np.zeros(())
        stream.array("air/temperature", air, unit="K", description="air temperature", dimensions=("z", "y", "x"))
        if not is_alone:
            stream.array("surface/wind", wind, unit="m s-1", dimensions=("y", "x"))
        stream.replicated("clock/dt", dt, unit="s")
        tracers = stream.particles("tracers", {"id": id_type, "x": "f4", "y": "f4", "z": "f4"}, dict.fromkeys("xyz", "m"))
        for i, step in enumerate(STEPS):
            air[...], wind[...], dt[...] = temperature(i), i, 0.5
            tracers.bind(id=np.arange(ROWS[i], dtype=id_type), **{name: column(name, i) for name in "xyz"})
            stream.save(step, i / 4)
    pathlib.Path(run_directory, "fields/describe.toml").write_text(DESCRIPTION)


def made(convention, suffix, *options, name="run", place=None):
    """The view of all steps, and their export."""
    stream = ROOT / name / "fields"
    view, export = ROOT / f"{name}-view" / f"all{suffix}", ROOT / f"{name}-export" / f"all{suffix}"
    if not export.exists():
        for path in (view, export):
            path.parent.mkdir(exist_ok=True)
        output_of(FOREBAY, "view", stream, "--as", convention, "--series", "--to", view)
        output_of(FOREBAY, "export", convention, f"{stream}@all", export, *options)
    return view, export


def netcdf_files():
    return made("netcdf", ".nc")


def setUpModule():
    save(ROOT / "run")


class Nccopy(unittest.TestCase):
    NEEDS = ["nccopy"]

    def check(self, path, *kinds):
        for kind in kinds:
            copy = ROOT / f"{kind}.nc"
            output_of("nccopy", "-k", kind, path, copy)
            with netCDF4.Dataset(copy) as found, netCDF4.Dataset(path) as wanted:
                self.assertEqual(list(found.variables), list(wanted.variables))
                for name in wanted.variables:
                    np.testing.assert_array_equal(found[name][...], wanted[name][...])
                np.testing.assert_array_equal(found["air_temperature"][2], temperature(2))

    def test_an_export_goes_into_every_kind_of_netcdf(self):
        self.check(netcdf_files()[1], "nc3", "nc6", "nc4", "nc7", "cdf5")

    def test_a_view_goes_into_classic_kinds(self):
        self.check(netcdf_files()[0], "nc3", "nc6", "cdf5")


class Nco(unittest.TestCase):
    NEEDS = ["ncks", "ncra"]

    def test_reading(self):
        for path in netcdf_files():
            said = json.loads(output_of("ncks", "--jsn", "-C", "-v", "tracers_x,step", path))["variables"]
            self.assertEqual(said["step"]["data"], [*STEPS])
            np.testing.assert_array_equal(said["tracers_x"]["data"], np.concatenate([column("x", i) for i in range(3)]))

    def test_means_over_time(self):
        view, export = netcdf_files()
        for path, *options in ((view, "-6"), (view, "-5"), (export,)):
            output_of("ncra", "-O", *options, path, ROOT / "mean.nc")
            with netCDF4.Dataset(ROOT / "mean.nc") as mean:
                np.testing.assert_array_equal(mean["air_temperature"][0], temperature(1))


class Cdo(unittest.TestCase):
    NEEDS = ["cdo"]

    def test_every_variable_is_seen(self):
        for path in netcdf_files():
            self.assertEqual(sorted(output_of("cdo", "-s", "showname", path).split()),
                             ["air_temperature", "clock_dt", "step", "surface_wind", "tracers_id", "tracers_row_size",
                              "tracers_x", "tracers_y", "tracers_z"])
            self.assertEqual(output_of("cdo", "-s", "showtimestamp", path).split(),
                             ["2001-01-01T00:00:00", "2001-01-01T06:00:00", "2001-01-01T12:00:00"])

    def test_values(self):
        for path in netcdf_files():
            said = output_of("cdo", "-s", "outputf,%.9g", "-timmean", "-selname,air_temperature", path)
            np.testing.assert_array_equal(np.array(said.split(), "f8").astype("f4"), temperature(1).ravel())


class Cf(unittest.TestCase):
    NEEDS = ["compliance-checker"]

    def check(self, version, *paths):
        for path in paths:
            run("compliance-checker", "-t", f"cf:{version}", "-v", path)

    def test_cf_1_8(self):
        self.check("1.8", *netcdf_files())

    def test_without_units_of_time(self):
        save(ROOT / "undated")
        described = ROOT / "undated/fields/describe.toml"
        for units in ("", 'timeUnits = "s"\n'):
            described.write_text("[file]\n" + units)
            files = made("netcdf", ".nc", name="undated")
            self.check("1.8", *files)
            for path in files:
                path.unlink()

    def test_what_needs_cf_1_9_claims_it(self):
        save(ROOT / "wide", "i8")
        self.check("1.9", *made("netcdf", ".nc", name="wide"))


class Vtk(unittest.TestCase):
    NEEDS = ["vtkmodules.vtkIOH5part"]

    def test_all_steps_of_a_renumbered_export(self):
        from vtkmodules.vtkIOH5part import vtkH5PartReader
        _, export = made("h5part", ".h5part", "--renumber")
        reader = vtkH5PartReader()
        reader.SetFileName(str(export))
        for i in range(3):
            reader.UpdateTimeStep(i)
            found = reader.GetOutput()
            self.assertEqual(found.GetNumberOfPoints(), ROWS[i])
            for row in range(ROWS[i]):
                self.assertEqual(found.GetPoint(row), tuple(column(name, i)[row] for name in "xyz"))


class Yt(unittest.TestCase):
    NEEDS = ["yt"]

    def test_a_field(self):
        import yt
        save(ROOT / "alone", is_alone=True)
        for path in made("openpmd", ".openpmd.h5", name="alone"):
            series = yt.load(str(path))
            self.assertEqual(len(series), len(STEPS))
            for i, found in enumerate(series):
                self.assertEqual(float(found.current_time), i / 4)
                self.assertEqual(found.particle_type_counts, {"io": ROWS[i]})
                np.testing.assert_array_equal(found.domain_right_edge, [400, 3, 1.25])
                grid = found.covering_grid(0, found.domain_left_edge, found.domain_dimensions)
                np.testing.assert_array_equal(np.asarray(grid["openPMD", "temperature"]), temperature(i))


class OpenpmdViewer(unittest.TestCase):
    NEEDS = ["openpmd_viewer"]

    def test_field_and_particles(self):
        from openpmd_viewer import OpenPMDTimeSeries
        for path in made("openpmd", ".openpmd.h5"):
            series = OpenPMDTimeSeries(str(path.parent))
            self.assertEqual((series.iterations.tolist(), series.t.tolist()), ([*STEPS], [0, 0.25, 0.5]))
            for i, step in enumerate(STEPS):
                field, _ = series.get_field("temperature", iteration=step)
                np.testing.assert_array_equal(field, temperature(i))
                if ROWS[i]:
                    for name in "xyz":
                        found, = series.get_particle([name], "tracers", iteration=step)
                        np.testing.assert_array_equal(found, column(name, i))


def is_there(need):
    if "." in need or need in ("yt", "openpmd_viewer"):
        try:
            return bool(importlib.import_module(need))
        except ImportError:
            return False
    return shutil.which(need) is not None


if __name__ == "__main__":
    chosen = globals()[sys.argv[1].title().replace("_", "")]
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    for need in chosen.NEEDS:
        if not is_there(need):
            print(f"skipped: {need} is not installed; scripts/bootstrap tools installs it")
            sys.exit(77)
    unittest.main(argv=sys.argv[:1] + [chosen.__name__])
