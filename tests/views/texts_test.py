"""Goal: other programs open views and exports with texts, in arrays, columns, scalars and tables without rows: netCDF-C
took an explicit fill value of a text for an address.

Method: Forebay's package for Python saves texts; h5py, netCDF4, xarray and ncdump read each convention's view and export.
Readers that crash end a process of their own.
"""

import subprocess
import sys

from forebay_test import BUILD, forebay

if not list((BUILD / "python/forebay").glob("_forebay.*so")):
    print("skipped: the Python package is not built (it needs nanobind in build/venv)")
    sys.exit(77)
sys.path.insert(0, str(BUILD / "python"))
try:
    import forebay as binding
    import h5py
    import netCDF4
    import numpy as np
    import pytest
    import xarray  # noqa: F401
except ImportError as absent:
    print(f"skipped: {absent}")
    sys.exit(77)

# Older netCDF-C crashes on each array of texts of fixed length (issue 2159 of netCDF-C).
TEXT_TOLERANT = tuple(int(part) for part in netCDF4.getlibversion().split()[0].split(".")[:3]) >= (4, 9, 1)
NAMES = np.array([[b"ab", b"c", b""], [b"defg", b"h", b"ij"]], "S4")

READ = """
import sys, netCDF4
with netCDF4.Dataset(sys.argv[1]) as file:
    def walk(group):
        for name, variable in group.variables.items():
            variable[...]
        for inner in group.groups.values():
            walk(inner)
    walk(file)
"""
OPEN = """
import sys, xarray
with xarray.open_dataset(sys.argv[1], engine="netcdf4", decode_times=False) as data:
    data.load()
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    run = tmp_path_factory.mktemp("texts") / "run"
    with binding.Session(str(run)) as session:
        stream = session.stream("r", view=["netcdf", "plain"])
        stream.array("names", NAMES)
        stream.array("one", np.array([b"xyz"], "S3"))
        stream.array("u", np.arange(6.0).reshape(2, 3))
        stream.replicated("title", np.array(b"a run", "S16"))
        full = stream.particles("stars", {"id": "u8", "tag": "S4"})
        full.bind(id=np.arange(3, dtype="u8"), tag=np.array([b"a", b"bb", b"cccc"], "S4"))
        empty = stream.particles("gas", {"id": "u8", "tag": "S4"})
        empty.bind(id=np.zeros(0, "u8"), tag=np.zeros(0, "S4"))
        stream.save(1)
    return run


def files_of(run):
    """Views and exports of the conventions that netCDF-C reads."""
    files = {"view.plain": run / "r/step-000001.h5", "view.netcdf": run / "r/step-000001.nc"}
    for convention in ("plain", "netcdf"):
        path = run.parent / f"{convention}.nc"
        if not path.exists():
            forebay("export", convention, f"{run}/r@1", path)
        files[f"export.{convention}"] = path
    return files


KINDS = ["view.plain", "view.netcdf", "export.plain", "export.netcdf"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("script", [READ, OPEN])
def test_netcdf_opens_it(run, kind, script):
    if not TEXT_TOLERANT:
        pytest.skip("this netCDF-C crashes on every text of fixed length")
    subprocess.run([sys.executable, "-c", script, files_of(run)[kind]], check=True, timeout=120)


@pytest.mark.parametrize("kind", KINDS)
def test_texts_have_no_fill_value(run, kind):
    """This is what the crash came of; HDF5's own default is the same zeros."""
    seen = []

    def check(path, one):
        if isinstance(one, h5py.Dataset) and one.dtype.kind == "S":
            seen.append(path)
            assert one.id.get_create_plist().fill_value_defined() != h5py.h5d.FILL_VALUE_USER_DEFINED, path

    with h5py.File(files_of(run)[kind]) as file:
        file.visititems(check)
    assert seen


@pytest.mark.parametrize("kind", KINDS)
def test_values(run, kind):
    found = {}
    with h5py.File(files_of(run)[kind]) as file:
        # netCDF calls it "stars_tag".
        file.visititems(lambda path, one: found.update({path.replace("/", "_"): one[()]})
                        if isinstance(one, h5py.Dataset) else None)
    assert found["names"].reshape(2, 3).astype("S4").tolist() == NAMES.tolist()
    assert np.ravel(found["stars_tag"]).astype("S4").tolist() == [b"a", b"bb", b"cccc"]
    assert found["gas_tag"].size == 0
    assert np.ravel(found["title"]).astype("S16").tolist() == [b"a run"]


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
