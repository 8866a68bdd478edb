"""Goal: `forebay show`, `ls` and `verify` recognise HDF5 files of other programs: H5Part, openPMD, netCDF-4 or plain.
They report the content, unreadable parts, and broken rules of the convention.

Method: h5py, netCDF4 and openpmd-api write the files. Each file has one fault.
"""

import json
import os
import resource
import subprocess
import sys

from forebay_test import FOREBAY, forebay, measures_memory

try:
    import h5py
    import netCDF4
    import numpy as np
    import openpmd_api as openpmd
    import pytest
except ImportError as absent:
    print(f"skipped: {absent}")
    sys.exit(77)


def shown(path):
    return json.loads(forebay("show", path, "--json"))


def problems(path, code):
    judged = json.loads(forebay("verify", path, "--json", code=code))
    assert judged["whole"] == (code == 0)
    return judged["problems"]


@pytest.fixture
def h5part(tmp_path):
    path = tmp_path / "beam.h5part"
    with h5py.File(path, "w") as file:
        for step in (0, 20, 10):
            for name, kind in (("x", "f4"), ("id", ">i8")):
                file[f"Step#{step}/{name}"] = np.arange(100 + step).astype(kind)
    return path


@pytest.fixture
def pmd(tmp_path):
    path = tmp_path / "data.h5"
    series = openpmd.Series(str(path), openpmd.Access.create)
    step = series.iterations[7]
    mesh = step.meshes["E"]
    mesh.axis_labels, mesh.grid_spacing = ["y", "x"], [1.0, 1.0]
    for axis in ("x", "y"):
        mesh[axis].reset_dataset(openpmd.Dataset(np.dtype("float64"), [4, 5]))
        mesh[axis].store_chunk(np.arange(20.0).reshape(4, 5))
    electrons = step.particles["e"]
    for record in ("position", "positionOffset"):
        for axis in ("x", "y"):
            electrons[record][axis].reset_dataset(openpmd.Dataset(np.dtype("float32"), [6]))
            electrons[record][axis].store_chunk(np.arange(6, dtype="f4"))
    series.close()
    return path


@pytest.fixture
def nc(tmp_path):
    path = tmp_path / "air.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("y", 3)
        file.createDimension("x", 4)
        wind = file.createVariable("u", "f4", ("y", "x"))
        wind.units = "m/s"
        wind[:] = 1
    return path


def test_h5part(h5part):
    found = shown(h5part)
    assert (found["format"], found["said"], found["steps"]) == ("h5part", "H5Part", [0, 10, 20])
    assert [(one["path"], one["type"], one["shape"]) for one in found["datasets"][:2]] == [
        ("Step#0/id", "i64, big-endian", [100]), ("Step#0/x", "f32", [100])]
    assert found["bytes"] == (100 + 110 + 120) * 12
    assert "H5Part  3 steps: 0, 10, 20  6 datasets" in forebay("ls", h5part)
    assert problems(h5part, 0) == []


def test_h5part_of_unequal_columns(h5part):
    with h5py.File(h5part, "a") as file:
        file["Step#10/y"] = np.zeros(5)
    assert problems(h5part, 1) == ["'Step#10/y' has 5 particles, 'Step#10/id' has 110"]


def test_openpmd(pmd):
    found = shown(pmd)
    assert (found["format"], found["said"], found["steps"]) == ("openpmd", "openPMD 1.1.0, groupBased", [7])
    assert {one["path"]: one["shape"] for one in found["datasets"]}["data/7/meshes/E/x"] == [4, 5]
    assert problems(pmd, 0) == []


@pytest.mark.parametrize("where, name, said", [
    ("/", "iterationFormat", "'/' has no attribute iterationFormat"),
    ("/data/7", "dt", "'/data/7' has no attribute dt"),
    ("/data/7/meshes/E", "gridSpacing", "'/data/7/meshes/E' has no attribute gridSpacing"),
    ("/data/7/meshes/E/y", "position", "'/data/7/meshes/E/y' has no attribute position"),
    ("/data/7/particles/e/position/x", "unitSI", "'/data/7/particles/e/position/x' has no attribute unitSI")])
def test_openpmd_without_an_attribute(pmd, where, name, said):
    with h5py.File(pmd, "a") as file:
        del file[where].attrs[name]
    assert problems(pmd, 1) == [said]


def test_netcdf(nc):
    found = shown(nc)
    assert (found["format"], found["steps"]) == ("netcdf", [])
    assert [(one["path"], one["unit"], one["storage"]) for one in found["datasets"] if one["path"] == "u"] == [
        ("u", "m/s", "contiguous")]
    assert problems(nc, 0) == []
    with h5py.File(nc, "a") as file:
        del file["u"].attrs["DIMENSION_LIST"]
    assert problems(nc, 1) == ["'u' has 2 dimensions and names for 0 of them"]


def test_another_hdf5_file(tmp_path):
    path = tmp_path / "any.hdf5"
    with h5py.File(path, "w") as file:
        file["deep/er/table"] = np.zeros(3, dtype=[("a", "i4"), ("b", "f8")])
        file["text"] = ["one", "two"]
        file["lost"] = h5py.SoftLink("/nowhere")
        file["packed"] = np.zeros(8)
        file.create_dataset("chunks", data=np.zeros((8, 8)), compression="gzip")
    found = {one["path"]: (one["type"], one["storage"]) for one in shown(path)["datasets"]}
    assert found == {"chunks": ("f64", "chunked, filtered"), "deep/er/table": ("compound of 12 bytes: a i32, b f64", "contiguous"),
                     "packed": ("f64", "contiguous"), "text": ("string", "contiguous")}
    assert problems(path, 1) == ["'lost' is a link to a missing object"]


def test_links_in_a_circle_and_several_to_one_object(tmp_path):
    path = tmp_path / "circle.h5"
    with h5py.File(path, "w") as file:
        group = file.create_group("a")
        group["self"] = group
        group["top"] = file
        group["soft"] = h5py.SoftLink("/")
        group["u"] = np.zeros(8)
        file["z"] = group["u"]
    assert [one["path"] for one in shown(path)["datasets"]] == ["a/u"]
    assert {one["path"]: one["said"] for one in shown(path)["others"]} == {
        "a/self": "another name of 'a'", "a/soft": "another name of '/'", "a/top": "another name of '/'",
        "z": "another name of 'a/u'"}
    assert shown(path)["bytes"] == 64
    assert "1 dataset, 64 B" in forebay("ls", path)
    assert problems(path, 0) == []


def test_many_names_are_listed_in_one_pass(tmp_path):
    path = tmp_path / "names.h5"
    with h5py.File(path, "w") as file:
        group = file.create_group("many")
        for i in range(20000):
            group.create_group(f"{i:08}")
    began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    assert shown(path)["datasets"] == []
    # CPU time, which other processes hardly affect. It was a minute when each name was searched from the first name on.
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began < 20


def test_missing_sources_of_a_virtual_dataset_are_reported(tmp_path):
    for part in range(3):
        with h5py.File(tmp_path / f"100%-{part}.h5", "w") as file:
            file["u"] = np.arange(4.0)
    layout = h5py.VirtualLayout((3, 4), "f8")
    for part in range(3):
        layout[part] = h5py.VirtualSource(f"100%%-{part}.h5", "u", (4,))
    path = tmp_path / "view.h5"
    with h5py.File(path, "w") as file:
        file.create_virtual_dataset("u", layout)
    assert shown(path)["datasets"][0]["storage"] == "virtual, 3 files"
    assert problems(path, 0) == []
    (tmp_path / "100%-1.h5").unlink()
    assert problems(path, 1) == ["'u' shows fill values for missing data: 'u' of 100%-1.h5"]


def test_damaged_chunk_is_found(tmp_path):
    path = tmp_path / "sums.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("u", data=np.arange(1000.0), chunks=(100,), fletcher32=True)
        offset = file["u"].id.get_chunk_info(3).byte_offset
    with open(path, "r+b") as file:
        file.seek(offset + 17)
        file.write(b"\xff")
    assert problems(path, 1) == ["'u' cannot be read from row 0 on"]


@pytest.mark.parametrize("shape", [(2**62 - 1,), (2**32 + 1, 2**32)])
def test_shapes_that_no_file_holds_are_not_read(tmp_path, shape):
    path = tmp_path / "vast.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("a", shape, "f8", chunks=(16,) * len(shape))
        file["b"] = np.arange(3.0)
    assert problems(path, 1) == ["'a' was not read: its shape has more elements than any file holds"]
    assert shown(path)["bytes"] == 24


def test_what_is_not_stored_is_not_read(tmp_path):
    path = tmp_path / "sparse.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("none", (2**50,), "f8", chunks=(1024,))
        file.create_dataset("other", (2**50,), "f8", chunks=(1024,))
        file.create_dataset("some", (2**28, 2**28), "f8", chunks=(64, 64), fletcher32=True)
        for row, column in ((0, 0), (2**28 - 1, 2**28 - 1), (2**20, 77)):
            file["some"][row, column] = row
        offset = file["some"].id.get_chunk_info(1).byte_offset
    judged = json.loads(forebay("verify", path, "--json"))
    assert (judged["bytes_read"], judged["problems"]) == (3 * 64 * 64 * 8, [])
    with open(path, "r+b") as file:
        file.seek(offset + 17)
        file.write(b"\xff")
    assert problems(path, 1) == [f"'some' cannot be read from row {2**20} on"]


def test_sums_of_sizes_do_not_begin_at_zero_again(tmp_path):
    path = tmp_path / "many.h5"
    with h5py.File(path, "w") as file:
        for name in "abc":
            file.create_dataset(name, (2**60,), "f8", chunks=(1024,))
    assert shown(path)["bytes"] == 2**64 - 1
    assert problems(path, 0) == []


@measures_memory
@pytest.mark.parametrize("chunks", [None, (1, 3, 2**18)])
def test_rows_larger_than_memory_are_read_in_boxes(tmp_path, chunks):
    path = tmp_path / "rows.h5"
    shape = (1, 1, 60 * 2**20) if chunks is None else (2, 7, 5 * 2**20)
    with h5py.File(path, "w") as file:
        data = file.create_dataset("u", shape, "f8", chunks=chunks, compression=chunks and 1)
        data[:] = 1
    at_most = 400 << 10  # kB: less than the dataset with chunks, and than its row without chunks
    judge = f"ulimit -v {at_most}; exec {FOREBAY} verify {path} --json"
    done = subprocess.run(["bash", "-c", judge], capture_output=True, text=True, check=True, timeout=600)
    assert json.loads(done.stdout)["bytes_read"] == 8 * np.prod(shape)


def test_large_rows_of_a_sparse_file(tmp_path):
    path = tmp_path / "row.h5"
    kind = h5py.h5t.IEEE_F64LE
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    creation.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    with h5py.File(path, "w") as file:
        h5py.h5d.create(file.id, b"u", kind, h5py.h5s.create_simple((1, 5 << 27)), creation)
    judged = json.loads(forebay("verify", path, "--json"))
    assert (judged["bytes_read"], judged["problems"]) == (5 << 30, [])


@pytest.mark.parametrize("before", [512, 1024, 2048])
def test_user_block_before_the_file(tmp_path, before):
    path = tmp_path / "block.h5"
    with h5py.File(path, "w", userblock_size=before) as file:
        file["u"] = np.arange(4.0)
    assert [one["path"] for one in shown(path)["datasets"]] == ["u"]
    assert problems(path, 0) == []


def test_names_command_no_terminal(tmp_path):
    path = tmp_path / "names.h5"
    with h5py.File(path, "w") as file:
        file["a\x1b[2J\x9b2Jµ"] = np.arange(4.0)
        file["a\x1b[2J\x9b2Jµ"].attrs["units"] = "m\rs"
        file.attrs["Conventions"] = "CF\n"
        file["lost\x07"] = h5py.SoftLink("/nowhere")
    for verb, code in (("show", 0), ("ls", 0), ("verify", 1)):
        text = forebay(verb, path, code=code)
        assert not [one for one in text.replace("\n", "") if ord(one) < 32 or 127 <= ord(one) < 160], text
    assert "a\\x1b[2J\\xc2\\x9b2Jµ" in forebay("show", path)
    assert "'lost\\x07' is a link" in forebay("verify", path, code=1)
    assert shown(path)["datasets"][0]["path"] == "a\x1b[2J\x9b2Jµ"


def test_no_hdf5_and_cut_short(h5part, tmp_path):
    other = tmp_path / "notes.txt"
    other.write_text("not data")
    assert "notes.txt" in forebay("show", other, code=3)
    os.truncate(h5part, 1000)
    assert "cannot be opened by HDF5" in forebay("show", h5part, code=4)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
