#!/usr/bin/env python3
"""Goal: runs of real programs, nbody's particles and les' 280 variables, are exported in every convention, one step and
several in a file, equal to the views bit for bit, and their own programs and judges accept them.

Method: each simulation runs a few steps under mpiexec, with node files and once more with a shared file; `forebay export`
copies what it committed. The shared file itself holds what the node files do. One that is not built is left out, by name. Exits with 77 when a reader is not installed or neither is built.
"""

import os
import shutil
import sys
import tempfile
import unittest

from forebay_test import BUILD, FOREBAY, output_of

try:
    import hdf5plugin  # noqa: F401  (for the view of the compressed run)
    import h5py
    import netCDF4
    import numpy as np
    import openpmd_api
    import xarray as xr
except ImportError as missing:
    print(f"skipped: {missing}; scripts/bootstrap installs the readers")
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import same_content  # noqa: E402

VALIDATOR = os.path.join(os.path.dirname(sys.executable), "openPMD_check_h5")
for tool in ("h5dump", "ncdump", "mpiexec", VALIDATOR):
    if shutil.which(tool) is None:
        print(f"skipped: {tool} is not installed")
        sys.exit(77)

BIN = BUILD / "bin"
SCRATCH = tempfile.TemporaryDirectory(prefix="forebay-runs-")
RUNS = [name for name in ("nbody", "les") if (BIN / name).exists()]
# More runs of the same data: the program, and the options of its stream.
FURTHER = {name: how for name, how in {"compressed": ("nbody", 'compression = "zstd"'), "nbody-shared": ("nbody", 'file = "shared"'),
                                       "les-shared": ("les", 'file = "shared"')}.items() if how[0] in RUNS}
for name in {"nbody", "les"} - set(RUNS):
    print(f"left out: {name} is not built")
if not RUNS:
    sys.exit(77)


def path(*names):
    return os.path.join(SCRATCH.name, *names)


def setUpModule():
    for name, (program, how) in ({name: (name, "") for name in RUNS} | FURTHER).items():
        os.mkdir(path("staging-" + name))
        with open(path(name + ".toml"), "w") as file:
            file.write(("virtual_nodes = 2\n" if program == "les" else "") + f"[streams.restart]\n{how}\n")
        if program == "nbody":
            output_of("mpiexec", "-n", "3", BIN / "nbody", "--mesh", "16", "--particles", "16", "--steps", "4", "--run", path(name),
                      "--save-every", "2", "--virtual-nodes", "2", "--staging", path("staging-" + name), "--config", path(name + ".toml"))
            continue
        with open(path(name + ".nml"), "w") as file:
            file.write(f"&les nx=25 ny=18 nz=12 ranks_x=2 ranks_y=2 run='{path(name)}' save_every=4 end_step=8\n"
                       f"staging='{path('staging-' + name)}' config='{path(name + '.toml')}' /\n")
        output_of("mpiexec", "-n", "4", BIN / "les", path(name + ".nml"))


def exported(name, convention, steps="@all"):
    """The export, and the view of the same steps."""
    # openPMD's programs know HDF5 by the ending.
    stem = f"{name}-{convention}-{steps.strip('@')}"
    file, view = path(stem + ".h5"), path(stem + "-view.h5")
    if not os.path.exists(file):
        place = path(name, "restart")
        output_of(FOREBAY, "export", convention, place + steps, file)
        output_of(FOREBAY, "view", place + ("" if steps == "@all" else steps), "--as", convention, "--to", view,
                  *(["--series"] if steps == "@all" else []))
    return file, view


class TheSameAsTheView(unittest.TestCase):
    def check(self, convention, steps, least):
        for name in least.keys() & {*RUNS, *FURTHER}:
            with self.subTest(name=name):
                self.assertGreaterEqual(same_content.check(self, *exported(name, convention, steps)), least[name])

    def test_plain(self):
        self.check("plain", "@last", {"nbody": 20, "les": 280, "compressed": 20, "nbody-shared": 20, "les-shared": 280})

    def test_h5part(self):
        self.check("h5part", "@last", {"nbody": 7, "les": 9, "compressed": 7, "nbody-shared": 7, "les-shared": 9})
        self.check("h5part", "@all", {"nbody": 14, "les": 18})

    def test_openpmd(self):
        self.check("openpmd", "@last", {"nbody": 10, "les": 80, "nbody-shared": 10, "les-shared": 80})
        self.check("openpmd", "@all", {"nbody": 20, "les": 160})

    def test_netcdf(self):
        self.check("netcdf", "@last", {"nbody": 20, "les": 280, "nbody-shared": 20, "les-shared": 280})
        self.check("netcdf", "@all", {"nbody": 20, "les": 280})


class SharedFile(unittest.TestCase):
    """One file of all nodes, without Forebay: what the run with node files shows, but for the clocks of the programs."""

    def files(self):
        for name, (program, _) in FURTHER.items():
            if name.endswith("-shared"):
                step = "step-000004" if program == "nbody" else "step-000008"
                self.assertEqual(sorted(os.listdir(path(name, "restart", step))), ["manifest.json", "shared.h5"])
                yield name, path(name, "restart", step, "shared.h5"), path(program, "restart", step + ".h5")

    def test_h5py(self):
        for name, shared, view in self.files():
            with self.subTest(name=name), h5py.File(shared) as found, h5py.File(view) as wanted:
                differ, compared = [], 0
                for path_of, dataset in self.datasets(wanted):
                    if dataset.dtype == object or dataset.attrs.get("CLASS") == b"DIMENSION_SCALE" and path_of not in found:
                        continue
                    compared += 1
                    self.assertFalse(found[path_of].is_virtual or found[path_of].chunks, path_of)
                    if not np.array_equal(found[path_of][()], dataset[()], equal_nan=dataset.dtype.kind == "f"):
                        differ.append(path_of)
                self.assertGreater(compared, 15)
                self.assertLess(len(differ), 8, differ)
                self.assertEqual([one for one in differ if found[one].size > 1], [])

    @staticmethod
    def datasets(file):
        found = []
        file.visititems(lambda name, one: found.append((name, one)) if isinstance(one, h5py.Dataset) else None)
        return found

    def test_other_readers(self):
        for name, shared, _ in self.files():
            with self.subTest(name=name):
                self.assertNotIn("unable to", output_of("h5dump", "-w", "0", shared))
                self.assertIn("dimensions:", output_of("ncdump", "-h", shared))
                for engine in ("netcdf4", "h5netcdf"):
                    options = {"phony_dims": "access"} if engine == "h5netcdf" else {}
                    with xr.open_datatree(shared, engine=engine, decode_times=False, **options) as tree:
                        self.assertGreater(sum(len(node.to_dataset().variables) for node in tree.subtree), 15)

    def test_openpmd_shows_it(self):
        for name, _, _ in self.files():
            with self.subTest(name=name):
                _, view = exported(name, "openpmd", "@last")
                self.assertIn("Result: 0 Errors", output_of(VALIDATOR, "-i", view, code=None))
                series = openpmd_api.Series(view, openpmd_api.Access.read_only)
                with h5py.File(view, "r") as raw:
                    for iteration in series.iterations:
                        Readers.same_records(self, series, series.iterations[iteration], raw[f"data/{iteration}"])
                series.close()


class Readers(unittest.TestCase):
    def test_h5dump_reads_everything(self):
        for name in RUNS:
            for convention in ("h5part", "openpmd", "netcdf"):
                self.assertNotIn("unable to", output_of("h5dump", "-w", "0", exported(name, convention)[0]))

    def test_openpmd(self):
        for name in RUNS:
            for steps in ("@all", "@last"):
                with self.subTest(name=name, steps=steps):
                    file, _ = exported(name, "openpmd", steps)
                    judged = output_of(VALIDATOR, "-i", file, code=None)
                    self.assertIn("Result: 0 Errors", judged)
                    series = openpmd_api.Series(file, openpmd_api.Access.read_only)
                    with h5py.File(file, "r") as raw:
                        iterations = list(series.iterations)
                        self.assertEqual(len(iterations), 2 if steps == "@all" else 1)
                        for iteration in iterations:
                            self.same_records(series, series.iterations[iteration], raw[f"data/{iteration}"])
                    series.close()

    def same_records(self, series, iteration, raw):
        """openPMD's own program reads each record component that is a dataset as HDF5 does."""
        for kind, all_of in (("meshes", iteration.meshes.items()),
                             ("particles", [(f"{s}/{r}", record) for s, species in iteration.particles.items()
                                            for r, record in species.items()])):
            for record_name, record in all_of:
                for component in record:
                    whole = f"{kind}/{record_name}" + ("" if record.scalar else f"/{component}")
                    if not isinstance(raw[whole], h5py.Dataset) or raw[whole].dtype.kind == "S":
                        continue
                    values = record[component].load_chunk()
                    series.flush()
                    np.testing.assert_array_equal(values, raw[whole][()], whole)

    def test_netcdf(self):
        for name in RUNS:
            for steps in ("@all", "@last"):
                file, _ = exported(name, "netcdf", steps)
                self.assertNotIn("phony", output_of("ncdump", "-h", file))
                with h5py.File(file, "r") as raw, netCDF4.Dataset(file) as found:
                    self.same_group(found, raw)

    def same_group(self, found, raw):
        found.set_auto_mask(False)
        for name, variable in found.variables.items():
            if variable.dtype != str:
                np.testing.assert_array_equal(variable[...], raw[name][()], name)
        for name, group in found.groups.items():
            self.same_group(group, raw[name])

    def test_xarray(self):
        for name in RUNS:
            file, _ = exported(name, "netcdf")
            for engine in ("netcdf4", "h5netcdf"):
                with self.subTest(name=name, engine=engine), h5py.File(file, "r") as raw, \
                        xr.open_datatree(file, engine=engine, decode_times=False, mask_and_scale=False) as tree:
                    compared = 0
                    for node in tree.subtree:
                        for leaf, variable in node.to_dataset().variables.items():
                            whole = f"{node.path.strip('/')}/{leaf}".strip("/")
                            if whole in raw and variable.dtype.kind in "fiu":
                                np.testing.assert_array_equal(variable.values, raw[whole][()], whole)
                                compared += 1
                    self.assertGreater(compared, 5)


if __name__ == "__main__":
    unittest.main()
