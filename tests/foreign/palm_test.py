"""Goal: an import of PALM's two restart formats holds every value with the right type and shape, and restarts on any
number of ranks. Damaged, incomplete or contradictory files are refused with file and byte, and leave nothing behind.

Method: small Fortran programs write files only from the description (docs/formats/palm.md): both byte orders, with and
without ghost layers, with whole and split records. Independent readers and restarts check the result.
"""

import json
import os
import pathlib
import struct
import subprocess
import sys

from forebay_test import BUILD, FOREBAY, forebay, measures_memory

if not (BUILD / "tests/write_palm_mpi").exists():
    print("skipped: no Fortran compiler was found")
    sys.exit(77)
try:
    import h5py
    import numpy as np
    import pytest
except ImportError as absent:
    print(f"skipped: {absent}")
    sys.exit(77)

NX, NY, NZ, SOIL = 6, 4, 5, 3  # upper bounds of write_palm_mpi.f90


def write(program, *arguments, big=False):
    """Runs one of the Fortran programs."""
    environment = dict(os.environ)
    environment.pop("GFORTRAN_CONVERT_UNIT", None)
    if big:
        environment["GFORTRAN_CONVERT_UNIT"] = "big_endian"
    subprocess.run([BUILD / "tests" / program, *map(str, arguments)], check=True, env=environment, timeout=600)


def variables(said):
    """Name to (type, shape) in the --json output."""
    return {one["name"]: (one["type"], tuple(one["shape"])) for one in json.loads(said)["variables"]}


def contents(run):
    """Name to array of the run's only view, after `verify` reports it whole."""
    forebay("verify", run)
    (view,) = run.glob("restart/step-*.h5")
    found = {}
    with h5py.File(view) as file:
        file.visititems(lambda name, one: found.update({name: one[()]}) if isinstance(one, h5py.Dataset) else None)
    return found


def places(base, ghosts, levels):
    """The values of write_palm_mpi.f90, y, x, z."""
    y, x, z = np.meshgrid(np.arange(-ghosts, NY + 1 + ghosts), np.arange(-ghosts, NX + 1 + ghosts), np.arange(levels),
                          indexing="ij")
    return base + x + y / 100.0 + z / 10000.0


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("ghosts", [0, 2])
@pytest.mark.parametrize("kept", ["keep", "cut"])
def test_palm_mpi_comes_back(tmp_path, big, ghosts, kept):
    """Every value, in the order of the file."""
    write("write_palm_mpi", tmp_path / "BINOUT", ghosts, "full", big=big)
    said = forebay("import", "palm-mpi", tmp_path / "BINOUT", tmp_path / "run", "--ghosts", kept, "--json")
    found = contents(tmp_path / "run")
    around = ghosts if kept == "keep" else 0
    assert np.array_equal(found["u"], places(1000.0, around, NZ + 2))
    assert np.array_equal(found["v"], places(2000.0, around, NZ + 2))
    assert np.array_equal(found["zs"], places(3000.0, around, 1)[..., 0])
    assert np.array_equal(found["t_soil_av"], places(280.5, around, SOIL))
    y, x = np.meshgrid(np.arange(NY + 1), np.arange(NX + 1), indexing="ij")
    assert found["nzb_max"].dtype == "i4" and np.array_equal(found["nzb_max"], 100 * y + x - 7)
    y, x, z = np.meshgrid(np.arange(-around, NY + 1 + around), np.arange(-around, NX + 1 + around), np.arange(NZ + 2),
                          indexing="ij")
    assert found["flags"].dtype == "i4" and np.array_equal(found["flags"], 10000 * z + 100 * y + x)
    assert np.array_equal(found["u_init"], 0.5 * np.arange(1, NZ + 3))
    assert np.array_equal(found["weights"], [0.5, 1.0, 1.5])
    counts = np.add.outer(np.arange(NY + 1), np.arange(NX + 1)) % 3
    start, end = found["global_start_index"], found["global_end_index"]
    assert start.dtype == end.dtype == "i8" and np.array_equal(end - start, counts)
    for y, x in np.ndindex(counts.shape):
        values = 100 * y + x + 0.25 * np.arange(1, counts[y, x] + 1)
        assert np.array_equal(found["surf%ts"][start[y, x]:end[y, x]], values + 1000)
        assert np.array_equal(found["surf%css"][:, start[y, x]:end[y, x]], [values + 1000, values + 2000])
    assert found["surf%ts"].shape == (end.max(),) and found["surf%css"].shape == (2, end.max())
    assert found["m_soil"].shape == (end.max(),) and "in one dimension: m_soil, weights" in said
    assert found["q_init"].dtype == "f8" and found["q_init"].view("i8")[0] == 808402640
    assert (found["dt_3d"], found["dt_3d~2"]) == (0.125, 0.25) and "'dt_3d' as 'dt_3d~2', 'v' as 'v~2'" in said
    assert np.array_equal(found["v~2"], places(2000.5, around, NZ + 2)) and "kept once: nz" in said
    assert (found["nx"], found["humidity"], found["dt_3d"]) == (NX, 1, 0.125)
    assert (found["bc_lr"], found["binary_version"], found["empty"]) == (b"dirichlet/radiation", b"5.4", b" ")
    said = json.loads(said)
    assert (said["step"], said["time"], said["ranks"], said["view"]) == (360, 3600.5, 1, True)
    with h5py.File(next((tmp_path / "run").glob("restart/step-000360.h5"))) as view:
        edge = "g" if around else ""
        assert [dim[0].name for dim in view["u"].dims] == ["/y" + edge, "/x" + edge, "/z"]
        assert [dim[0].name for dim in view["t_soil_av"].dims] == ["/y" + edge, "/x" + edge, "/level"]
        assert view["u_init"].dims[0][0].name == "/z"
        assert view["u"].attrs.get("ghost_layers", 0) == around


def test_what_the_file_does_not_say_can_be_said(tmp_path):
    """Types and shapes by --type. A request without effect is refused."""
    write("write_palm_mpi", tmp_path / "in", 0, "full")
    plain = ("import", "palm-mpi", tmp_path / "in", tmp_path / "run", "--dry-run", "--json")
    found = variables(forebay(*plain, "--type", "u_init=f64:7x1", "--type", "zs=i64", "--type", "surf%ts=u8:rows",
                              "--type", "flags=f32:box"))
    assert found["u_init"] == ("f64", (7, 1)) and found["zs"] == ("i64", (NY + 1, NX + 1))
    assert found["surf%ts"] == ("u8", (69 * 8,)) and found["flags"] == ("f32", (NY + 1, NX + 1, NZ + 2))
    assert not (tmp_path / "run").exists()
    for wish, why in (("u_innit=f64", "no variable of that name"), ("u_init=f64:8", "has 56 bytes"), ("u=f46", "not an element type"),
                      ("u=f64:7y7", "not a shape"), ("u_init=i64:box", "grid of 5 x 7"), ("=f64", "NAME is missing"),
                      ("u=f64:4294967296x4294967296x4294967296", "not a shape")):
        assert why in forebay(*plain, "--type", wish, code=2), wish
    assert "given twice" in forebay(*plain, "--type", "u=f64", "--type", "u=i64", code=2)


def test_where_to(tmp_path):
    """Streams and steps are named as elsewhere. Nothing is replaced unless requested."""
    write("write_palm_mpi", tmp_path / "in", 0, "plain")
    run = tmp_path / "run"
    take = ("import", "palm-mpi", tmp_path / "in")
    forebay(*take, run)
    assert "committed already" in forebay(*take, run, code=2)
    before = (run / "restart/step-000360/manifest.json").read_text()
    forebay(*take, run, "--replace", "--type", "u_init=i64")
    assert (run / "restart/step-000360/manifest.json").read_text() != before
    forebay(*take, f"{run}@7", "--stream", "spin-up")
    forebay(*take, f"{run}/spin-up@8")
    assert sorted(path.name for path in (run / "spin-up").glob("step-*")) == [
        "step-000007", "step-000007.h5", "step-000008", "step-000008.h5"]
    assert "needs a step" in forebay(*take, f"{run}@last", code=2)
    assert "contains a stream" in forebay(*take, f"{run}/restart", "--stream", "b", code=2)
    assert "keep or cut" in forebay(*take, f"{run}@9", "--ghosts", "maybe", code=2)
    forebay("verify", run)


def test_a_full_target_is_told_before_the_copy(tmp_path):
    """A source with some terabytes of holes."""
    write("write_palm_mpi", tmp_path / "in", 0, "plain")
    os.truncate(tmp_path / "in", 8 << 40)
    if os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize > 8 << 40:
        pytest.skip("this disk has room for 8 TB")
    assert "free, but the snapshot needs" in forebay("import", "palm-mpi", tmp_path / "in", tmp_path / "run", code=5)
    assert not (tmp_path / "run").exists()


@measures_memory
def test_memory_does_not_grow_with_the_file(tmp_path):
    """256 MB of holes in less than 100 MB, including program and libraries."""
    write("write_palm_mpi", tmp_path / "in", 0, "plain")
    os.truncate(tmp_path / "in", 256_000_000)
    with subprocess.Popen([FOREBAY, "import", "palm-mpi", tmp_path / "in", tmp_path / "run"],
                          stdout=subprocess.DEVNULL) as running:
        _, status, used = os.wait4(running.pid, 0)
        running.returncode = os.waitstatus_to_exitcode(status)
    assert running.returncode == 0 and used.ru_maxrss < 100_000, used.ru_maxrss
    assert "whole: 256 MB" in forebay("verify", tmp_path / "run")


def test_damaged_palm_mpi_is_refused(tmp_path):
    """The error has file and byte; nothing is left behind."""
    source = tmp_path / "in"
    write("write_palm_mpi", source, 0, "plain")
    whole = source.read_bytes()
    (arrays,) = struct.unpack_from("<i", whole, 8)
    offsets = struct.unpack_from(f"<{arrays}q", whole, 55080)
    for size in (*offsets, 0, 3, 39, 59879):
        source.write_bytes(whole[:size])
        said = forebay("import", "palm-mpi", source, tmp_path / "run", code=2 if size < 4 else 4)
        assert str(source) in said and (size < 4 or "at byte" in said), said
    source.write_bytes(whole[:-1])
    assert "that was cut would look the same" in forebay("import", "palm-mpi", source, tmp_path / "run", "--dry-run")
    assert not (tmp_path / "run").exists()


def part_value(base, kept):
    """The values of write_palm_fortran.f90, x, y, z."""
    def make(levels):
        x, y, z = np.meshgrid(np.arange(-kept, 9 + kept), np.arange(-kept, 8 + kept), np.arange(levels), indexing="ij")
        return base + x + y / 100.0 + z / 10000.0
    return make


@pytest.mark.parametrize("program", ["write_palm_fortran", "write_palm_fortran_split"])
@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("kept", [3, 0])
def test_palm_fortran_comes_back(tmp_path, program, big, kept):
    """Joins six uneven parts to one array in PALM's order. Data that form no box go into tables."""
    if not (BUILD / "tests" / program).exists():
        pytest.skip("this compiler does not split records")
    (tmp_path / "in").mkdir()
    write(program, tmp_path / "in", big=big)
    said = forebay("import", "palm-fortran", tmp_path / "in", tmp_path / "run", "--ghosts", "keep" if kept else "cut")
    assert "empty, so left out: nothing" in said and "TABLE/value: mine." in said
    assert "'time_radiation' as 'time_radiation~2', 'e' as 'e~2'" in said and "kept once: passive_scalar" in said
    found = contents(tmp_path / "run")
    assert (found["time_radiation"], found["time_radiation~2"], found["passive_scalar"]) == (2.5, 1.5, 1)
    assert found["q_init"].dtype == "f8" and found["q_init"].view("i8")[0] == 808402640
    assert np.array_equal(found["e"], part_value(1000.0, kept)(6))
    assert np.array_equal(found["zs"], part_value(3000.0, kept)(1)[..., 0])
    assert np.array_equal(found["t_soil_av"], part_value(280.5, kept)(2))
    x, y, z = np.meshgrid(np.arange(-kept, 9 + kept), np.arange(-kept, 8 + kept), np.arange(6), indexing="ij")
    assert found["wall_flags"].dtype == "i4" and np.array_equal(found["wall_flags"], 10000 * z + 100 * y + x)
    first = np.add.outer(np.arange(9), 100 * np.arange(8))
    assert np.array_equal(found["surf%start_index"], first) and np.array_equal(found["id_random_array"], -first)
    assert np.array_equal(found["seq_random_array"], 10 * first[..., None] + np.arange(1, 6))
    assert np.array_equal(found["random_iv/value"].reshape(6, 40), np.add.outer(np.arange(6), np.arange(1, 41)))
    assert np.array_equal(found["random_iy/value"], -np.arange(6)) and found["random_iy/value"].dtype == "i4"
    x, y = np.meshgrid(np.arange(-kept, 9 + kept), np.arange(-kept, 8 + kept), indexing="ij")
    third = (x >= 4) & (y < 2)  # the part of process 3
    assert np.array_equal(found["e~2"], found["e"] + third[..., None])
    assert np.array_equal(found["surf%us/value"], [100.0 * n + k for n in range(6) for k in range(1, n + 1)])
    assert np.array_equal(found["ns_on_file/value"], [n for p in range(6) for n in (p, 0, 1)])
    assert found["hor_index_bounds"].dtype == "i4" and list(found["hor_index_bounds"][4:8]) == [0, 3, 2, 2]
    assert (found["bc_lr"], found["simulated_time"], found["numprocs"]) == (b"cyclic", 1234.5, 6)
    assert np.array_equal(found["u_init"], 0.25 * np.arange(6))


def test_records_of_more_than_2_gib(tmp_path):
    """Records split as gfortran splits them, made of holes."""
    nx, ny, levels = 1024, 1100, 258
    size = 8 * nx * ny * levels
    longest = 2**31 - 9
    (tmp_path / "in").mkdir()

    def record(data):
        return struct.pack("<i", len(data)) + data + struct.pack("<i", len(data))

    def name(text):
        return record(struct.pack("<i", len(text))) + record(text.encode())

    with open(tmp_path / "in/_000000", "wb") as file:
        file.write(name("current_timestep_number") + record(struct.pack("<i", 1)) + name("binary_version_local") + record(b"22.04"))
        file.write(record(struct.pack("<8i", 1, 0, 0, nx - 1, 0, ny - 1, 0, levels - 2)) + name("u"))
        file.write(struct.pack("<i", -longest))
        file.seek(longest, os.SEEK_CUR)
        file.write(struct.pack("<ii", longest, size - longest))
        file.seek(size - longest, os.SEEK_CUR)
        file.write(struct.pack("<i", longest - size) + name("*** end ***"))
    said = forebay("import", "palm-fortran", tmp_path / "in", tmp_path / "run", "--dry-run", "--json")
    assert variables(said)["u"] == ("f64", (nx, ny, levels)), said


def test_it_restarts(tmp_path):
    """On one, three and six ranks. Six ranks wrote it."""
    if not list((BUILD / "python/forebay").glob("_forebay_mpi.*so")):
        pytest.skip("the Python package is not built")
    (tmp_path / "in").mkdir()
    (tmp_path / "memory").mkdir()
    (tmp_path / "config.toml").write_text(f'staging = "{tmp_path}/memory"\n[agent]\nmode = "thread"\n')
    write("write_palm_fortran", tmp_path / "in")
    forebay("import", "palm-fortran", tmp_path / "in", tmp_path / "run", "--ghosts", "cut")
    for ranks in (1, 3, 6):
        done = subprocess.run(["mpiexec", "-n", str(ranks), sys.executable,
                               pathlib.Path(__file__).with_name("restart_palm.py"), tmp_path / "run",
                               tmp_path / "config.toml"], env=dict(os.environ, PYTHONPATH=str(BUILD / "python")),
                              capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count("rank ") == ranks


def test_it_restarts_in_fortran(tmp_path):
    """Into arrays with ghost layers, in PALM's order."""
    if not (BUILD / "tests/restart_palm_halos").exists():
        pytest.skip("the Fortran module is not built")
    for folder in ("in", "memory"):
        (tmp_path / folder).mkdir()
    write("write_palm_fortran", tmp_path / "in")
    forebay("import", "palm-fortran", tmp_path / "in", tmp_path / "run", "--ghosts", "cut")
    done = subprocess.run(["mpiexec", "-n", "3", BUILD / "tests/restart_palm_halos", "run"], cwd=tmp_path,
                          capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0 and done.stdout.count("of 3") == 3, done.stdout + done.stderr


def records(data):
    """The first byte of each record, and the end."""
    at, borders = 0, []
    while at < len(data):
        borders.append(at)
        at += 8 + struct.unpack_from("<i", data, at)[0]
    return borders + [at]


def test_damaged_palm_fortran_is_refused(tmp_path):
    """Cuts at and within every record, changes marks, removes files, makes parts that do not fit."""
    folder = tmp_path / "in"
    folder.mkdir()
    write("write_palm_fortran", folder)
    take = ("import", "palm-fortran", folder, tmp_path / "run", "--dry-run")
    forebay(*take)
    victim = folder / "_000001"
    whole = victim.read_bytes()
    borders = records(whole)
    assert borders[-1] == len(whole)
    for border in borders[:-1]:
        for size in (border, border + 2, border + 6):
            victim.write_bytes(whole[:size])
            said = forebay(*take, code=4)
            assert str(victim) in said and "at byte" in said, said
    for border in borders[:-1]:
        changed = bytearray(whole)
        changed[border + 1] ^= 0x20
        victim.write_bytes(changed)
        assert str(victim) in forebay(*take, code=2 if border == 0 else 4)
    victim.write_bytes(whole + whole[:12])
    assert "data follow after" in forebay(*take, code=4)
    victim.unlink()
    assert "no file of process 1, _000001" in forebay(*take, code=3)
    victim.write_bytes((folder / "_000002").read_bytes())
    assert "it is of process 2, not of 1" in forebay(*take, code=4)
    victim.write_bytes(whole)
    (folder / "000001").write_bytes(whole)
    assert "are both of process 1" in forebay(*take, code=2)
    (folder / "000001").unlink()
    (folder / "_000005").rename(tmp_path / "five")
    assert "_000005 is missing" in forebay(*take, code=3)
    (tmp_path / "five").rename(folder / "_000005")
    (folder / "notes.txt").write_text("mine")
    assert f"not files of a process, so not read: {folder}/notes.txt" in forebay(*take)


def test_parts_that_do_not_make_one_grid_are_refused(tmp_path):
    """Each part states its place; process 0 states all places."""
    folder = tmp_path / "in"
    folder.mkdir()
    write("write_palm_fortran", folder)
    take = ("import", "palm-fortran", folder, tmp_path / "run", "--dry-run")
    first, victim = folder / "_000000", folder / "_000001"
    whole, whole_first = victim.read_bytes(), first.read_bytes()
    bounds = whole.index(struct.pack("<8i", 6, 1, 0, 3, 2, 2, 0, 4))

    def changed(number, value):
        data = bytearray(whole)
        struct.pack_into("<i", data, bounds + 4 * number, value)
        victim.write_bytes(data)
        return forebay(*take, code=4)

    assert "overlaps that of" in changed(2 + 2, 1)          # nys
    assert "overlaps that of" in changed(2 + 3, 3)          # nyn
    assert "have 71 points of a grid of 9 x 8" in changed(2, 1)  # nxl
    assert "z indices are 0 to 5" in changed(7, 5)
    assert "of a run of 7 processes" in changed(0, 7)
    assert "x 4 to 3" in changed(2, 4)
    victim.write_bytes(whole)
    data = bytearray(whole_first)
    at = whole_first.index(struct.pack("<4i", 0, 3, 2, 2))
    struct.pack_into("<i", data, at, 1)
    first.write_bytes(data)
    assert "hor_index_bounds of process 0" in forebay(*take, code=4)
    first.write_bytes(whole_first)
    renamed = whole.replace(b"zs", b"sz")
    victim.write_bytes(renamed)
    assert "'zs' is missing there" in forebay(*take, code=4)
    forebay(*take, "--type", "zs=f64:rows", "--type", "sz=f64:rows")


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
