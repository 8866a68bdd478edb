"""Goal: the results of a run over its steps, as xarray and pandas show them, are the saved numbers.

Method: one process saves some steps of an array and of particles. `forebay insitu` makes statistics, a spectrum, planes
and halos. series() and table() are compared with numpy. A step is removed during a read. The test counts opened files,
since they are the cost of many steps.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

BUILD = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"])
if not list((BUILD / "python/forebay").glob("_forebay.*so")):
    print("skipped: the Python package is not built (it needs nanobind in build/venv)")
    sys.exit(77)
sys.path.insert(0, str(BUILD / "python"))

import numpy as np  # pylint: disable=wrong-import-position

import forebay  # pylint: disable=wrong-import-position
from forebay import results  # pylint: disable=wrong-import-position

STEPS = range(0, 100, 10)
SHAPE = (6, 6, 6)
CONFIG = """
[streams.state.insitu.numbers]
variables = ["u"]
[streams.state.insitu.power]
kind = "spectrum"
variables = ["u"]
[streams.state.insitu.cut]
kind = "slice"
variables = ["u"]
[streams.state.insitu.groups]
kind = "halos"
variables = ["gas/x", "gas/y", "gas/z"]
length = [1.0]
members = 2
linking_length = 0.05
"""


def field(step):
    return np.random.default_rng(step).normal(size=SHAPE) + step


def positions(step):
    """Pairs of particles, one more pair each step, too far apart to link."""
    pairs = step // 10
    x = np.repeat((np.arange(pairs) + 0.5) / len(STEPS), 2)
    return {"x": x, "y": x * 0 + np.tile((0.5, 0.501), pairs), "z": x * 0 + 0.5}


class Series(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="forebay-series-")
        cls.addClassCleanup(cls.scratch.cleanup)
        work = pathlib.Path(cls.scratch.name)
        (work / "forebay.toml").write_text(CONFIG)
        (work / "save.toml").write_text("")
        (work / "staging").mkdir()
        u, time = np.zeros(SHAPE), np.zeros(())
        with forebay.Session(work / "run", staging=work / "staging", config=work / "save.toml") as session:
            stream = session.stream("state", keep=0)
            stream.array("u", u, unit="K")
            stream.replicated("time", time)
            gas = stream.particles("gas", {"x": "f8", "y": "f8", "z": "f8"})
            for step in STEPS:
                u[:], time[...] = field(step), step / 2
                gas.bind(**positions(step))
                stream.save(step, step / 4)
        subprocess.run([BUILD / "bin/forebay", "insitu", work / "forebay.toml", work / "run/state@all"], check=True,
                       capture_output=True)
        cls.run_directory = work / "run"
        cls.opened = forebay.open(work / "run")

    def test_scalars(self):
        numbers = self.opened["state.numbers"].series()
        self.assertEqual(list(numbers.step.values), list(STEPS))
        self.assertEqual(list(numbers.time.values), [step / 4 for step in STEPS])
        np.testing.assert_allclose(numbers["u/mean"], [field(step).mean() for step in STEPS], rtol=1e-12)
        np.testing.assert_array_equal(numbers["u/max"], [field(step).max() for step in STEPS])
        self.assertEqual(numbers["u/count"].dtype, np.dtype("u8"))
        self.assertEqual(numbers["u/mean"].attrs["units"], "K")
        frame = numbers.to_dataframe()
        self.assertEqual(frame.loc[30, "u/min"], field(30).min())
        self.assertEqual(frame.loc[30, "time"], 7.5)
        self.assertEqual(list(self.opened["state"].series("time")["state.time"].values), [step / 2 for step in STEPS])

    def test_steps_and_names(self):
        numbers = self.opened["state.numbers"]
        self.assertEqual(list(numbers.series("u/m*").data_vars), ["u/min", "u/max", "u/mean"])
        self.assertEqual(list(numbers.series(steps=slice(20, 50)).step), [20, 30, 40, 50])
        self.assertEqual(list(numbers.series(steps=slice(20, None, 4)).step), [20, 60])
        self.assertEqual(list(numbers.series(steps=[90, 10]).step), [10, 90])
        with self.assertRaisesRegex(forebay.MissingError, "no committed snapshot of step 15"):
            numbers.series(steps=[10, 15])
        with self.assertRaisesRegex(forebay.MissingError, "no replicated variable nix"):
            numbers.series("nix")
        with self.assertRaisesRegex(forebay.MissingError, "only scalars"):
            numbers.table()

    def test_arrays_are_read_when_they_are_used(self):
        with mock.patch.object(results, "read_values", wraps=results.read_values) as read:
            planes = self.opened["state.cut"].series()
            before = read.call_count
            plane = planes["u/plane"].sel(step=40)
            self.assertEqual(read.call_count, before)
            np.testing.assert_array_equal(plane.values, field(40)[3])
            self.assertEqual(read.call_count, before + 1)
        np.testing.assert_array_equal(planes["u/plane"][2:8:3, 1, ::2].values, [field(step)[3][1, ::2] for step in (20, 50)])

    def test_a_spectrum_is_over_its_wave_numbers(self):
        power = self.opened["state.power"].series()
        self.assertEqual(power["u/power"].dims, ("step", "u/k"))
        self.assertEqual(self.opened["state.power"].series("u/power")["u/power"].dims, ("step", "u/k"))
        whole = np.abs(np.fft.fftn(field(70)) / field(70).size) ** 2
        np.testing.assert_allclose((power["u/power"] * power["u/modes"]).sel(step=70).sum(), whole.sum(), rtol=1e-9)
        self.assertEqual(power.attrs, {})

    def test_lists_of_any_length(self):
        groups = self.opened["state.groups"]
        series = groups.series()
        self.assertEqual(list(series["gas/count"].values), [step // 10 for step in STEPS])
        self.assertEqual(series.attrs["lists"], ["gas/center", "gas/members"])
        table = groups.table()
        self.assertEqual(list(table.columns), ["step", "time", "gas/members", "gas/center.0", "gas/center.1", "gas/center.2"])
        self.assertEqual(len(table), sum(step // 10 for step in STEPS))
        self.assertTrue((table["gas/members"] == 2).all())
        np.testing.assert_allclose(sorted(table[table.step == 30]["gas/center.0"]), np.unique(positions(30)["x"]))

    def test_an_array_that_only_some_steps_have(self):
        whole = results._steps  # pylint: disable=protected-access

        def every_second(*given, **named):
            steps = whole(*given, **named)
            for one in steps[1::2]:
                one.found.clear()
            return steps
        with mock.patch.object(results, "_steps", side_effect=every_second):
            series = self.opened["state.cut"].series()
        self.assertEqual(series.attrs, {})
        np.testing.assert_array_equal(series["u/plane"].sel(step=40).values, field(40)[3])
        self.assertTrue(np.isnan(series["u/plane"].sel(step=30).values).all())
        self.assertEqual(np.isfinite(series["u/plane"].values).all((1, 2)).tolist(), [True, False] * 5)

    def test_marks_are_seen(self):
        copy = self.run_directory.with_name("marked")
        shutil.copytree(self.run_directory, copy)
        self.addCleanup(shutil.rmtree, copy)
        stream = forebay.open(copy)["state.numbers"]
        self.assertEqual((stream.newest.marks, stream.newest_good.step), ([], STEPS[-1]))
        for step in STEPS[1:]:
            subprocess.run([BUILD / "bin/forebay", "mark", f"{copy}/state.numbers@{step}", "--why", "a test"], check=True, capture_output=True)
        self.assertEqual([one["condition"] for one in stream.newest.marks], ["a test"])
        self.assertEqual(stream.newest_good.step, STEPS[0])
        subprocess.run([BUILD / "bin/forebay", "mark", f"{copy}/state.numbers@{STEPS[0]}", "--why", "a test"], check=True, capture_output=True)
        with self.assertRaisesRegex(forebay.MissingError, "has no committed snapshot that is not marked"):
            stream.newest_good.step  # pylint: disable=pointless-statement

    def test_cost(self):
        with mock.patch.object(results, "read_values", wraps=results.read_values) as read:
            self.opened["state.numbers"].series().load()
        self.assertEqual(read.call_count, len(STEPS))
        self.assertFalse(list((self.run_directory / "state.numbers").glob("*.h5")), "a view was made")

    def test_a_step_that_goes_meanwhile(self):
        copy = self.run_directory.with_name("copy")
        shutil.copytree(self.run_directory, copy)
        self.addCleanup(shutil.rmtree, copy)
        read = results.read_values

        def read_late(directory, variables):
            if directory.endswith("step-000050"):
                shutil.rmtree(directory)
            return read(directory, variables)

        with mock.patch.object(results, "read_values", read_late):
            steps = forebay.open(copy)["state.numbers"].series().step.values
        self.assertEqual(list(steps), [step for step in STEPS if step != 50])


if __name__ == "__main__":
    unittest.main()
