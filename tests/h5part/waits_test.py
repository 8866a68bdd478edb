"""Goal: closing waits for no disk, whoever opens the name waits for its file, and every kind of agent and cut of nodes gives
the same file.

Method: a drain that is slowed to seconds; close.c says when it has closed, and reads from another program meanwhile.
"""

import os
import pathlib
import subprocess

import clients
import h5py
import numpy
from forebay_test import expect

CONFIG = None


def configure(text):
    pathlib.Path(os.environ["FOREBAY_H5PART_CONFIG"]).write_text(CONFIG + text)


def slow(work):
    """About 70 kB a step at 20 kB/s."""
    path = work / "slow.h5part"
    configure("[agent]\nrate_bytes_per_second = 20000\n")
    writer = subprocess.Popen(clients.command(2, "h5part_close", "write", path), text=True, stdout=subprocess.PIPE)
    for line in writer.stdout:
        if line.startswith("closed"):
            break
    expect(not path.exists() and clients.run_of(path).exists(), "the file was there when it was closed")
    clients.run(3, "h5part_close", "read", path)  # another program, while the first waits in MPI_Finalize
    expect(writer.wait(600) == 0 and not clients.run_of(path).exists(), "the writer's end")
    configure("")


def longer_than_waits(work):
    """A drain that outlasts close_wait is waited for anew by the end of the program."""
    path = work / "longer.h5part"
    configure("close_wait_seconds = 2\n[agent]\nrate_bytes_per_second = 25000\n")
    clients.run(2, "h5part_close", "write", path, 3)
    configure("")
    clients.run(2, "h5part_close", "read", path)
    expect(not clients.run_of(path).exists(), "its run stays")


def left_open(work):
    path = work / "left.h5part"
    clients.run(2, "h5part_close", "leave", path)
    expect(path.exists() and not clients.run_of(path).exists(), "a file that was never closed is not there")
    clients.run(2, "h5part_close", "read", path)


def same_file(work):
    wanted = None
    for name, text in (("process", ""), ("thread", '[agent]\nmode = "thread"\n'), ("nodes", "virtual_nodes = 3\n"),
                       ("compressed", '[streams.steps]\ncompression = "zstd"\npolicy = "skip"\nkeep = 1\n')):
        configure(text) if name != "nodes" else pathlib.Path(os.environ["FOREBAY_H5PART_CONFIG"]).write_text(text + CONFIG)
        path = work / f"{name}.h5part"
        clients.run(5, "h5part_vpic", "write", path, 3)
        with h5py.File(path) as file:
            found = {f"{step}/{column}": data[...] for step, group in file.items() for column, data in group.items()}
        wanted = wanted or found
        expect(found.keys() == wanted.keys(), f"{name}: {found.keys()}")
        expect(all(numpy.array_equal(found[key], wanted[key]) for key in wanted), f"values by {name}")
    configure("")


def main():
    global CONFIG
    with clients.workplace() as work:
        CONFIG = pathlib.Path(os.environ["FOREBAY_H5PART_CONFIG"]).read_text()
        slow(work)
        longer_than_waits(work)
        left_open(work)
        same_file(work)
        configure("policy = 1\n")
        out = clients.run(2, "h5part_vpic", "write", work / "refused.h5part", 1, good=False)
        expect("'policy' is not known" in out and not clients.run_of(work / "refused.h5part").exists(), out)


main()
