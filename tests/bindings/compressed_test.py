"""Goal: one word in the configuration compresses a stream. The data come back bit for bit. Readers without Forebay read
node files and views. The program reports the gain. A killed drain is finished by hand.

Method: this process saves a smooth field, ids and noise with an agent beside it; h5py and xarray with hdf5plugin read
them. An agent is killed while it compresses at a rate limit.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"])
if not list((BUILD / "python/forebay").glob("_forebay.*so")):
    print("skipped: the Python package is not built (it needs nanobind in build/venv)")
    sys.exit(77)
sys.path.insert(0, str(BUILD / "python"))

import h5py  # pylint: disable=wrong-import-position
import hdf5plugin  # pylint: disable=wrong-import-position,unused-import
import numpy as np  # pylint: disable=wrong-import-position

import forebay  # pylint: disable=wrong-import-position

SHAPE = (40, 90, 101)
CONFIG = """
[agent]
rate_bytes_per_second = {rate}
[streams.restart]
keep = 0
[streams.restart.compression]
codec = "{codec}"
variables = {{ "fields/f" = {{ codec = "zfp", error = 1e-4 }}, "gas/noise" = "auto" }}
"""


def state():
    z, y, x = np.mgrid[0:SHAPE[0], 0:SHAPE[1], 0:SHAPE[2]]
    u = np.sin(z / 10) * np.cos(y / 20) + x * 1e-3
    rng = np.random.default_rng(1)
    return {"fields/u": u, "fields/f": u.astype("f4")}, {"id": np.arange(300_001), "noise": rng.random(300_001)}


def described(session, fields, rows):
    stream = session.stream("restart")
    for name, data in fields.items():
        stream.array(name, data, dimensions=("z", "y", "x"))
    stream.replicated("small", np.arange(10.0))
    gas = stream.particles("gas", {"id": "i8", "noise": "f8"})
    gas.bind(**rows)
    return stream


def opened(work, codec="auto", rate=0):
    (work / "config.toml").write_text(CONFIG.format(codec=codec, rate=rate))
    return forebay.Session(work / "run", staging=work / "staging", config=work / "config.toml")


def program(*words, expect=0):
    done = subprocess.run([BUILD / "bin/forebay", *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == expect, f"{words} ends with {done.returncode}: {done.stdout} {done.stderr}"
    return done.stdout


class Compressed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.addCleanup(self.folder.cleanup)
        self.work = pathlib.Path(self.folder.name)
        (self.work / "staging").mkdir()
        self.fields, self.rows = state()

    def open(self, codec="auto"):
        return opened(self.work, codec)

    def save(self, codec, steps=3):
        with self.open(codec) as session:
            stream = described(session, self.fields, self.rows)
            for step in range(steps):
                stream.save(step)
        return stream.counters

    def node_file(self, step):
        return self.work / f"run/restart/step-{step:06}/node-00000.h5"

    def check_restart(self):
        fields = {name: np.zeros_like(data) for name, data in self.fields.items()}
        rows = {name: np.zeros_like(data) for name, data in self.rows.items()}
        with self.open() as session:
            stream = described(session, fields, rows)
            restart = stream.newest()
            restart.read()
            step = restart.step
        np.testing.assert_array_equal(fields["fields/u"], self.fields["fields/u"])
        self.assertLessEqual(np.abs(fields["fields/f"] - self.fields["fields/f"]).max(), 1e-4)
        for name, data in rows.items():
            np.testing.assert_array_equal(data, self.rows[name])
        return step

    def test_saved_shown_and_restored(self):
        for codec in ("auto", "lz4", "zstd"):
            with self.subTest(codec=codec):
                counters = self.save(codec)
                self.assertEqual(counters.commits, 3)
                self.assertEqual(counters.bytes_drained, counters.bytes_saved)
                # `auto` stores a save uncompressed when somebody waits for it; zfp is compressed all the same.
                self.assertLess(counters.bytes_stored, (0.95 if codec == "auto" else 0.7) * counters.bytes_drained)
                self.assertEqual(self.check_restart(), 2)
                program("verify", self.work / "run")
                shown = json.loads(program("show", self.node_file(2), "--json"))
                stored = {one["variable"]: one for one in shown["compression"]}
                self.assertEqual(sum(stored["fields/u"]["efforts"].values()), self.fields["fields/u"].nbytes)
                self.assertLess(stored["fields/f"]["stored_bytes"], stored["fields/f"]["bytes"] / 3)
                self.assertEqual(stored["fields/f"]["filter"], 32013)
                self.assertEqual(stored["small"]["filter"], 0)
                self.assertIn("zfp 100 %", program("show", self.node_file(2)))
                program("prune", self.work / "run", "--keep", "1")

    def test_a_staged_copy_is_known_by_the_packed_snapshot(self):
        fields = {name: data.copy() for name, data in self.fields.items()}
        with self.open("zstd") as session:
            stream = described(session, fields, self.rows)
            stream.save(5)
            while stream.counters.commits == 0:
                time.sleep(0.05)
            for data in fields.values():
                data[:] = 0
            restart = stream.newest()
            self.assertIn("staged copy", restart.source)
            restart.read()
        for name, data in fields.items():  # the caller's arrays, without the error of the stored values
            np.testing.assert_array_equal(data, self.fields[name])

    def test_other_readers(self):
        self.save("zstd")
        with h5py.File(self.node_file(1)) as file:
            np.testing.assert_array_equal(file["fields/u"][()].reshape(SHAPE), self.fields["fields/u"])
            np.testing.assert_array_equal(file["gas/noise"][()], self.rows["noise"])
        view = next((self.work / "run/restart").glob("*000001*.h5"))
        with h5py.File(view) as file:
            np.testing.assert_array_equal(file["fields/u"][3:7, ::5], self.fields["fields/u"][3:7, ::5])
            np.testing.assert_array_equal(file["gas/id"][()], self.rows["id"])
            np.testing.assert_array_equal(file["small"][()], np.arange(10.0))
        import xarray as xr  # half of the start of this program, which runs twice  # pylint: disable=import-outside-toplevel

        with xr.open_dataset(view, group="fields", engine="h5netcdf", phony_dims="sort") as data:
            self.assertLessEqual(np.abs(data["f"].values - self.fields["fields/f"]).max(), 1e-4)

    def test_an_agent_that_is_killed_while_it_packs(self):
        application = subprocess.Popen([sys.executable, __file__, "save-and-wait", self.work])  # pylint: disable=consider-using-with
        part = self.work / "run/restart"
        for _ in range(6000):
            if list(part.glob(".step-*/*.tmp")):
                break
            time.sleep(0.05)
        self.assertTrue(list(part.glob(".step-*/*.tmp")), "the agent did not begin")
        # The agent dies first: without its application it would drop the rate limit.
        found = subprocess.run(["pgrep", "-f", f"agent.*{self.work}"], capture_output=True, text=True, check=True)
        for pid in found.stdout.split():
            os.kill(int(pid), signal.SIGKILL)
        application.kill()
        application.wait()
        self.assertFalse(list(part.glob("step-*")))
        staged = next((self.work / "staging").glob("forebay-*/*"))
        program("drain", staged)
        program("verify", self.work / "run")
        self.assertEqual(self.check_restart(), 7)


def save_and_wait(work):
    """The application to be killed. Its agent writes for ten seconds."""
    session = opened(work, "zstd", rate=400_000)
    described(session, *state()).save(7)
    time.sleep(600)


if __name__ == "__main__":
    if sys.argv[1:2] == ["save-and-wait"]:
        save_and_wait(pathlib.Path(sys.argv[2]))
        sys.exit()
    unittest.main(verbosity=2)
