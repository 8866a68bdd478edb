"""Goal: for any HDF5 file of another program, `forebay ls`, `show` and `verify` end, open only regular files, report
all unreadable parts, and never call a file good without reading all of it.

Method: h5py writes files that refer to fifos, sockets, devices, directories and to themselves, damaged files, and files
that need features HDF5 lacks. A preloaded library makes HDF5 crash. A verb that blocks on a fifo hits the test's limit.
"""

import json
import os
import socket
import subprocess
import sys

from forebay_test import BUILD, FOREBAY, forebay, measures_memory, run

try:
    import h5py
    import hdf5plugin
    import netCDF4
    import numpy as np
    import pytest
except ImportError as absent:
    print(f"skipped: {absent}")
    sys.exit(77)

ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("HDF5_")}


def answer(verb, path, code, **more):
    return json.loads(run(FOREBAY, verb, path, "--json", code=code, env={**ENVIRONMENT, **more}).stdout)


def problems(path, code, **more):
    return answer("verify", path, code, **more)["problems"]


def others(path, code=0):
    return {one["path"]: one["said"] for one in answer("show", path, code)["others"]}


def nothing_to_open(folder, kind):
    place = folder / kind
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "directory":
        place.mkdir()
    elif kind == "socket":
        socket.socket(socket.AF_UNIX).bind(str(place))
    elif kind == "link":
        os.mkfifo(folder / "end")
        place.symlink_to("end")
    else:
        return kind
    return str(place)


@pytest.mark.parametrize("kind", ["fifo", "directory", "socket", "link", "/dev/zero", "/proc/self/status"])
def test_only_regular_files_are_opened(tmp_path, kind):
    place, path = nothing_to_open(tmp_path, kind), tmp_path / "refers.h5"
    space = h5py.h5s.create_simple((8,), (h5py.h5s.UNLIMITED,))
    endless = space.copy()
    endless.select_hyperslab((0,), (h5py.h5s.UNLIMITED,), (1,), (1,))
    with h5py.File(path, "w") as file:
        file.create_dataset("raw", (4,), "f8", external=[(place, 0, 32)])
        file["link"] = h5py.ExternalLink(place, "/u")
        file["by_way"] = h5py.SoftLink("/link/u")
        layout = h5py.VirtualLayout((4,), "f8")
        layout[:] = h5py.VirtualSource(place, "u", (4,))
        file.create_virtual_dataset("view", layout)
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_virtual(endless, place.encode(), b"u", endless)
        h5py.h5d.create(file.id, b"growing", h5py.h5t.IEEE_F64LE, space, creation)
        file["good"] = np.arange(3.0)
    shown = answer("show", path, 0)
    assert {one["path"]: one.get("no_shape") for one in shown["datasets"]} == {
        "good": None, "growing": "unknown", "raw": None, "view": None}
    assert set(others(path)) == {"by_way", "link"}
    assert "4 datasets" in forebay("ls", path)
    said = "\n".join(problems(path, 1))
    assert f"'growing' shows data of '{place}', which is not a regular file" in said
    assert f"'view' shows data of '{place}', which is not a regular file" in said
    # A kernel file looks like a regular file without bytes.
    assert f"'raw' has its data in '{place}', which is not a regular file" in said or "has 0 of 32 bytes" in said
    assert "'link' is a link to a missing object" in said


def test_listing_needs_no_file_beside_it(tmp_path):
    path, layout = tmp_path / "alone.h5", h5py.VirtualLayout((4,), "f8")
    layout[:] = h5py.VirtualSource("gone.h5", "u", (4,))
    with h5py.File(path, "w") as file:
        file.create_virtual_dataset("view", layout)
        file.create_dataset("raw", (4,), "f8", external=[("gone.raw", 0, 32)])
        file["link"] = h5py.ExternalLink("gone.h5", "/u")
    assert [one["shape"] for one in answer("show", path, 0)["datasets"]] == [[4], [4]]
    assert others(path) == {"link": "a link to '/u' of gone.h5"}
    assert problems(path, 1) == [
        "'link' is a link to a missing object",
        "'raw' has its data in 'gone.raw', which does not exist (set HDF5_EXTFILE_PREFIX to its directory)",
        "'view' shows fill values for missing data: 'u' of gone.h5"]
    with h5py.File(tmp_path / "gone.h5", "w") as file:
        file["u"] = np.arange(4.0)
    (tmp_path / "gone.raw").write_bytes(bytes(32))
    assert problems(path, 0, HDF5_EXTFILE_PREFIX="${ORIGIN}") == []


def test_raw_data_that_end_too_early(tmp_path):
    path, first, second = tmp_path / "raw.h5", tmp_path / "first", tmp_path / "second"
    with h5py.File(path, "w") as file:
        file.create_dataset("u", (10,), "f8", external=[(str(first), 16, 24), (str(second), 0, h5py.h5f.UNLIMITED)])
    first.write_bytes(bytes(40))
    second.write_bytes(bytes(56))
    assert problems(path, 0) == []
    second.write_bytes(bytes(55))
    assert problems(path, 1) == [f"'u' shows zeros for missing data: '{second}' has 55 of 56 bytes"]
    first.write_bytes(bytes(10))
    assert problems(path, 1) == [f"'u' shows zeros for missing data: '{first}' has 0 of 24 bytes"]


def virtual(path, source, dataset="u"):
    layout = h5py.VirtualLayout((4,), "f8")
    layout[:] = h5py.VirtualSource(source, dataset, (4,))
    with h5py.File(path, "w") as file:
        file.create_virtual_dataset("u", layout)


@pytest.mark.parametrize("files", [1, 2, 3])
def test_virtual_datasets_that_show_themselves(tmp_path, files):
    for i in range(files):
        virtual(tmp_path / f"{i}.h5", f"{(i + 1) % files}.h5" if files > 1 else ".")
    assert problems(tmp_path / "0.h5", 1) == ["'u' shows itself, directly or through other datasets"]
    assert len(answer("show", tmp_path / "0.h5", 0)["datasets"]) == 1


def test_views_of_views(tmp_path):
    for i in range(3):
        virtual(tmp_path / f"{i}.h5", f"{i + 1}.h5")
    with h5py.File(tmp_path / "3.h5", "w") as file:
        file["u"] = np.arange(4.0)
    assert problems(tmp_path / "0.h5", 0) == []
    (tmp_path / "3.h5").unlink()
    assert problems(tmp_path / "0.h5", 1) == [
        "'u' shows fill values for missing data: 'u' of 3.h5"]
    for i in range(3, 100):
        virtual(tmp_path / f"{i}.h5", f"{i + 1}.h5")
    assert "leads through more than" in problems(tmp_path / "0.h5", 1)[0]


def damage_header(path, name):
    with h5py.File(path) as file:
        address = h5py.h5o.get_info(file[name].id).addr
    with open(path, "r+b") as file:
        file.seek(address)
        file.write(b"\xff" * 16)


def test_objects_that_hdf5_cannot_open_are_named(tmp_path):
    path = tmp_path / "damaged.h5"
    with h5py.File(path, "w") as file:
        file["a"], file["b"], file["deep/c"] = np.arange(3.0), np.arange(4.0), np.arange(5.0)
        file["to_b"] = h5py.SoftLink("/b")
    for name in ("b", "deep"):
        damage_header(path, name)
    shown = answer("show", path, 1)
    assert [one["path"] for one in shown["datasets"]] == ["a"] and shown["unreadable"] == 3
    said = others(path, 1)
    assert set(said) == {"b", "deep", "to_b"} and all("cannot be read by HDF5" in one for one in said.values()), said
    assert "'b' cannot be read by HDF5" in forebay("ls", path, code=1)
    assert [one.split(" by ")[0] for one in problems(path, 1)] == [
        f"'{name}' cannot be read" for name in ("b", "deep", "to_b")]


def test_filters_that_hdf5_lacks(tmp_path):
    path = tmp_path / "filters.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("u", data=np.arange(100.0), chunks=(10,), **hdf5plugin.Zstd())
        file.create_dataset("v", (100,), "f8", chunks=(10,), **hdf5plugin.Zstd())  # no chunk is stored
        file["w"] = np.arange(3.0)
    lacking = answer("verify", path, 6)
    assert (len(lacking["problems"]), lacking["missing_filters"], lacking["whole"]) == (1, ["32015 (zstd)"], False)
    told = run(FOREBAY, "verify", path, code=6, env=ENVIRONMENT).stdout
    assert "HDF5_PLUGIN_PATH" in told and "its filter 32015 (zstd)" in told
    assert problems(path, 0, HDF5_PLUGIN_PATH=hdf5plugin.PLUGIN_PATH) == []
    with h5py.File(path, "a") as file:
        file["lost"] = h5py.SoftLink("/nowhere")
    assert len(problems(path, 1)) == 2


def test_a_view_of_what_needs_a_filter(tmp_path):
    with h5py.File(tmp_path / "source.h5", "w") as file:
        file.create_dataset("u", data=np.arange(4.0), chunks=(4,), compression="lzf")
    virtual(tmp_path / "view.h5", "source.h5")
    assert answer("verify", tmp_path / "view.h5", 6)["missing_filters"] == ["32000 (lzf)"]


def test_a_crash_of_hdf5_is_damage(tmp_path):
    path = tmp_path / "crash.h5"
    with h5py.File(path, "w") as file:
        file["good"], file["wild"] = np.arange(3.0), np.arange(3.0)
    trouble = {**ENVIRONMENT, "LD_PRELOAD": str(BUILD / "tests/libhdf5_trouble.so"), "FOREBAY_CRASHES": "wild"}
    for verb in ("ls", "show", "verify"):
        done = subprocess.run([FOREBAY, verb, path], env=trouble, capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stdout) == (4, ""), done
        assert str(path) in done.stderr and "signal 11" in done.stderr
    assert problems(path, 0) == []


def test_nobody_reads_the_output(tmp_path):
    path = tmp_path / "many.h5"
    with h5py.File(path, "w") as file:
        for i in range(3000):
            file.create_group(f"a group with a longer name {i}")
    script = f"{FOREBAY} show {path} | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == str(128 + 13) and done.stderr == "", done


def test_damage_is_damage_of_hdf5_and_not_of_a_node_file(tmp_path):
    path = tmp_path / "large.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("zeros", data=np.zeros(2000))  # a node file has its record in these bytes
    damage = path.read_bytes()
    path.write_bytes(damage[:48] + b"\xff" * 48 + damage[96:])
    for verb in ("ls", "show", "verify"):
        told = forebay(verb, path, code=4)
        assert "seal" not in told and "HDF5" in told


def test_groups_in_groups(tmp_path):
    for depth, code in ((200, 0), (1500, 6)):
        path = tmp_path / f"{depth}.h5"
        with h5py.File(path, "w") as file:
            group = file
            for _ in range(depth):
                group = group.create_group("g")
            group["u"] = np.zeros(2000)
        for verb in ("ls", "show", "verify"):
            assert "seal" not in forebay(verb, path, code=code)


@pytest.mark.parametrize("driver, step", [("family", "h5repart"), ("split", "driver")])
def test_parts_of_a_file_are_no_damage(tmp_path, driver, step):
    options = {"memb_size": 4096} if driver == "family" else {}
    with h5py.File(tmp_path / ("part%d.h5" if options else "part"), "w", driver=driver, **options) as file:
        file["u"] = np.arange(2000.0)
    told = forebay("show", tmp_path / ("part0.h5" if options else "part-m.h5"), code=6)
    assert "one part of a split HDF5 file" in told and step in told


@pytest.mark.parametrize("kind", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"])
def test_classic_netcdf(tmp_path, kind):
    path = tmp_path / "old.nc"
    with netCDF4.Dataset(path, "w", format=kind) as file:
        file.createDimension("x", 3)
        file.createVariable("u", "f8", ("x",))[:] = 1
    for verb in ("ls", "show", "verify"):
        told = forebay(verb, path, code=6)
        assert "classic netCDF" in told and "nccopy -k nc4" in told


@measures_memory
def test_texts_and_lists_are_bounded_in_memory(tmp_path):
    path = tmp_path / "texts.h5"
    with h5py.File(path, "w") as file:
        texts = file.create_dataset("texts", (20000,), h5py.string_dtype())
        for i in range(0, 20000, 1000):
            texts[i:i + 1000] = ["x" * 8000] * 1000
        lists = file.create_dataset("lists", (100,), h5py.vlen_dtype("f8"))
        lists[:] = [np.arange(i) for i in range(100)]
    measure = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); "
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = subprocess.run([sys.executable, "-c", measure, FOREBAY, "verify", path, "--json"], capture_output=True,
                          text=True, check=True, timeout=120)
    judged, peak = json.JSONDecoder().raw_decode(done.stdout)
    assert judged["bytes_read"] == 20000 * (8 + 8001) + 100 * 16 + 4950 * 8
    assert int(done.stdout[peak:]) < 100 << 10  # KiB; the texts have 160 MB


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
