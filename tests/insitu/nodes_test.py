"""Goal: what a script makes beside the simulation is, to the bit, what `forebay insitu` makes of the drained snapshots, on
1, 2 and 3 nodes; nodes come together by reduce, finish and gather; pictures and files come into the run.

Method: runs under MPI with virtual nodes, and one script with a function of every kind.
"""

import hashlib
import io
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import scripted
from scripted import ENVIRONMENT, insitu, mpi, results, write_config

STEPS = 4
HERE = pathlib.Path(__file__).parent
SCRIPT = r'''
PNG = b"\x89PNG\r\n\x1a\n"

def both(a, b):
    assert all(isinstance(value, np.ndarray) for value in [*a.values(), *b.values()])
    return {"low": np.minimum(a["low"], b["low"]), "high": np.maximum(a["high"], b["high"]), "sum": a["sum"] + b["sum"],
            "nodes": np.append(a["nodes"], b["nodes"]), "columns": np.append(a["columns"], b["columns"])}

@every(1, stream="fields", variables=["theta"], reduce=both, finish=lambda all: all | {"spread": all["high"] - all["low"]})
def extremes(snapshot):
    theta = snapshot["theta"]
    assert (theta.unit, theta.description, theta.dimensions) == ("K", "potential temperature", ["z", "x"])
    assert theta.shape == (11, 24) and not any(block.data.flags.writeable for block in theta.blocks)
    parts = [block.data for block in theta.blocks]
    whole = np.asarray(theta)
    for block in theta.blocks:
        assert (whole[:, block.start[1] - theta.start[1]:][:, :block.data.shape[1]] == block.data).all()
    return {"low": min(part.min() for part in parts), "high": max(part.max() for part in parts),
            "sum": sum(float(part.sum()) for part in parts), "nodes": np.array([snapshot.node]),
            "columns": np.arange(24)[theta.blocks[0].slices[1].start:theta.blocks[-1].slices[1].stop]}

@every(2, variables=["gas/*", "dt"], reduce=lambda a, b: {"counts": a["counts"] + b["counts"], "dt": a["dt"]})
def histogram(snapshot):
    assert sorted(snapshot) == ["dt", "gas/id", "gas/x"]
    return {"counts": np.histogram(snapshot["gas/x"], 16, (0, 400))[0], "dt": snapshot["dt"].array}

@every(1, gather=["theta", "gas/id"], finish=lambda all: all | {"twice": 2 * all["mean"]})
def whole(snapshot):
    theta = snapshot["theta"].dataarray
    assert theta.dims == ("z", "x") and theta.attrs["units"] == "K" and theta.shape == (11, 24)
    assert (snapshot["gas/id"].array == np.arange(900)).all()
    return {"mean": theta.mean("x").values, "rows": len(snapshot["gas/id"].blocks), "picture": PNG + theta.values.tobytes()}

@every(2, stream="fields", variables=["theta"])
def files(snapshot):
    with open(snapshot.directory + "/table.csv", "w") as file:
        file.write(f"{snapshot.step},{snapshot.time},{snapshot['theta'].blocks[0].data[0, 0]}\n")
    with open(snapshot.directory + "/.unfinished", "w"):
        pass
    return PNG + b"of a node"

@every(1, stream="other", variables=["nothing"])
def other(snapshot):
    raise AssertionError
'''


def same(one, other):
    """Bit for bit, and of the same types."""
    assert sorted(one) == sorted(other)
    for step, found in one.items():
        assert sorted(found) == sorted(other[step])
        for name, value in found.items():
            assert value.dtype == other[step][name].dtype and value.shape == other[step][name].shape, name
            assert value.tobytes() == other[step][name].tobytes(), (step, name)


def digests(folder):
    """Of all files there, by name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in pathlib.Path(folder).iterdir()}


@pytest.mark.parametrize("ranks, nodes", [(1, 1), (4, 2), (5, 3)])
def test_beside_the_simulation_and_afterwards_the_same_bits(tmp_path, ranks, nodes):
    config = write_config(tmp_path, SCRIPT, nodes=nodes)
    run, to = tmp_path / "run", tmp_path / "afterwards"
    mpi(ranks, HERE / "saver.py", config, run, STEPS)
    scripted.soon(lambda: not list((tmp_path / "memory").glob("*/*")))
    there = results(run)
    assert sorted(there) == list(range(1, STEPS + 1))
    theta = np.sin(np.arange(11)[:, None] * 1.7 + np.arange(24) * 0.3 + 3) * 100
    assert there[3]["low"] == theta.min() and there[3]["high"] == theta.max()
    assert there[3]["spread"] == theta.max() - theta.min() and abs(there[3]["sum"] - theta.sum()) < 1e-9
    assert list(there[3]["nodes"]) == list(range(nodes)) and list(there[3]["columns"]) == list(range(24))
    np.testing.assert_allclose(there[3]["mean"], theta.mean(1), rtol=1e-13)
    assert (there[3]["twice"] == 2 * there[3]["mean"]).all() and there[3]["rows"] == ranks
    assert "counts" not in there[3] and there[2]["counts"].sum() == 900 and there[2]["dt"] == 0.25
    said = insitu(tmp_path / "look.py", run, "--python", sys.executable, "--to", to, "--pictures", tmp_path / "pictures",
                  "--jobs", 2).stdout
    assert said.splitlines()[1] == f"fields@2  1 result, {1 + 2 * nodes} pictures"
    same(there, results(to))
    packed = {}
    for stream in run.glob("packed-*"):  # two nodes that leave the last part at one moment both make the picture, alike
        subprocess.run(["forebay", "extract", stream, "-C", tmp_path / stream.name], env=ENVIRONMENT, check=True)
        for name, digest in digests(tmp_path / stream.name).items():
            assert packed.setdefault(name, digest) == digest, name
    assert packed == digests(tmp_path / "pictures")
    place = ".node-00000" if nodes > 1 else ""
    assert set(packed) >= {"fields.look.picture.step-000003.png", f"fields.look.files{place}.step-000002.png",
                                                 f"fields.look.table{place}.step-000004.csv"}
    assert not list(run.glob("forebay/insitu/fields.look/*"))  # parts


def test_on_any_number_of_nodes_what_needs_no_order_is_the_same(tmp_path):
    found = []
    for ranks, nodes in ((1, 1), (3, 3)):
        folder = tmp_path / str(nodes)
        mpi(ranks, HERE / "saver.py", write_config(folder, SCRIPT, nodes=nodes), folder / "run", 2)
        found.append({step: {name: value for name, value in one.items() if name not in ("nodes", "sum", "rows")}
                      for step, one in results(folder / "run").items()})
    same(*found)


def test_numbers_of_several_nodes_need_a_reduce(tmp_path):
    script = """
@every(1, variables=["theta"])
def alone(snapshot):
    return {"a": 1}
"""
    config = write_config(tmp_path, SCRIPT, nodes=2)
    mpi(2, HERE / "saver.py", config, tmp_path / "run", 2)
    path = tmp_path / "alone.py"
    path.write_text(scripted.HEAD + script)
    done = insitu(path, f"{tmp_path}/run/fields", "--python", sys.executable, "--json", code=1)
    told = json.loads(done.stdout)
    assert [(one["step"], one["made"]) for one in told] == [(1, []), (2, [])]
    assert told[0]["problems"] == ["analysis 'alone': function 'alone' returned numbers on each of 2 nodes: combine them with "
                                   "reduce=, or take all nodes at once with gather="]


def test_functions_of_one_name_are_two(tmp_path):
    config = write_config(tmp_path, """
def make(name, how, key):
    @every(variables=[name], reduce=lambda a, b: {key: how([a[key], b[key]])})
    def look(snapshot):
        with open(f"{snapshot.directory}/{key}.txt", "w") as file:
            file.write(key)
        return {key: how(snapshot[name].array)}
    return look
lowest, most = make("theta", np.min, "low"), make("gas/id", np.max, "id")
""", nodes=2)
    mpi(2, HERE / "saver.py", config, tmp_path / "run", 2)
    there = results(tmp_path / "run")
    assert sorted(there) == [1, 2] and sorted(there[1]) == ["id", "low"] and there[1]["id"] == 899
    insitu(tmp_path / "look.py", f"{tmp_path}/run/fields@1-2", "--python", sys.executable, "--to", tmp_path / "to", "--pictures",
           tmp_path / "pictures")
    same(there, results(tmp_path / "to"))
    assert len(digests(tmp_path / "pictures")) == 8


FILES = """
PNG = b"\\x89PNG\\r\\n\\x1a\\n"
def leave(snapshot, *names):
    for name in names:
        os.makedirs(os.path.dirname(f"{snapshot.directory}/{name}"), exist_ok=True)
        with open(f"{snapshot.directory}/{name}", "w") as file:
            file.write(name)
@every(variables=["theta"])
def one(snapshot):
    leave(snapshot, "table.csv", "x/y.csv", "x-y.csv", "chart.png")
    return {"chart": PNG, "a": 1}
@every(variables=["theta"])
def two(snapshot):
    leave(snapshot, "table.csv", "y.csv")
    os.symlink("y.csv", snapshot.directory + "/link.csv")
    os.symlink(".", snapshot.directory + "/.seen")
    return {"chart": PNG + b"2", "b": 1}
"""
LOST = ["function 'one' made the file 'x/y.csv', and function 'one' the file 'x-y.csv': both have the same file name, and the first is kept",
        "function 'one' made the picture 'chart', and function 'one' the file 'chart.png': both have",
        "function 'one' made the picture 'chart', and function 'two' the picture 'chart': both have",
        "function 'one' made the file 'table.csv', and function 'two' the file 'table.csv': both have",
        "function 'two' left 'link.csv', a symbolic link: it is left out"]


def test_files_that_go_to_one_place_are_told_and_links_left_out(tmp_path):
    saves = scripted.Saves(tmp_path, write_config(tmp_path, FILES))
    saves.save(1)
    told, counters = saves.close()
    done = insitu(tmp_path / "look.py", f"{saves.run}/fields", "--python", sys.executable, "--to", tmp_path / "to", "--pictures",
                  tmp_path / "pictures", code=1)
    (packed,) = saves.run.glob("packed-*")
    subprocess.run(["forebay", "extract", packed, "-C", tmp_path / "packed"], env=ENVIRONMENT, check=True)
    assert [told.count(line) for line in LOST] == [1] * 5 == [done.stdout.count(line) for line in LOST], told + done.stdout
    assert counters.scripts_missed == 0 and sorted(results(saves.run)[1]) == sorted(results(tmp_path / "to")[1]) == ["a", "b"]
    kept = {path.name[len("fields.look."):]: path.read_bytes() for path in (tmp_path / "pictures").iterdir()}
    assert kept == {"table.step-000001.csv": b"table.csv", "x-y.step-000001.csv": b"x/y.csv", "y.step-000001.csv": b"y.csv",
                    "chart.step-000001.png": b"\x89PNG\r\n\x1a\n"}
    assert digests(tmp_path / "packed") == digests(tmp_path / "pictures")


def test_two_scripts_with_a_function_of_one_name_have_their_directories(tmp_path):
    script = """
@every(variables=["theta"])
def look(snapshot):
    with open(snapshot.directory + "/table.csv", "w") as file:
        file.write("one")
    return {"a": 1}
"""
    more = f'[streams.fields.insitu.second]\nkind = "script"\nscript = "{tmp_path}/look.py"\npython = "{sys.executable}"\n'
    saves = scripted.Saves(tmp_path, write_config(tmp_path, script, more=more))
    saves.save(1)
    told, counters = saves.close()
    assert counters.scripts_missed == 0 and list(results(saves.run, "fields.second")) == [1], told


@pytest.fixture(name="run", scope="module")
def make_run(tmp_path_factory):
    """A run of one node, whose script has looked at it."""
    folder = tmp_path_factory.mktemp("one")
    mpi(1, HERE / "saver.py", write_config(folder, SCRIPT), folder / "run", 2)
    return folder / "run"


def test_what_is_made_is_passed_over_unless_again(run, tmp_path):
    words = [run.parent / "look.py", f"{run}/fields@1-2", "--python", sys.executable, "--to", tmp_path / "to"]
    assert "1 result" in insitu(*words).stdout
    assert insitu(*words).stdout == "".join(f"fields@{step}  exists already; --again makes it again\n" for step in (1, 2))
    assert "1 result" in insitu(*words, "--again").stdout
    assert insitu(*words, "--name", "other").stdout.count("1 result") == 2
    assert sorted(path.name for path in (tmp_path / "to").glob("fields.*")) == ["fields.look", "fields.other"]


def test_a_configuration_with_both_kinds_makes_both(run, tmp_path):
    config = pathlib.Path(run.parent / "forebay.toml")
    more = '[streams.fields.insitu.means]\nkind = "statistics"\nvariables = ["theta"]\n'
    both = tmp_path / "both.toml"
    both.write_text(config.read_text() + more)
    done = insitu(both, f"{run}/fields@all", "--to", tmp_path / "to")
    assert sorted(path.name for path in (tmp_path / "to").glob("fields.*")) == ["fields.look", "fields.means"], done.stdout
    same(results(run), results(tmp_path / "to"))


@pytest.mark.parametrize("script, code, said", [
    ("os._exit(3)", 2, "its script has ended its process, with exit code 3"),
    ("x = 1", 2, "has no function with @every(...)"), ("def (", 2, "SyntaxError"), ("@every(7, variables=['theta'])\ndef f(s): pass", 2, "applies to any of these steps"),
    ("@every(1, variables=['theta'])\ndef f(s): 1 / 0", 1, "analysis 'bad': ZeroDivisionError: division by zero")])
def test_a_script_that_fails_afterwards_is_told(run, tmp_path, script, code, said):
    path = tmp_path / "bad.py"
    path.write_text(scripted.HEAD + script + "\n")
    done = insitu(path, run, "--python", sys.executable, "--to", tmp_path / "to", code=code)
    assert said in done.stdout + done.stderr


def test_what_is_damaged_at_the_target_is_not_shown_to_a_script(run, tmp_path):
    shutil.copytree(run, tmp_path / "run")
    (file,) = (tmp_path / "run/fields/step-000002").glob("node-*.h5")
    data = bytearray(file.read_bytes())
    data[data.index(np.arange(900).tobytes()) + 80] ^= 1
    file.write_bytes(data)
    done = insitu(run.parent / "look.py", f"{tmp_path}/run/fields@1-2", "--python", sys.executable, "--to", tmp_path / "to", code=1)
    assert "variable \"gas/id\" of rank 0" in done.stdout and "differs from the saved data" in done.stdout, done.stdout
    assert sorted(results(tmp_path / "to")) == [1]


def test_what_is_printed_afterwards_has_its_step_in_front(run, tmp_path):
    path = tmp_path / "say.py"
    path.write_text(scripted.HEAD + "@every(2, variables=['dt'])\ndef f(s): print('dt is', s['dt'].array)\n")
    done = insitu(path, run, "--python", sys.executable, "--to", tmp_path / "to")
    assert done.stderr == "step 2 fields.say: dt is 0.25\n" and done.stdout == "fields@2  0 results, 0 pictures\n"


def test_a_figure_is_closed_and_becomes_a_png(run, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "draw.py"
    path.write_text("""
import matplotlib.pyplot as plt
from forebay.insitu import every

@every(variables=["theta"])
def heat(snapshot):
    assert not plt.get_fignums()
    figure, axes = plt.subplots()
    axes.imshow(snapshot["theta"].array)
    return {"map": figure, "mean": snapshot["theta"].array.mean()}
""")
    insitu(path, run, "--python", sys.executable, "--to", tmp_path / "to", "--pictures", tmp_path / "pictures", "--jobs", 1)
    import PIL.Image  # pylint: disable=import-outside-toplevel
    drawn = sorted((tmp_path / "pictures").glob("*"))
    assert [one.name for one in drawn] == [f"fields.draw.map.step-00000{step}.png" for step in (1, 2)]
    assert PIL.Image.open(io.BytesIO(drawn[0].read_bytes())).size == (640, 480)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
