"""Goal: `forebay show` lists everything in an HDF5 file of another program in fitting words: all names of a dataset,
data that openPMD and netCDF store without a dataset, and the meaning of the elements.

Method: h5py, netCDF4 and openpmd-api write the files; the output is compared with the written data.
"""

import json
import sys

from forebay_test import forebay

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


def types(path):
    return {one["path"]: one["type"] for one in shown(path)["datasets"]}


def others(path):
    return {one["path"]: one["said"] for one in shown(path)["others"]}


def float_type(bits, exponent, mantissa):
    kind = h5py.h5t.IEEE_F32LE.copy()
    kind.set_fields(bits - 1, mantissa, exponent, 0, mantissa)
    kind.set_size(bits // 8)
    kind.set_ebias(2 ** (exponent - 1) - 1)
    return kind


def test_types(tmp_path):
    path, one = tmp_path / "types.h5", h5py.h5s.create_simple((2,))
    x87 = h5py.h5t.NATIVE_LDOUBLE
    with h5py.File(path, "w") as file:
        file["bool"] = np.array([True, False])
        file["c64"] = np.zeros(2, "c8")
        file.create_dataset("c128", (2,), ">c16")
        file.create_dataset("real_imag", (2,), np.dtype([("real", "f4"), ("imag", "f4")]))
        file.create_dataset("mixed", (2,), np.dtype([("r", "f4"), ("i", "f8")]))
        file.create_dataset("enum", (2,), h5py.enum_dtype({"RED": 0, "GREEN": -2}, "i2"))
        file.create_dataset("many", (2,), h5py.enum_dtype({f"v{i}": i for i in range(9)}, "u1"))
        file.create_dataset("list", (2,), h5py.vlen_dtype("i4"))
        file.create_dataset("text", (2,), h5py.string_dtype())
        file.create_dataset("short", (2,), "S5")
        file.create_dataset("opaque", (2,), "V16")
        file.create_dataset("object", (2,), h5py.ref_dtype)
        file.create_dataset("region", (2,), h5py.regionref_dtype)
        file.create_dataset("array", (2,), np.dtype(("f4", (3, 2))))
        file.create_dataset("row", (2,), np.dtype([(name, "f8") for name in "abcdef"]))
        for name, kind in (("bits", h5py.h5t.STD_B8LE), ("half", float_type(16, 5, 10)), ("brain", float_type(16, 8, 7)),
                           ("e4m3", float_type(8, 4, 3)), ("e5m2", float_type(8, 5, 2)), ("odd", float_type(16, 6, 9)),
                           ("long", x87)):
            h5py.h5d.create(file.id, name.encode(), kind, one)
        twelve = h5py.h5t.STD_I16BE.copy()
        twelve.set_precision(12)
        h5py.h5d.create(file.id, b"twelve", twelve, one)
        file["kind"] = np.dtype("f8")
    found = types(path)
    assert found.pop("opaque").startswith("opaque of 16 bytes")
    assert found.pop("long") == ("f80 in 16 bytes" if x87.get_precision() == 80 else "f128")
    assert found == {
        "array": "f32[3 x 2]", "bits": "bitfield of 8 bits", "bool": "bool", "brain": "bfloat16",
        "c128": "c128, complex, big-endian", "c64": "c64, complex", "e4m3": "fp8 e4m3", "e5m2": "fp8 e5m2",
        "enum": "enum of i16: GREEN=-2, RED=0", "half": "f16", "list": "lists of i32",
        "many": "enum of u8: v0=0, v1=1, v2=2, v3=3, ... 9 values",
        "mixed": "compound of 12 bytes: r f32, i f64", "object": "references to objects",
        "odd": "float of 16 bits: 6 of exponent, 9 of mantissa", "real_imag": "c64, complex",
        "region": "references to regions", "row": "compound of 48 bytes: a f64, b f64, c f64, d f64, ... 6 members",
        "short": "string[5]", "text": "string", "twelve": "i16 (12 bits used), big-endian"}
    assert others(path) == {"kind": "named type: f64"}


def test_shapes_without_elements(tmp_path):
    path = tmp_path / "empty.h5"
    with h5py.File(path, "w") as file:
        file["null"] = h5py.Empty("f8")
        file["none"] = np.zeros((0, 3))
        file["scalar"] = 1.0
    assert [(one["path"], one.get("shape"), one.get("no_shape")) for one in shown(path)["datasets"]] == [
        ("none", [0, 3], None), ("null", None, "null"), ("scalar", [], None)]
    assert [line.split()[:3] for line in forebay("show", path).splitlines()[3:]] == [
        ["none", "f64", "0"], ["null", "f64", "null"], ["scalar", "f64", "scalar"]]
    forebay("verify", path)


def test_all_names_are_listed_and_counted_once(tmp_path):
    path = tmp_path / "nexus.h5"
    with h5py.File(path, "w") as file:
        file["entry/instrument/detector/data"] = np.zeros(6)
        file["entry/data/data"] = h5py.SoftLink("/entry/instrument/detector/data")
        file["a"] = h5py.SoftLink("/entry/instrument")
        file["z"] = file["entry/instrument/detector/data"]
        file["lost"] = h5py.SoftLink("/nowhere")
        file.create_group("bare")
    found = shown(path)
    assert ([one["path"] for one in found["datasets"]], found["bytes"]) == (["entry/instrument/detector/data"], 48)
    assert others(path) == {
        "a": "another name of 'entry/instrument'", "bare": "empty",
        "entry/data/data": "another name of 'entry/instrument/detector/data'",
        "lost": "a link to '/nowhere', which does not exist", "z": "another name of 'entry/instrument/detector/data'"}
    lines = [line.split("  ")[0] for line in forebay("show", path).splitlines()[3:]]
    assert lines == ["a", "bare", "entry/data/data", "entry/instrument/detector/data", "lost", "z"]


def test_openpmd_constant_components(tmp_path):
    path = tmp_path / "constant.h5"
    series = openpmd.Series(str(path), openpmd.Access.create)
    step = series.iterations[3]
    component = step.meshes["E"]["y"]
    component.reset_dataset(openpmd.Dataset(np.dtype("float64"), [2, 3]))
    component.make_constant(3.0)
    for record in ("position", "positionOffset"):
        for axis in ("x", "y"):
            step.particles["e"][record][axis].reset_dataset(openpmd.Dataset(np.dtype("float32"), [4]))
            step.particles["e"][record][axis].make_constant(np.float32(1))
    series.close()
    found = {one["path"]: (one["type"], one["shape"], one["storage"]) for one in shown(path)["datasets"]}
    assert found == {
        "data/3/meshes/E/y": ("f64", [2, 3], "constant"),
        **{f"data/3/particles/e/{record}/{axis}": ("f32", [4], "constant")
           for record in ("position", "positionOffset") for axis in ("x", "y")}}
    forebay("verify", path)


def test_openpmd_variable_based(tmp_path):
    path = tmp_path / "variable.h5"
    series = openpmd.Series(str(path), openpmd.Access.create)
    series.iteration_encoding = openpmd.Iteration_Encoding.variable_based
    rho = series.iterations[5].meshes["rho"][openpmd.Mesh_Record_Component.SCALAR]
    rho.reset_dataset(openpmd.Dataset(np.dtype("float64"), [2, 3]))
    rho.store_chunk(np.ones((2, 3)))
    series.iterations[5].close()
    series.close()
    assert (shown(path)["said"], shown(path)["steps"]) == ("openPMD 1.1.0, variableBased", [5])
    forebay("verify", path)
    with h5py.File(path, "a") as file:
        del file["data"].attrs["dt"]
        del file["data/meshes/rho"].attrs["unitSI"]
    judged = json.loads(forebay("verify", path, "--json", code=1))
    assert sorted(judged["problems"]) == ["'/data' has no attribute dt", "'/data/meshes/rho' has no attribute unitSI"]


def test_numbered_groups_make_no_h5part(tmp_path):
    path = tmp_path / "keras.h5"
    with h5py.File(path, "w") as file:
        file["dense#1/w"], file["dense#2/w"] = np.zeros(3), np.zeros(4)
    assert (shown(path)["format"], shown(path)["steps"]) == ("hdf5", [])
    forebay("verify", path)


def test_netcdf_dimensions_without_a_variable(tmp_path):
    path = tmp_path / "air.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 4)
        file.createDimension("y", 3)
        file.createVariable("u", "f8", ("y", "x"))[:] = 1
        file.createVariable("y", "f8", ("y",))[:] = 1
    found = shown(path)
    assert ([one["path"] for one in found["datasets"]], found["bytes"]) == (["u", "y"], 8 * 15)
    assert others(path) == {"x": "of netCDF, without a variable"}
    forebay("verify", path)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
