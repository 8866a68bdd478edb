"""Goal: GenericIO files of any writer are read as they were written; damaged files are refused or reported. Forebay's
files are the same as GenericIO's.

Method: genuine files of the public benchmark (genericio/README.md), and files of a writer made only from the
description: both byte orders, old headers, blocks and partitions. A reader made only from the description judges the
exports.
"""

import gzip
import json
import os
import pathlib
import random
import subprocess
import sys

try:
    import h5py
    import numpy as np
    import pytest
except ImportError as absent:
    print(f"skipped: {absent}")
    sys.exit(77)

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import genericio_reader as reader  # noqa: E402
import genericio_writer as writer  # noqa: E402
from forebay_test import BUILD, forebay  # noqa: E402

GENUINE = ("soa_r4", "aos_r4", "soa_r4_blosc")


@pytest.fixture(scope="module", name="genuine")
def fixture_genuine(tmp_path_factory):
    """The unpacked files of the benchmark, by name."""
    folder = tmp_path_factory.mktemp("genuine")
    for name in GENUINE:
        (folder / name).write_bytes(gzip.decompress((HERE / f"genericio/{name}.gz").read_bytes()))
    return folder


def table(view):
    """Column to array of the table "particles". The elements of records lie side by side."""
    found, records = {}, {}
    with h5py.File(view) as file:
        for name, column in file["particles"].items():
            if name == "particles":  # the row dimension, for xarray
                continue
            if "genericio_record" in column.attrs:
                record = column.attrs["genericio_record"]
                records.setdefault(record if isinstance(record, str) else record.decode(), {})[
                    int(column.attrs["genericio_element"])] = column[()]
            else:
                found[name] = column[()]
    for name, columns in records.items():
        found[name] = np.stack([columns[i] for i in range(len(columns))], axis=1)
    return found


def imported(file, run, step=7):
    """The snapshot's table, after forebay verify."""
    forebay("import", "genericio", file, f"{run}@{step}")
    forebay("verify", run)
    return table(run / f"restart/step-{step:06}.h5")


def same(found, expected):
    """Checks names, types and values."""
    assert set(found) == set(expected)
    for name, values in expected.items():
        assert found[name].dtype.newbyteorder("=") == values.dtype.newbyteorder("="), name
        assert np.array_equal(found[name], values), name


@pytest.mark.parametrize("name", GENUINE)
def test_genuine_files_come_back(genuine, tmp_path, name):
    """Verifies, imports, and exports again. Files without compression come out byte for byte."""
    assert "whole" in forebay("verify", genuine / name)
    expected, (file,) = reader.read(genuine / name)
    same(imported(genuine / name, tmp_path / "run"), expected)
    forebay("export", "genericio", f"{tmp_path / 'run'}@7", tmp_path / "out")
    plain = genuine / name.removesuffix("_blosc")
    assert (tmp_path / "out").read_bytes() == plain.read_bytes()
    shown = json.loads(forebay("show", genuine / name, "--json"))
    assert (shown["elements"], shown["ranks"], shown["phys_scale"]) == (8003, 4, [256.0, 256.0, 256.0])
    assert {one["name"]: set(one["flags"].split()) for one in shown["variables"]} == {
        one: file.variables[one]["flags"] for one in file.variables}
    assert shown["compression"] == ("BLOSC" if name.endswith("blosc") else "none")
    assert "GenericIO" in forebay("ls", genuine / name)


@pytest.mark.parametrize("options", [(), ("--compress",), ("--partitions", 3), ("--compress", "--partitions", 2)])
@pytest.mark.parametrize("big", [False, True])
def test_what_is_written_is_genericio(genuine, tmp_path, options, big):
    """The reader judges the export; then it is imported again."""
    options += ("--big-endian",) if big else ()
    expected, _ = reader.read(genuine / "aos_r4")
    run = tmp_path / "run"
    imported(genuine / "aos_r4", run)
    out = tmp_path / "out"
    said = json.loads(forebay("export", "genericio", f"{run}@7", out, "--json", "--threads", 3, *options))
    assert sorted(said["files"]) == sorted(map(str, tmp_path.glob("out*"))) and said["elements"] == 8003
    assert said["bytes"] == sum(path.stat().st_size for path in tmp_path.glob("out*"))
    found, files = reader.read(out)
    same(found, expected)
    assert {file.order for file in files} == {">" if big else "<"}
    assert files[-1].variables["pos"]["flags"] == {"float", "signed", "coordinate_x", "coordinate_y", "coordinate_z"}
    assert files[-1].phys_scale == (256.0, 256.0, 256.0)
    if "--compress" in options:
        assert set(files[-1].variables["pos"]["filters"]) == {"BLOSC"}
    same(imported(out, tmp_path / "again"), expected)
    again = tmp_path / "same"
    forebay("export", "genericio", f"{tmp_path / 'again'}@7", again, *options)
    for path in tmp_path.glob("out*"):  # in any order of the threads
        assert path.read_bytes() == pathlib.Path(str(path).replace("/out", "/same")).read_bytes()


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("filters", [None, {}, {"x": "BLOSC", "vel": "BLOSC"}])
def test_other_writers_files(tmp_path, order, filters):
    """Empty ranks, records, compressed and uncompressed blocks."""
    ranks = writer.some_ranks((5, 0, 40) if filters is None else (50, 40, 60))
    (tmp_path / "in").write_bytes(writer.file_of(ranks, order, filters))
    expected, _ = reader.read(tmp_path / "in")
    assert np.array_equal(expected["vel"], np.concatenate([rank["vel"] for rank in ranks]))
    same(imported(tmp_path / "in", tmp_path / "run"), expected)


@pytest.mark.parametrize("order", "<>")
def test_old_headers(tmp_path, order):
    """Missing fields get GenericIO's defaults."""
    ranks = writer.some_ranks((3, 2), records=False)
    (tmp_path / "in").write_bytes(writer.file_of(ranks, order, old=True))
    expected, (file,) = reader.read(tmp_path / "in")
    assert file.phys_scale == (0.0, 0.0, 0.0)
    same(imported(tmp_path / "in", tmp_path / "run"), expected)
    shown = json.loads(forebay("show", tmp_path / "in", "--json"))
    assert shown["phys_scale"] == [0, 0, 0] and [one["rank"] for one in shown["rank_table"]] == [0, 1]
    names = [one["name"] for one in json.loads(forebay("show", tmp_path / "run", "--json"))["variables"]]
    assert "genericio/phys_scale" not in names and "genericio_ranks/global_rank" not in names


def test_partitions(tmp_path):
    """Ranks come in rank order, not in the order of partitions. A contradicting list is refused."""
    ranks = writer.some_ranks((2, 1, 3, 2))
    (tmp_path / "in").write_bytes(writer.list_of([7, -1, 7, -1]))
    (tmp_path / "in#7").write_bytes(writer.file_of([ranks[0], ranks[2]], numbers=[0, 2]))
    assert "which is missing" in forebay("import", "genericio", tmp_path / "in", f"{tmp_path / 'no'}@1", code=3)
    (tmp_path / "in#-1").write_bytes(writer.file_of([ranks[1], ranks[3]], numbers=[1, 3]))
    expected, _ = reader.read(tmp_path / "in")
    assert np.array_equal(expected["x"], np.concatenate([rank["x"] for rank in ranks]))
    same(imported(tmp_path / "in", tmp_path / "run"), expected)
    for wrong in (dict(numbers=[1, 2]), dict(order=">", numbers=[1, 3])):
        (tmp_path / "in#-1").write_bytes(writer.file_of([ranks[1], ranks[3]], **wrong))
        assert "damaged GenericIO output" in forebay("verify", tmp_path / "in", code=4)
    flat = writer.some_ranks((2, 1, 3, 2), records=False)
    (tmp_path / "in#7").write_bytes(writer.file_of([flat[0], flat[2]], numbers=[0, 2]))
    (tmp_path / "in#-1").write_bytes(writer.file_of([flat[1], flat[3]], old=True))
    assert "headers of different versions" in forebay("verify", tmp_path / "in", code=4)


def flipped(data, at):
    """Changes one bit of one byte."""
    changed = bytearray(data)
    changed[at] ^= 1 << at % 8
    return bytes(changed)


@pytest.mark.parametrize("name", ["little", "big", "old", "blocks"])
def test_every_byte_of_the_header_counts(tmp_path, name):
    """Tries the program on some changes; the unit test foreign.genericio tries all."""
    data = (HERE.parent / f"corpus/genericio/{name}").read_bytes()
    header = int.from_bytes(data[8:16], "big" if name == "big" else "little") + 8
    for at in [*range(0, 16), *random.Random(5).sample(range(header), 6), header - 1]:
        (tmp_path / "in").write_bytes(flipped(data, at))
        forebay("verify", tmp_path / "in", code=4 if at > 7 else 4 if flipped(data, at)[:6] == b"HACC01" and
                flipped(data, at)[6:8] in (b"L\0", b"B\0") else 3)


def test_damage_is_named(genuine, tmp_path):
    """Reports variable, rank, block and bytes of each. Nothing of the file is imported."""
    for name in GENUINE:
        data = (genuine / name).read_bytes()
        _, (file,) = reader.read(genuine / name)
        for at in random.Random(3).sample(range(file.header_bytes + 8, len(data)), 5):
            (tmp_path / "in").write_bytes(flipped(data, at))
            (said,) = json.loads(forebay("verify", tmp_path / "in", "--json", code=1))
            (damage,) = said["damage"]
            assert not said["whole"] and damage["first_byte"] <= at <= damage["last_byte"], damage
            assert damage["rank"] == damage["block"] // len(file.variables)
            assert damage["variable"] == list(file.variables)[damage["block"] % len(file.variables)]
            assert f"'{damage['variable']}" in forebay("import", "genericio", tmp_path / "in", f"{tmp_path / 'no'}@1",
                                                      code=4).replace(".0", "").replace("particles/", "")
    assert "holds no snapshot" in forebay("ls", tmp_path / "no")
    (tmp_path / "in").write_bytes(data[:-1])
    assert "damaged GenericIO file" in forebay("verify", tmp_path / "in", code=4)


def test_the_checksum_inside_a_compressed_block_counts(tmp_path):
    """The block's own checksum is right, the checksum of the uncompressed bytes is wrong."""
    data = bytearray((HERE.parent / "corpus/genericio/blocks").read_bytes())
    table = int.from_bytes(data[160:168], "little")
    start, size = (int.from_bytes(data[table + at : table + at + 8], "little") for at in (32, 40))
    data[start] ^= 1
    data[start : start + size + 8] = writer.seal(bytes(data[start : start + size]))
    (tmp_path / "in").write_bytes(data)
    assert "decompressed, its CRC-64" in forebay("verify", tmp_path / "in", code=1)


def test_what_cannot_be_read_is_refused_by_name(tmp_path):
    """Other compressions and types. Their checksums are still compared."""
    sz = HERE.parent / "corpus/genericio/sz"
    assert "compressed by SZ+BLOSC" in forebay("import", "genericio", sz, f"{tmp_path / 'no'}@1", code=6)
    assert "whole" in forebay("verify", sz)
    (tmp_path / "odd").write_bytes(writer.file_of([{"q": np.zeros(2, "f16")}]))
    assert "16 bytes" in forebay("import", "genericio", tmp_path / "odd", f"{tmp_path / 'no'}@1", code=6)
    assert "not a GenericIO file" in forebay("import", "genericio", HERE / "genericio/README.md", f"{tmp_path / 'no'}@1",
                                          code=2)
    assert "it is a file" in forebay("verify", HERE / "genericio/README.md", code=3)
    assert "does not contain its step" in forebay("import", "genericio", HERE.parent / "corpus/genericio/big",
                                              tmp_path / "no", code=2)


def test_export_refuses(genuine, tmp_path):
    """Refuses data that would be lost or cannot be exported. A damaged snapshot gives no file."""
    run = tmp_path / "run"
    imported(genuine / "soa_r4", run)
    out = tmp_path / "out"
    out.write_text("mine")
    place = f"{run}@7"
    assert "exists" in forebay("export", "genericio", place, out, code=2) and out.read_text() == "mine"
    forebay("export", "genericio", place, out, "--force", "--coordinate", "vx")
    assert "coordinate_x" in reader.File(out).variables["vx"]["flags"]
    for options, why in ((("--table", "atoms"), "no table 'atoms'"), (("--partitions", 5), "4 ranks cannot"),
                         (("--threads", 0), "0 threads"), (("--coordinate", "w"), "'w' cannot be a coordinate"),
                         (("--memory", "much"), "--memory")):
        assert why in forebay("export", "genericio", place, tmp_path / "no", *options, code=2)
    node = run / "restart/step-000007/node-00000.h5"
    data = bytearray(node.read_bytes())
    data[-5000] ^= 1
    block = next(one for one in json.loads(forebay("show", node, "--json"))["blocks"] if one["variable"] == "particles/vy")
    data[block["first_byte"] + 100] ^= 1
    node.write_bytes(data)
    for more in ((), ("--compress",)):
        assert "particles/vy" in forebay("export", "genericio", place, tmp_path / "no", *more, code=4)
    assert not list(tmp_path.glob("no*"))


@pytest.mark.skipif(not (BUILD / "python").exists(), reason="built without the Python package")
@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_an_import_restarts_on_any_ranks(genuine, tmp_path, ranks):
    """Every row once, in order."""
    expected, _ = reader.read(genuine / "soa_r4")
    forebay("import", "genericio", genuine / "soa_r4_blosc", f"{tmp_path / 'run'}@7")
    (tmp_path / "config.toml").write_text(f'staging = "{tmp_path}"\n[agent]\nmode = "thread"\n')
    done = subprocess.run(["mpiexec", "-n", str(ranks), sys.executable, HERE / "restart_genericio.py", tmp_path / "run",
                           tmp_path / "config.toml", tmp_path / "found.npz"], capture_output=True, text=True, check=False,
                          env=dict(os.environ, PYTHONPATH=str(BUILD / "python")), timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum(map(int, done.stdout.split()[1:])) == 8003
    with np.load(tmp_path / "found.npz") as found:
        for name in ("x", "id", "mask"):
            assert np.array_equal(found[name], expected[name]), name


def test_a_node_file_is_named_as_such(genuine, tmp_path):
    """The error suggests the right call."""
    imported(genuine / "soa_r4", tmp_path / "run")
    node = tmp_path / "run/restart/step-000007/node-00000.h5"
    for verb in ("verify", "ls"):
        said = forebay(verb, node, code=2)
        assert "node 0 of 1" in said and f"forebay {verb} {tmp_path / 'run/restart'}@7" in said
    assert "can be read" in forebay("verify", tmp_path / "run/restart/step-000007.h5")


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
