"""Goal: arrays with an extent of 0 are saved, shown, exported, checked and restored like any other array, in every
form.

Method: sessions of one process; h5py opens views and exports.
"""

import os
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"])
if not list((BUILD / "python/forebay").glob("_forebay.*so")):
    print("skipped: the Python package is not built (it needs nanobind in build/venv)")
    sys.exit(77)
sys.path.insert(0, str(BUILD / "python"))

import h5py  # pylint: disable=wrong-import-position
import numpy as np  # pylint: disable=wrong-import-position
import pytest  # pylint: disable=wrong-import-position

import forebay  # pylint: disable=wrong-import-position

SHAPES = {"rows": (0, 3), "columns": (4, 0), "line": (0,), "full": (2, 3)}


def program(*arguments):
    """The standard output of the program."""
    done = subprocess.run([BUILD / "bin/forebay", *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout


def describe(stream):
    """Arrays of these shapes, and a list without entries on any rank."""
    arrays = {name: np.ones(shape) for name, shape in SHAPES.items()}
    for name, data in arrays.items():
        stream.array(f"fields/{name}", data)
    stream.replicated("list", np.zeros(0))
    return arrays


@pytest.mark.parametrize("options", [{}, {"compression": "zstd"}, {"compression": {"codec": "zfp", "error": 1e-3}},
                                     {"file": "combined:2"}, {"file": "shared"}])
def test_every_form(tmp_path, options):
    (tmp_path / "memory").mkdir()
    place = {"staging": tmp_path / "memory"}
    run = tmp_path / "run"
    with forebay.Session(run, **place) as session:
        stream = session.stream("restart", view=["plain", "netcdf"], **options)
        describe(stream)
        assert stream.save(7).kept
    with forebay.Session(run, **place) as session:  # another agent: staged snapshots are gone
        stream = session.stream("restart", view=["plain", "netcdf"], **options)
        arrays = describe(stream)
        arrays["full"][:] = 0
        assert stream.restore().step == 7 and (arrays["full"] == 1).all()
    assert "0 x 3" in program("show", f"{run}/restart@7")
    program("verify", run)
    exported = tmp_path / "exported.h5"
    program("export", "plain", f"{run}/restart@7", exported)
    program("verify", exported)
    for file in (run / "restart/step-000007.h5", exported):
        with h5py.File(file) as opened:
            assert {name: opened[f"fields/{name}"].shape for name in SHAPES} == SHAPES
            assert opened["fields/rows"][()].shape == (0, 3) and opened["list"].shape == (0,)
            assert opened["fields/full"][()].sum() == 6
    assert forebay.open(run)["restart"].newest.dataset("fields").rows.shape == (0, 3)


def test_an_analysis_leaves_an_array_without_elements_out(tmp_path):
    (tmp_path / "memory").mkdir()
    (tmp_path / "forebay.toml").write_text(f"""
staging = "{tmp_path}/memory"
[streams.restart.insitu.n]
kind = "statistics"
variables = ["fields/*"]
[streams.restart.insitu.cut]
kind = "slice"
variables = ["fields/*"]
""")
    with forebay.Session(tmp_path / "run", config=tmp_path / "forebay.toml") as session:
        stream = session.stream("restart")
        describe(stream)
        stream.save(7)
    program("insitu", tmp_path / "forebay.toml", f"{tmp_path}/run/restart@7")
    results = forebay.open(tmp_path / "run")["restart.n"].newest
    assert "fields/full/mean" in str(program("show", f"{tmp_path}/run/restart.n@7")) and results.step == 7
    events = "".join(file.read_text() for file in (tmp_path / "run/forebay").glob("events*.jsonl"))
    assert "'fields/rows' has no elements: its shape is 0 x 3" in events


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
