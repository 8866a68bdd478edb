"""Goal: codes written to GenericIO's public calls compile with our header, write genuine files and read any, on other ranks;
a write that could not be finished loses nothing.

Method: programs with and without MPI; the reader made from the description alone (tests/foreign) judges their files.
"""

import errno
import fcntl
import gzip
import os
import pathlib
import shutil
import socket
import subprocess
import sys

try:
    import numpy as np
    import pytest
except ImportError as absent:
    print(f"skipped: {absent}")
    sys.exit(77)

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "foreign"))
import genericio_reader as reader  # noqa: E402

BUILD = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"])
SECONDS_MAX = 600  # for what hangs: a busy machine takes ten times as long as an idle one
needs_mpi = pytest.mark.skipif(not (BUILD / "tests/genericio_client").exists(), reason="built without MPI")


def client(ranks, *arguments, code=0, **more):
    """What the program prints."""
    done = subprocess.run(["mpiexec", "-n", str(ranks), BUILD / "tests/genericio_client", *map(str, arguments)], check=False,
                          env=dict(os.environ, **more), capture_output=True, text=True, timeout=SECONDS_MAX)
    assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout if code == 0 else done.stderr


def expected(ranks=3, more=0):
    """The values of client.cpp."""
    values = {name: [] for name in ("x", "y", "z", "vel", "moments", "id", "mask")}
    for rank in range(ranks):
        i = np.arange(0 if rank == 1 else 100 + 7 * rank)
        value = (i + 1000 * rank + more).astype("f4")
        for name, column in {"x": value, "y": -value, "z": value / 2,
                             "vel": np.stack([value, 0 * value + 1, 0 * value + 2, 0 * value + 3], 1),
                             "id": i - 1000000000000 * rank, "mask": (i + rank).astype("u2"),
                             "moments": (value / np.float32(7))[:, None].astype("f8") + [0, 1, 2]}.items():
            values[name].append(column)
    return {name: np.concatenate(columns) for name, columns in values.items()}


@needs_mpi
@pytest.mark.parametrize("options", [(), ("compress",), ("partition",), ("partition", "compress", "grid")])
def test_written_on_3_read_on_others(tmp_path, options):
    """Complete at MPI_Finalize, and nothing else is left."""
    client(3, "write", tmp_path / "m000", *options)
    parts = ["m000#10", "m000#11"] if "partition" in options else []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m000", *parts]
    found, files = reader.read(tmp_path / "m000")
    for name, values in expected().items():
        assert np.array_equal(found[name], values), name
    last = files[-1]
    assert last.phys_origin == (0.5, 0.5, 0.5) and last.phys_scale == (256, 256, 128)
    assert last.dims == ((1, 3, 1) if "grid" in options else (3, 1, 1))
    assert last.variables["z"]["flags"] == {"float", "signed", "coordinate_z", "maybe_ghost"}
    for ranks in (1, 2, 3, 5) if not options else (2, 5):
        assert "214 elements" in client(ranks, "read", tmp_path / "m000", "redistribute")
    client(2, "read", tmp_path / "m000", "allowed")
    client(3, "read", tmp_path / "m000", "disallowed")
    assert "was written by 3 ranks" in client(2, "read", tmp_path / "m000", "disallowed", code=3)


@needs_mpi
def test_partitions_by_the_name_of_the_host(tmp_path):
    """As GenericIO numbers them; their list has places only of ranks that have a grid."""
    name = sum(socket.gethostname().encode()) % 256
    for file, options, use_name, numbers in (("named", ("natural",), None, (name, name + 1)),
                                             ("plain", ("natural",), "0", (0, 1)),
                                             ("placed", ("natural", "grid"), "-1", (name, name + 1))):
        more = {} if use_name is None else {"GENERICIO_PARTITIONS_USE_NAME": use_name}
        client(3, "write", tmp_path / file, *options, GENERICIO_RANK_PARTITIONS="2", **more)
        assert sorted(path.name for path in tmp_path.glob(f"{file}*")) == sorted([file, *(f"{file}#{n}" for n in numbers)])
        found, (listed, *_) = reader.read(tmp_path / file)
        assert np.array_equal(found["x"], expected()["x"])
        places = ["$x", "$y", "$z"] if "grid" in options else []
        assert list(listed.variables) == ["$rank", "$partition", *places]
    client(3, "write", tmp_path / "one", "natural")  # of one host, without ranks: no partitions
    assert [path.name for path in tmp_path.glob("one*")] == ["one"]


@needs_mpi
def test_the_last_of_two_writes_stays(tmp_path):
    """And opening the name waits for it."""
    assert "214 elements" not in client(1, "twice", tmp_path / "m000")
    client(3, "twice", tmp_path / "m000")
    assert np.array_equal(reader.read(tmp_path / "m000")[0]["x"], expected()["x"])


@needs_mpi
def test_what_cannot_be_made_is_kept(tmp_path):
    """The run stays, and the command that is named makes the file."""
    (tmp_path / "m000").mkdir()  # a directory of the name cannot be replaced
    said = subprocess.run(["mpiexec", "-n", "2", BUILD / "tests/genericio_client", "write", tmp_path / "m000"], check=False,
                          capture_output=True, text=True, timeout=SECONDS_MAX)
    assert "was not made" in said.stderr and "Next: forebay export genericio" in said.stderr, said.stderr
    (tmp_path / "m000").rmdir()
    subprocess.run([BUILD / "bin/forebay", "export", "genericio", f"{tmp_path}/m000.forebay/restart@0", tmp_path / "m000"],
                   check=True, timeout=SECONDS_MAX, capture_output=True)
    assert np.array_equal(reader.read(tmp_path / "m000")[0]["x"], expected(2)["x"])
    assert not (tmp_path / "m000.forebay").exists()


@needs_mpi
def test_a_file_that_cannot_be_made_keeps_no_other_from_being_written(tmp_path):
    """The third write waits for the first, tells its error, and is safe itself."""
    (tmp_path / "m-0").mkdir()
    said = client(2, "many", tmp_path / "m")
    assert f"write 2: forebay: {tmp_path}/m-0 was not made" in said and "write 1" not in said, said
    for name in ("m-1", "m-2"):
        assert np.array_equal(reader.read(tmp_path / name)[0]["x"], expected(2)["x"])


@needs_mpi
def test_a_write_that_was_sealed_is_what_is_read(tmp_path):
    """Whatever was killed before its file was made, an older file of the name is not taken for it."""
    name, run = tmp_path / "m000", tmp_path / "m000.forebay"
    client(1, "write", tmp_path / "older")
    older = (tmp_path / "older").read_bytes()

    def sealed_only():
        client(3, "write", name, FOREBAY_GENERICIO_KEEP="1")
        (run / "made").unlink()
        name.write_bytes(older)

    sealed_only()
    assert "214 elements" in client(2, "read", name, "redistribute")
    assert not run.exists()
    sealed_only()
    (run / "failed").write_text("the disk was full")
    assert "214 elements" in client(2, "read", name, "redistribute")
    sealed_only()
    (run / "restart/step-000000").rename(run / "restart/.step-000000.00000000000000aa.part")  # killed while it drained
    assert "was not committed" in client(2, "read", name, "redistribute", code=3)
    sealed_only()
    for step in (run / "restart").iterdir():
        shutil.rmtree(step)  # killed while it was written
    assert "100 elements" in client(2, "read", name, "redistribute")
    sealed_only()
    made = subprocess.run([BUILD / "bin/forebay", "export", "genericio", f"{run}/restart@0", name, "--force", "--keep"],
                          check=True, timeout=SECONDS_MAX, capture_output=True, text=True)
    assert (run / "made").exists(), made.stdout
    assert np.array_equal(reader.read(name)[0]["x"], expected()["x"])


@needs_mpi
def test_what_an_older_version_left_is_finished(tmp_path):
    """It gave other names to locks and marks of the run. While one of its programs lives, its run is left alone."""
    name, run = tmp_path / "m000", tmp_path / "m000.forebay"

    def sealed_by_the_older():
        client(3, "write", name, FOREBAY_GENERICIO_KEEP="1")
        (run / "made").unlink()
        (run / "writer.lock").rename(run / ".genericio-writer")
        (run / "finish.lock").rename(run / ".genericio-maker")
        name.write_bytes(b"older")

    sealed_by_the_older()
    for lock in (".genericio-writer", ".genericio-maker"):
        with open(run / lock, "r+b") as held:
            fcntl.lockf(held, fcntl.LOCK_EX)
            assert "an older forebay" in client(2, "read", name, "redistribute", code=3)
            assert "an older forebay" in client(2, "write", name, code=3)
            by_hand = subprocess.run([BUILD / "bin/forebay", "export", "genericio", f"{run}/restart@0", name, "--force"],
                                     check=False, timeout=SECONDS_MAX, capture_output=True, text=True)
            assert by_hand.returncode != 0 and "an older forebay" in by_hand.stderr, by_hand.stderr
    assert name.read_bytes() == b"older"
    assert "214 elements" in client(2, "read", name, "redistribute")
    assert not run.exists()
    sealed_by_the_older()
    client(2, "write", name)
    assert np.array_equal(reader.read(name)[0]["x"], expected(2)["x"]) and not run.exists()
    sealed_by_the_older()
    (run / ".genericio-made").write_text("made")  # and kept
    client(1, "write", tmp_path / "other")
    name.write_bytes((tmp_path / "other").read_bytes())
    assert "100 elements" in client(1, "read", name, "redistribute")
    assert (run / ".genericio-made").exists(), "a file that is made was made again"


@needs_mpi
def test_the_environment_has_the_last_word_on_compression(tmp_path):
    client(2, "write", tmp_path / "plain", "compress", GENERICIO_COMPRESS="0")
    client(2, "write", tmp_path / "asked", "compress")
    client(2, "write", tmp_path / "small", GENERICIO_COMPRESS="1")
    show = {name: subprocess.run([BUILD / "bin/forebay", "show", tmp_path / name], check=True, capture_output=True,
                                 text=True).stdout for name in ("plain", "asked", "small")}
    assert [name for name, text in show.items() if "blosc" in text.lower()] == ["asked", "small"], show


@needs_mpi
def test_damage_is_told(tmp_path):
    """On all ranks alike."""
    client(3, "write", tmp_path / "m000")
    data = bytearray((tmp_path / "m000").read_bytes())
    data[-20] ^= 1
    (tmp_path / "m000").write_bytes(data)
    assert "'mask' of rank 2" in client(2, "read", tmp_path / "m000", "redistribute", code=3)
    assert "m000" in client(2, "read", tmp_path / "none", "redistribute", code=3).replace("none", "m000")


@needs_mpi
@pytest.mark.skipif(bool(os.environ.get("FOREBAY_LINK_FLAGS")), reason="a sanitizer must come before what is preloaded")
@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK])
def test_on_a_target_without_locks(tmp_path, number):
    """Written and read as anywhere; told once; a name that another host may be writing is left alone."""
    library, config = BUILD / "tests/libno_locks.so", tmp_path / "config.toml"
    config.write_text(f'close_wait_seconds = 60\n[agent]\nenvironment = {{ LD_PRELOAD = "{library}" }}\n')
    target = tmp_path / "target"
    target.mkdir()
    environment = {"LD_PRELOAD": str(library), "NO_LOCKS_BELOW": str(target), "NO_LOCKS_NUMBER": str(number),
                   "FOREBAY_GENERICIO_CONFIG": str(config)}
    done = subprocess.run(["mpiexec", "-n", "2", BUILD / "tests/genericio_client", "many", target / "m"], check=True,
                          env=dict(os.environ, **environment), capture_output=True, text=True, timeout=SECONDS_MAX)
    assert done.stderr.count("has no locks") == 1, done.stderr
    for name in ("m-0", "m-1", "m-2"):
        assert np.array_equal(reader.read(target / name)[0]["x"], expected(2)["x"])
        client(1, "read", target / name, "redistribute", **environment)
    assert not list(target.glob("*.forebay"))

    run = target / "m-0.forebay"
    run.mkdir()
    (run / "kept").write_text("of the other host")
    lock = run / "writer.lock.host"
    for path in (lock, run / "writer.lock"):
        path.touch(0o600)
    lock.write_text("other-host\n")
    said = client(2, "write", target / "m-0", code=3, **environment)
    assert "other-host" in said and "no working locks" in said and f"remove {lock}" in said, said
    assert (run / "kept").exists()
    lock.unlink()
    client(2, "write", target / "m-0", **environment)
    assert not run.exists()


def test_without_mpi(tmp_path):
    """A genuine file in, ours out."""
    for name in ("soa_r4", "soa_r4_blosc"):
        (tmp_path / name).write_bytes(gzip.decompress((HERE.parent / f"foreign/genericio/{name}.gz").read_bytes()))
        done = subprocess.run([BUILD / "tests/genericio_client_serial", tmp_path / name, tmp_path / "out"], check=True,
                              capture_output=True, text=True, timeout=SECONDS_MAX)
        assert done.stdout == "8003 elements of 4 ranks\n"
        found, (file,) = reader.read(tmp_path / "out")
        genuine, _ = reader.read(tmp_path / name)
        assert np.array_equal(found["x"], genuine["x"]) and np.array_equal(found["id"], genuine["id"])
        assert len(file.ranks) == 1 and not (tmp_path / "out.forebay").exists()


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
