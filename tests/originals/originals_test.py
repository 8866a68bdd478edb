"""Goal: programs that others wrote for H5Part and GenericIO compile unchanged with our headers, run, and find their own values.

Method: the test suite of H5Part 1.6, VPIC-IO of the parallel I/O kernels (PIOK), and the benchmarks and checkers of GenericIO,
of a folder that FOREBAY_ORIGINALS names, which has them anywhere below it; without it nothing is run. Each is compiled
alone, away from the headers beside it.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys

try:
    import h5py
    import numpy as np
    import pytest
except ImportError as absent:
    print(f"skipped: {absent}")
    sys.exit(77)
if not os.environ.get("FOREBAY_ORIGINALS"):
    print("skipped: FOREBAY_ORIGINALS names no folder with the sources of H5Part, PIOK and GenericIO")
    sys.exit(77)

BUILD = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"])
INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
SOURCES = pathlib.Path(os.environ["FOREBAY_ORIGINALS"])
H5PART_TESTS = ("write1", "read1", "write2", "read2", "write3", "read3", "write4", "read4")


def done(*command, **more):
    ended = subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True, timeout=600, **more)
    assert ended.returncode == 0, f"{command} exits with {ended.returncode}\n{ended.stdout}{ended.stderr}"
    return ended.stdout


def mpi(ranks, *command, **more):
    return done("mpiexec", "-n", ranks, *command, **more)


def compiled(work, compiler, names, library, *flags):
    """A program of these files, which lie in one folder."""
    first = min(SOURCES.rglob(names[0]), default=None)
    assert first, f"{names[0]} is nowhere below {SOURCES}"
    for name in names:
        shutil.copy(first.parent / name, work)
    hdf5 = done("pkg-config", "--cflags", "--libs", "hdf5-serial").split() if "h5part" in library else []
    program = work / first.stem
    interface = INCLUDE / "forebay" / ("h5part" if "h5part" in library else "genericio")
    done(compiler, *flags, "-O1", "-o", program, *[name for name in names if not name.endswith(".h")], f"-I{interface}",
         f"-I{INCLUDE}", f"-L{BUILD}/lib", f"-Wl,-rpath,{BUILD}/lib", f"-l{library}", *hdf5, cwd=work)
    return program


@pytest.mark.parametrize("ranks", [0, 1, 4])
def test_h5part_suite(tmp_path, ranks):
    """All eight, each after the one before it. A helper that no test calls looks into handles, by a header of the library's
    own: the macro leaves it out, and the header is an empty one."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/H5PartPrivate.h").touch()
    tmp_path = tmp_path / "test"
    tmp_path.mkdir()
    names = ("testframe.c", "test.c", "write.c", "read.c", "testframe.h", "params.h")
    if ranks:
        program = compiled(tmp_path, "mpicc", names, "forebay_h5part", "-DPARALLEL_IO", "-DH5_USE_16_API")
        said = mpi(ranks, program, "-summary", cwd=tmp_path)
    else:
        program = compiled(tmp_path, "cc", names, "forebay_h5part_serial", "-DH5_USE_16_API")
        said = done(program, "-summary", cwd=tmp_path)
    summary = said[said.index("Summary of Test Results"):].split()
    for test in H5PART_TESTS:
        assert summary[summary.index(test) + 1] == "0", said
    assert [path.name for path in tmp_path.glob("*.forebay*")] == []


@pytest.mark.parametrize("ranks", [0, 3])
def test_h5part_fortran(tmp_path, ranks):
    compiler, library = ("mpif90", "forebay_h5part") if ranks else ("gfortran", "forebay_h5part_serial")
    program = compiled(tmp_path, compiler, ("testf.F90",), library, *(["-DPARALLEL_IO"] if ranks else []))
    mpi(ranks, program, cwd=tmp_path) if ranks else done(program, cwd=tmp_path)
    with h5py.File(tmp_path / "test.h5") as file:
        assert np.array_equal(file["Step#0/id"], np.tile(np.arange(1, 100), ranks or 1))
        assert file.attrs["desc"] == b"This is a test."


@pytest.mark.parametrize("kernel", ["vpicio_uni", "vpicio_nonuni"])
def test_vpic_io(tmp_path, kernel):
    """A million particles a rank, or some more, each with its number."""
    program = compiled(tmp_path, "mpicc", (f"{kernel}.c", "timer.h"), "forebay_h5part", "-DPARALLEL_IO", "-fgnu89-inline", "-lm")
    mpi(2, program, tmp_path / "out.h5part", 1)
    with h5py.File(tmp_path / "out.h5part") as file:
        group = file["Step#0"]
        id1, id2, z = (group[name][...] for name in ("id1", "id2", "z"))
        starts = np.flatnonzero(id1 == 0)
        counts = np.diff([*starts, len(id1)])
        assert len(starts) == 2 and min(counts) >= 1 << 20 and (kernel == "vpicio_nonuni" or max(counts) == 1 << 20)
        numbers = np.concatenate([np.arange(count) for count in counts])
        assert np.array_equal(id1, numbers) and np.array_equal(id2, 2 * numbers)
        assert np.allclose(z, numbers / np.repeat(counts, counts) * 64)


@pytest.mark.parametrize("options", [(), ("-c",), ("-a",)])
@pytest.mark.parametrize("partitions", [0, 2])
def test_genericio(tmp_path, options, partitions):
    """Written on 4 ranks; checked on 3 and without MPI; copied by the program that rewrites, and checked again."""
    def program(name, with_mpi):
        compiler, library, flags = (("mpicxx", "forebay_genericio", []) if with_mpi else
                                    ("c++", "forebay_genericio_serial", ["-DGENERICIO_NO_MPI"]))
        return compiled(tmp_path, compiler, (f"{name}.cxx",), library, "-std=c++17", *flags)

    environment = dict(os.environ, GENERICIO_RANK_PARTITIONS=str(partitions))
    out, copy = tmp_path / "out", tmp_path / "copy"
    mpi(4, program("GenericIOBenchmarkWrite", True), *options, out, 100000, 1, env=environment)
    name = sum(socket.gethostname().encode()) % 256
    parts = [f"out#{name}", f"out#{name + 1}"] if partitions else []
    assert sorted(path.name for path in tmp_path.glob("out*")) == ["out", *parts]
    if partitions:
        assert out.stat().st_size == 832  # without a grid of ranks no columns $x, $y, $z
    mpi(3, program("GenericIOBenchmarkRead", True), *options[options == ("-c",):], out)
    verify = program("GenericIOVerify", True)
    assert f"{out}: okay" in mpi(3, verify, out)
    rewrite = program("GenericIORewrite", True)
    mpi(3, rewrite, out, copy)
    assert f"{copy}: okay" in mpi(2, verify, copy)
    mpi(1, rewrite, out, copy)
    alone = program("GenericIOVerify", False)  # which reads files of as many ranks as it has
    assert f"{copy}: okay" in done(alone, copy)
    printer = program("GenericIOPrint", False)
    rows = [[line for line in done(printer, file).splitlines() if not line.startswith("#")] for file in (out, copy)]
    assert len(rows[0]) > 99000 and rows[0] == rows[1]
    damaged = bytearray(copy.read_bytes())
    damaged[-100] ^= 1
    copy.write_bytes(damaged)
    assert subprocess.run([alone, copy], check=False, capture_output=True).returncode == 1


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-v", "-p", "no:cacheprovider"]))
