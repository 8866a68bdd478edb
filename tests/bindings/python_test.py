"""Goal: the Python package saves and reads numpy arrays in place, with any type and strides. It refuses arrays that it
cannot save, keeps alive the arrays it needs, and shows committed snapshots to readers without MPI.

Method: sessions of one process in temporary directories.
"""

import gc
import os
import pathlib
import re
import subprocess
import sys
import weakref

BUILD = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"])
if not list((BUILD / "python/forebay").glob("_forebay.*so")):
    print("skipped: the Python package is not built (it needs nanobind in build/venv)")
    sys.exit(77)
sys.path.insert(0, str(BUILD / "python"))

import numpy as np  # pylint: disable=wrong-import-position
import pytest  # pylint: disable=wrong-import-position

import forebay  # pylint: disable=wrong-import-position

TYPES = ["f2", "f4", "f8", "c8", "c16", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "S16"]


@pytest.fixture(name="config")
def make_config(tmp_path):
    """A configuration whose agent is a thread and stages in the test's directory."""
    (tmp_path / "memory").mkdir()
    file = tmp_path / "config.toml"
    file.write_text(f'staging = "{tmp_path}/memory"\n[agent]\nmode = "thread"\n')
    return file


def sample(kind, shape):
    """Distinct values of any type."""
    numbers = np.array(np.arange(int(np.prod(shape))).reshape(shape))
    return np.char.mod("text %d", numbers).astype(kind) if kind[0] == "S" else np.array(numbers * 3 % 101, kind)


def describe_all(stream, arrays):
    """Describes each as a whole global array."""
    for name, data in arrays.items():
        if data.ndim == 0:
            stream.replicated(name, data)
        else:
            stream.array(name, data)


def test_every_type_shape_and_stride_comes_back(tmp_path, config):
    """Saves also slices, transposes and negative strides. A restart leaves the bytes between unchanged."""
    arrays = {f"type/{kind.strip('?')or 'bool'}": sample(kind, (3, 4)) for kind in TYPES}
    arrays |= {f"dims/{dims}": sample("f8", (2,) * dims) for dims in range(9)}
    big = sample("f8", (10, 9, 8))
    arrays |= {"fortran": np.asfortranarray(big), "turned": sample("f8", (4, 3, 2)).transpose(2, 0, 1),
               "slice": big[::2, 1:7:3, ::-1]}
    expected = {name: data.copy() for name, data in arrays.items()}
    whole = big.copy()
    with forebay.Session(tmp_path / "run", config=config) as session:
        stream = session.stream("restart", view=False)
        describe_all(stream, arrays)
        saved = stream.save(5, 2.5)
        assert saved.kept and saved.step == 5 and saved.bytes > 0
    for data in arrays.values():
        data[...] = np.zeros((), data.dtype)
    big[...] = 0
    with forebay.Session(tmp_path / "run", config=config) as session:
        stream = session.stream("restart", view=False)
        describe_all(stream, arrays)
        restart = stream.newest()
        assert (restart.step, restart.time, restart.same_ranks) == (5, 2.5, True)
        restart.read()
        assert stream.older() is None
    for name, data in arrays.items():
        np.testing.assert_array_equal(data, expected[name], err_msg=name)
    between = np.ones(big.shape, bool)
    between[::2, 1:7:3, ::-1] = False
    assert not big[between].any() and (big[~between] == whole[~between]).all()


def test_several_boxes_halos_and_coverage(tmp_path, config):
    """Boxes anywhere. A restart fills the halo inside the global shape and nothing else."""
    left, right = np.full((4, 3), 1.0), np.full((4, 5), 2.0)
    with forebay.Session(tmp_path / "run", config=config) as session:
        stream = session.stream("restart", view=False)
        stream.array("u", [left, right], shape=(4, 8), start=[(0, 0), (0, 3)], unit="K", dimensions=("y", "x"))
        stream.array("some", left, shape=(10, 10), start=(3, 3), partial=True)
        stream.save(1)
    padded = np.full((4, 6), -1.0)
    with forebay.Session(tmp_path / "run", config=config) as session:
        stream = session.stream("restart", view=False)
        stream.array("u", padded, shape=(4, 8), start=(0, 0), halo=((0, 0), (1, 2)), partial=True)
        stream.newest().read()
    np.testing.assert_array_equal(padded, [[-1, 1, 1, 1, 2, 2]] * 4)


def test_small_files_and_files_of_several_nodes(tmp_path, config):
    """The spool is a directory while the session is open. Afterwards its files are in the run."""
    with forebay.Session(tmp_path / "run", config=config) as session:
        pathlib.Path(session.spool, "a.txt").write_text("small")
        session.stream("restart", file="combined:16")
        with pytest.raises(forebay.RefusedError, match='"combined:257": one of own, combined:N with N from 2 to 256'):
            session.stream("other", file="combined:257")
        with pytest.raises(forebay.RefusedError, match='nodes_per_file = 16 is now file = "combined:16"'):
            session.stream("other", nodes_per_file=16)
        with pytest.raises(forebay.RefusedError, match="packed-"):
            session.stream("packed-mine")
    assert session.spool == ""
    assert [path.name for path in (tmp_path / "run").glob("packed-*/step-*/node-00000.h5")] == ["node-00000.h5"]


def test_arrays_alone_restart_without_a_function(tmp_path, config):
    for written, found in ((1.0, None), (2.0, 1.0)):
        with forebay.Session(tmp_path / "run", config=config) as session:
            stream, value = session.stream("restart"), np.zeros(())
            stream.replicated("value", value)
            restart = stream.restore()
            assert (restart and float(value)) == found
            value[()] = written
            stream.save(int(written))


def test_none_means_that_nothing_is_there(tmp_path, config, monkeypatch):
    """Reading a damaged only snapshot fails. You choose to start from the beginning, and to make a run's parents."""
    def restored(write=None):
        with forebay.Session(tmp_path / "run", config=config) as session:
            stream, u = session.stream("restart", view=False), np.zeros(1000)
            stream.array("u", u)
            restart = stream.restore()
            found = restart and (restart.step, u[0])
            if write:
                u[:] = write
                stream.save(write)
            return found
    assert restored(5) is None
    assert restored() == (5, 5.0)
    node_file = tmp_path / "run/restart/step-000005/node-00000.h5"
    data = bytearray(node_file.read_bytes())
    at = data.index(np.full(10, 5.0).tobytes()) + 80
    data[at:at + 8] = np.array(-1e30).tobytes()
    node_file.write_bytes(data)
    with pytest.raises(forebay.CorruptError, match="(?s)step 5: .*FOREBAY_RESTART=none"):
        restored()
    monkeypatch.setenv("FOREBAY_RESTART", "none")
    assert restored(1) is None
    monkeypatch.setenv("FOREBAY_RESTART", "abacus")
    with pytest.raises(forebay.RefusedError, match='"abacus"'):
        restored()
    monkeypatch.delenv("FOREBAY_RESTART")
    assert restored(2) == (1, 1.0)
    with forebay.Session(tmp_path / "run", config=config) as session:
        stream, u = session.stream("restart", view=False, restart_from=1), np.zeros(1000)
        stream.array("u", u)
        assert stream.restore().step == 1 and u[0] == 1.0
    with pytest.raises(forebay.MissingError, match="there is no directory .*/typo\\."):
        forebay.Session(tmp_path / "typo/deep/run", config=config)
    config.write_text("create_parents = true\n" + config.read_text())
    forebay.Session(tmp_path / "typo/deep/run", config=config).close()


def test_a_log_that_knows_its_session_is_no_leak(tmp_path, config):
    script = f"""
import forebay
def log(line):
    assert session or line
session = None
with forebay.Session({str(tmp_path / "run")!r}, config={str(config)!r}, log=log) as session:
    pass
"""
    done = subprocess.run([sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": str(BUILD / "python")}, cwd=tmp_path,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "leaked" not in done.stderr, done.stderr


def test_particles_of_any_stride_and_number(tmp_path, config):
    """Columns of a structured array, changing numbers of rows, and no rows."""
    kind = np.dtype([("id", "i8"), ("x", "f4"), ("skipped", "f8")])
    rows = np.zeros(7, kind)
    rows["id"], rows["x"] = np.arange(7), np.arange(7) / 2
    columns = {"id": "i8", "x": "f4"}
    with forebay.Session(tmp_path / "run", config=config) as session:
        stream = session.stream("restart", keep=0, slots=2, priority=2, deadline_seconds=1e-3, rate_bytes_per_second=10**5)
        gas = stream.particles("gas", columns, {"x": "m"})
        for step, count in enumerate((7, 0, 3)):
            gas.bind(rows[:count])
            stream.save(step)
            stream.wait_committed()
        with pytest.raises(forebay.RefusedError, match="has the columns id, x, not id"):
            gas.bind(id=rows["id"])
        with pytest.raises(forebay.RefusedError, match="different lengths: 2, 7"):
            gas.bind(id=rows["id"], x=rows["x"][:2])
        with pytest.raises(forebay.RefusedError, match="1-D float64 here but 1-D float32"):
            gas.bind(id=rows["id"], x=rows["skipped"])
        told = stream.counters
        assert told.saves == 3 and told.newest_durable_step == 2 and told.deadlines_missed == 3
        assert (told.overtakes, told.limits_overruled, told.steps_counted, told.slowdown_percent) == (0, 0, 0, 0)
        assert told.drain_rate_bytes_per_second == 0
    with forebay.Session(tmp_path / "run", config=config) as session:
        stream = session.stream("restart", keep=0)
        gas = stream.particles("gas", columns)
        restart = stream.newest()
        got = gas.empty(restart.rows(gas))
        gas.bind(**got)
        restart.read()
        np.testing.assert_array_equal(got["id"], [0, 1, 2])
        np.testing.assert_array_equal(got["x"], np.float32([0, 0.5, 1]))


def test_nothing_is_copied_and_arrays_stay_alive(tmp_path, config):
    """The stream keeps its arrays alive and releases them when it goes."""
    with forebay.Session(tmp_path / "run", config=config) as session:
        stream = session.stream("restart", view=False)
        data = np.zeros(1000)
        stream.array("u", data)
        data[:] = 7  # changed after describing: the save must take the array itself
        held = weakref.ref(data)
        del data
        gc.collect()
        assert held() is not None
        stream.save(1)
        held()[:] = 0
        stream.newest().read()
        assert (held() == 7).all()
        other = np.full(1000, 8.0)
        stream.rebind("u", other)
        gc.collect()
        assert held() is None
        stream.save(2)
        other[:] = 0
        stream.newest().read()
        assert (other == 8).all()


def test_some_variables_of_some_step(tmp_path, config):
    """Arrays are described after newest() and read by name. Dropped arrays are not saved."""
    with forebay.Session(tmp_path / "run", config=config) as session:
        stream = session.stream("restart", view=False, slots=2)
        one, two = np.zeros(4), np.zeros(())
        stream.array("one", one)
        stream.replicated("two", two)
        for step in (1, 2):
            one[:], two[...] = step, 10 * step
            stream.save(step)
    with forebay.Session(tmp_path / "run", config=config) as session:
        stream = session.stream("restart", view=False, slots=2)
        restart = stream.newest(below=2)
        assert restart.step == 1
        one[:] = two[...] = -1
        stream.replicated("two", two)
        stream.array("one", one)
        restart.read("two")
        assert two == 10 and (one == -1).all()
        restart.read("one", "two")
        assert (one == 1).all()
        stream.forget("one")
        stream.save(3)
        with pytest.raises(forebay.MissingError, match="no variable 'one' is described"):
            restart.read("one")
    assert forebay.open(tmp_path / "run")["restart"].at(3).variables == ["two"]


@pytest.mark.parametrize("kind, text", [(">f8", "byte order"), ("O", "cannot be saved"), ("U3", "cannot be saved"),
                                        ("M8[s]", "cannot be saved"), ("g", "cannot be saved")])
def test_types_that_cannot_be_saved(tmp_path, config, kind, text):
    """The error names the type, and nothing is described."""
    with forebay.Session(tmp_path / "run", config=config) as session:
        with pytest.raises(forebay.RefusedError, match=text):
            session.stream("restart").array("u", np.zeros(3, kind))


def test_mistakes(tmp_path, config):
    """The text has the variable, the class tells what to do."""
    session = forebay.Session(tmp_path / "run", config=config)
    stream = session.stream("restart")
    data = np.zeros((3, 4))
    stream.array("u", data)
    for call, text in [
            (lambda: stream.array("u", data), "described twice"),
            (lambda: stream.array("v", data, shape=(2, 4)), "v"),
            (lambda: stream.array("w", data, start=(-1, 0)), "start"),
            (lambda: stream.array("w", data, halo=(1, 2, 3)), "3 dimensions, but there are 2"),
            (lambda: stream.array("w", data, halo=-1), "negative"),
            (lambda: stream.array("w", [data], start=[(0, 0), (3, 0)]), "1 arrays and 2 positions"),
            (lambda: stream.replicated("w", data.T), "contiguous"),
            (lambda: session.stream("other", policy="never"), "'policy' is \"never\": one of \"wait\""),
            (lambda: session.stream("other", slot=2), "'slot' is not known. Nearest: 'slots'"),
            (lambda: session.stream("other", slots=3), "'slots' is 3")]:
        with pytest.raises(forebay.RefusedError, match=text):
            call()
            stream.save(0)
    for call in (lambda: stream.array("w", [[1, 2]]), lambda: stream.replicated("w", 3.0),
                 lambda: session.stream("other", slots=None)):
        with pytest.raises(TypeError):
            call()
    single, value = np.zeros((3, 4), "f4"), np.zeros(5)
    stream.replicated("value", value)
    for call, text in [
            (lambda: stream.rebind("u", single), "is described as f64 array of 3 x 4, but bound as f32 array"),
            (lambda: stream.rebind("u", np.zeros(4)), "a box of 1 dimensions, of a global shape of 2"),
            (lambda: stream.rebind("u", [data, single], start=[(0, 0), (0, 0)]), "arrays of several types: f32, f64"),
            (lambda: stream.array("v", [data, single], start=[(0, 0), (3, 0)]), "arrays of several types: f32, f64"),
            (lambda: stream.rebind("value", np.zeros(5, "i8")), "f64 replicated of 5, but bound as i64 replicated of 5"),
            (lambda: stream.rebind("value", np.zeros(4)), "f64 replicated of 5, but bound as f64 replicated of 4"),
            (lambda: stream.rebind("value", np.zeros(())), "bound as f64 replicated of scalar"),
            (lambda: stream.rebind("value", np.zeros((5, 2))[:, 0]), "contiguous")]:
        with pytest.raises(forebay.RefusedError, match=text):
            call()
    with pytest.raises(forebay.MissingError, match="'nothing'"):
        stream.rebind("nothing", data)
    stream.rebind("value", value.copy())
    with pytest.raises(forebay.RefusedError, match="is open already, with other options: keep is 3 there and 4 here"):
        session.stream("restart", keep=4)
    session.close()
    with pytest.raises(forebay.RefusedError, match="the session is closed"):
        stream.save(1)
    with pytest.raises(forebay.RefusedError, match="unknown_key|not known"):
        config.write_text("unknown_key = 1\n")
        forebay.Session(tmp_path / "run", config=config)
    with pytest.raises(forebay.MissingError, match="nowhere.toml' cannot be read"):
        forebay.Session(tmp_path / "run", config=tmp_path / "nowhere.toml", log=print)
    config.write_text('run = "here"\n')
    with pytest.raises(forebay.RefusedError, match="the run is .*/run in the program, but here in its configuration file"):
        forebay.Session(tmp_path / "run", config=config)
    assert issubclass(forebay.RefusedError, forebay.Error) and issubclass(forebay.Error, RuntimeError)


def test_read_only_arrays_are_saved_but_not_read_into(tmp_path, config):
    """A read into a read-only array is refused."""
    data = np.arange(5.0)
    data.flags.writeable = False
    with forebay.Session(tmp_path / "run", config=config) as session:
        stream = session.stream("restart", view=False)
        stream.array("u", data)
        stream.save(1)
        with pytest.raises(forebay.RefusedError, match="'u' is a read-only array"):
            stream.newest().read()


def test_an_exception_leaves_the_session_without_waiting(tmp_path, config):
    """The next session commits earlier saves."""
    with pytest.raises(ZeroDivisionError):
        with forebay.Session(tmp_path / "run", config=config, log=print) as session:
            stream = session.stream("restart", view=False)
            stream.array("u", np.arange(5.0))
            stream.save(1)
            raise ZeroDivisionError
    del session, stream
    gc.collect()
    lines = []
    data = np.zeros(5)
    with forebay.Session(tmp_path / "run", config=config, log=lines.append) as session:
        stream = session.stream("restart", view=False)
        stream.array("u", data)
        stream.newest().read()
    assert (data == np.arange(5)).all() and lines[0].startswith("forebay: run ")


def test_a_job_that_ends_a_request_and_a_wish(tmp_path, config):
    """Both request a save; only the first gives the time left."""
    with forebay.Session(tmp_path / "run", config=config) as session:
        job = session.job()
        assert not job.save and not job.stop and job.seconds_left == float("inf") and job.reason == ""
        assert repr(job) == "<forebay.Job: go on, no limit known>"
        job = session.job(stop_wanted=True)
        assert job.save and job.stop and job.reason == "the application, on rank 0"
    config.write_text(config.read_text() + "[job]\nwall_time_seconds = 100\nreserve_seconds = 50\n")
    (tmp_path / "run/.save").write_text("")
    with forebay.Session(tmp_path / "run", config=config) as session:
        job = session.job()
        assert job.save and not job.stop and job.reason == "forebay stop --save"
    config.write_text(config.read_text().replace("50", "101"))
    with forebay.Session(tmp_path / "run", config=config) as session:
        job = session.job()
        assert job.stop and job.reason.startswith("the job ends in ") and 50 < job.seconds_left <= 100
        assert re.match(r"<forebay.Job: save and stop, [0-9]+ s left: the job ends in ", repr(job))
    assert (tmp_path / "run/.continue").exists()
    with pytest.raises(forebay.RefusedError):
        session.job()


def test_what_is_leaked_is_named(tmp_path):
    """ctest fails a test with this output (cmake/testing.cmake)."""
    leak = "import ctypes, forebay; ctypes.pythonapi.Py_IncRef(ctypes.py_object(forebay._forebay.options(None)))"
    done = subprocess.run([sys.executable, "-c", leak], env=os.environ | {"PYTHONPATH": str(BUILD / "python")}, cwd=tmp_path,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "nanobind: leaked 1 instances" in done.stderr, done.stderr


def test_readers_see_committed_snapshots(tmp_path, config):
    """Reads with xarray and numpy in an interpreter without mpi4py."""
    with forebay.Session(tmp_path / "run", config=config) as session:
        stream = session.stream("restart", keep=2)
        field, ids = sample("f8", (6, 5)), np.arange(9)
        stream.array("fields/u", field, unit="m s-1", dimensions=("y", "x"))
        gas = stream.particles("gas", {"id": "i8"})
        gas.bind(id=ids)
        for step in (10, 20, 30):
            stream.save(step, step / 10)
    run = forebay.open(tmp_path / "run")
    assert list(run) == ["restart"] and len(run) == 1 and "other" not in run
    stream = run["restart"]
    assert stream.steps == [20, 30] and [snapshot.step for snapshot in stream] == [20, 30]
    newest = stream.newest
    assert (newest.step, newest.time, newest.ranks) == (30, 3.0, 1)
    assert newest.variables == ["fields/u", "gas/id"]
    os.environ["PATH"] = f"{BUILD / 'bin'}:{os.environ['PATH']}"
    with newest.dataset("fields") as fields:
        assert fields.u.dims == ("y", "x") and fields.u.attrs["units"] == "m s-1"
        np.testing.assert_array_equal(fields.u, field)
    np.testing.assert_array_equal(newest.particles("gas")["id"], ids)
    assert "2 snapshots, steps 20, 30" in repr(run) and "step 30" in repr(newest)
    shown = run._repr_html_() + stream._repr_html_() + newest._repr_html_()  # pylint: disable=protected-access
    for part in ["<td style='text-align:left'>restart</td>", ">20<", ">30<", ">fields/u<", ">y 6 × x 5<", ">m s-1<", ">9<",
                 "step 30, time 3: ", "kB of 1 rank on 1 node"]:
        assert part in shown, part
    with forebay.Session(tmp_path / "run", config=config) as session:
        odd = session.stream("marked", keep=1)
        odd.replicated("a", np.zeros(()), unit="<b>", description="a & b")
        odd.save(1)
    marked = forebay.open(tmp_path / "run")["marked"].newest._repr_html_()  # pylint: disable=protected-access
    assert "&lt;b&gt;" in marked and "a &amp; b" in marked and "<b>" not in marked
    for call, text in [(lambda: run["other"], "no stream 'other'"), (lambda: stream.at(10), "no committed snapshot"),
                       (lambda: forebay.open(tmp_path / "nowhere"), "no such directory"),
                       (lambda: newest.particles("stars"), "no table 'stars'")]:
        with pytest.raises(forebay.MissingError, match=text):
            call()
    alone = subprocess.run([sys.executable, "-c", "import sys; sys.modules['mpi4py'] = None; import forebay, "
                            f"ctypes; print(forebay.open({str(tmp_path / 'run')!r})); "
                            "assert 'libmpi' not in open('/proc/self/maps').read()"],
                           env=os.environ | {"PYTHONPATH": str(BUILD / "python")}, capture_output=True, text=True,
                           check=False)
    assert alone.returncode == 0, alone.stderr


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
