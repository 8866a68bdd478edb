"""Goal: if any bit of a committed node file flips, `forebay verify` reports variable, rank and bytes, and a restart
takes the step before.

Method: flip random bits and put each back. The seed is printed; SEED repeats it. h5py knows nothing of our records and
maps bytes to variables.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"])
if not list((BUILD / "python/forebay").glob("_forebay.*so")):
    print("skipped: the Python package is not built (it needs nanobind in build/venv)")
    sys.exit(77)
sys.path.insert(0, str(BUILD / "python"))

import h5py  # pylint: disable=wrong-import-position
import numpy as np  # pylint: disable=wrong-import-position

import forebay  # pylint: disable=wrong-import-position

FLIPS, RESTARTS = 120, 12
STEPS = (3, 7)


def state(step):
    """The data of a step: more than a segment of 1 MiB, less than a segment, and a single value."""
    return {"u": np.arange(400_000.0) * step, "small": np.arange(100, dtype="i4") + step, "time": np.array(step / 2)}


def described(session, arrays):
    """A stream with all data described."""
    stream = session.stream("restart", keep=0)
    for name, data in arrays.items():
        if data.ndim:
            stream.array(name, data)
        else:
            stream.replicated(name, data)
    return stream


def restart(work):
    """The step that a new session restores completely. It must never be the damaged step."""
    arrays = state(0)
    with forebay.Session(work / "run", staging=work / "empty", config=work / "config.toml") as session:
        stream = described(session, arrays)
        found = stream.newest()
        while True:
            try:
                found.read()
                break
            except forebay.CorruptError:
                found = stream.older()
    for name, data in state(found.step).items():
        assert (arrays[name] == data).all(), name
    return found.step


def data_ranges(path):
    """{variable: (first byte, end)} of the file."""
    with h5py.File(path) as file:
        found = {}
        file.visititems(lambda name, item: found.update({name: (item.id.get_offset(), item.id.get_storage_size())})
                        if isinstance(item, h5py.Dataset) and not name.startswith("_forebay/") else None)
    return {name: (at, at + size) for name, (at, size) in found.items()}


def judge(work, node_file, position, ranges):
    """The part that verify reports for a flipped byte: 'data', 'head' or 'nothing'."""
    done = subprocess.run([BUILD / "bin/forebay", "verify", work / "run", "--json"], capture_output=True, text=True,
                          check=False)
    found = {one["step"]: one for one in json.loads(done.stdout)}
    assert found[STEPS[0]]["whole"] and not found[STEPS[0]]["damage"]
    owner = [name for name, (first, end) in ranges.items() if first <= position < end]
    damage = found[STEPS[1]]["damage"]
    if not damage:
        assert done.returncode == 0 and not owner, f"byte {position} of {owner} is damaged and verify says nothing"
        return "nothing"
    assert done.returncode == 1 and not found[STEPS[1]]["whole"] and damage[0]["file"].endswith(node_file.name)
    if owner:
        assert len(damage) == 1 and damage[0]["first_byte"] <= position <= damage[0]["last_byte"], damage
        assert damage[0]["last_byte"] - damage[0]["first_byte"] < 1 << 20, damage
        assert damage[0]["variable"] == owner[0] and damage[0]["rank"] == 0, damage
    return "data" if owner else "head"


def main():
    """Prints the number of flips of each kind."""
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    print("seed", seed, flush=True)
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for name in ("memory", "empty"):
            (work / name).mkdir()
        (work / "config.toml").write_text('[agent]\nmode = "thread"\n')
        with forebay.Session(work / "run", staging=work / "memory", config=work / "config.toml") as session:
            arrays = state(0)
            stream = described(session, arrays)
            for step in STEPS:
                for name, data in state(step).items():
                    arrays[name][...] = data
                stream.save(step)
        assert restart(work) == STEPS[1]
        node_file = work / f"run/restart/step-{STEPS[1]:06d}/node-00000.h5"
        content, ranges = node_file.read_bytes(), data_ranges(node_file)
        assert set(ranges) == {"u", "small", "time"}, ranges
        counts = {"data": 0, "head": 0, "nothing": 0}
        # Half of the flips hit any byte. The rest hits small parts: the head, small variables, bytes behind blocks.
        places = [chance.randrange(len(content)) for _ in range(FLIPS // 2)]
        places += [chance.randrange(min(first for first, _ in ranges.values()) + 8192) for _ in range(FLIPS // 2)]
        for number, position in enumerate(places):
            with open(node_file, "r+b") as file:
                file.seek(position)
                file.write(bytes([content[position] ^ 1 << chance.randrange(8)]))
            kind = judge(work, node_file, position, ranges)
            if number % (FLIPS // RESTARTS) == 0:
                step = restart(work)
                assert step == (STEPS[1] if kind == "nothing" else STEPS[0]), f"byte {position}, {kind}: step {step}"
            assert kind != "nothing" or position >= 4096, f"byte {position} of the HDF5 headers"
            counts[kind] += 1
            with open(node_file, "r+b") as file:
                file.seek(position)
                file.write(content[position:position + 1])
        assert counts["data"] and counts["head"], counts
        assert restart(work) == STEPS[1]
        print(", ".join(f"{count} in {kind}" for kind, count in counts.items()))


main()
