"""Goal: every way of palm_bench that this build has restores what it created, in both places, on even and uneven ranks.

Method: runs it small; it compares every value itself and ends with 1 when one differs. What it prints must name each
way's four times or say why it is left out, and what it wrote must be gone.
"""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"]) / "bin" / "palm_bench"
WAYS = ("forebay", "palm-calls", "stream", "mpi-io", "hdf5", "netcdf")


def run(ranks, *arguments):
    return subprocess.run(["mpiexec", "-n", str(ranks), str(PROGRAM), *arguments], capture_output=True, text=True, timeout=300)


def expect(wanted, what):
    if not wanted:
        sys.exit(f"palm_test: {what}")


def check_all_ways(ranks, repeats, ways, names, root):
    places = {name: root / name for name in names}
    for place in places.values():
        place.mkdir(exist_ok=True)
    done = run(ranks, "--size", "24", "--repeats", str(repeats), "--writers", ",".join(ways), "--json",
               *(word for name in ("tmpfs", "disk") for word in (f"--{name}", str(places.get(name, "none")))))
    expect(done.returncode == 0, f"{ranks} ranks: exit code {done.returncode}: {done.stderr}")
    found = json.loads(done.stdout)
    left_out = {line.split(":")[0] for line in found["left_out"]}
    expect(found["ranks"] == ranks and 20 << 20 < found["bytes"] < 26 << 20, f"settings {found['ranks']}, {found['bytes']}")
    for way in ways:
        for key in (f"{place}_{way}_{step}" for place in places for step in ("create", "durable", "warm", "cold")):
            expect((key in found["measured"]) != (way in left_out), f"{key} is neither measured nor left out")
            if way not in left_out:
                expect(len(found["measured"][key]["samples"]) == repeats, f"{key} has not a sample for each turn")
                expect(0 < found["measured"][key]["median"] < 60, f"{key}: median {found['measured'][key]['median']}")
        for place in places:
            if way not in left_out:
                expect(found["measured"][f"{place}_{way}_create"]["median"] <= found["measured"][f"{place}_{way}_durable"]["median"],
                       f"{place}, {way}: durable before it was created")
    check_arithmetic(found)
    expect(found["ratios"]["tmpfs_visible"]["goal"] == 4 and found["ratio"] == found["ratios"]["tmpfs_visible"]["value"],
           "the first ratio is that of visible times")
    for place in places.values():
        expect(not list(place.iterdir()), f"{place} is not empty")


def check_arithmetic(found):
    for key, one in found["measured"].items():
        low, high = min(one["samples"]), max(one["samples"])
        for place, name in ((0.25, "lower_quartile"), (0.5, "median"), (0.75, "upper_quartile")):
            expect(math.isclose(one[name], low + place * (high - low), rel_tol=1e-5), f"{key}: {name} {one[name]} of {one['samples']}")
    visible = found["ratios"]["tmpfs_visible"]["value"]
    wanted = found["measured"]["tmpfs_mpi-io_create"]["median"] / found["measured"]["tmpfs_forebay_create"]["median"]
    expect(math.isclose(visible, wanted, rel_tol=1e-5), f"tmpfs_visible is {visible}, not {wanted}")


def check_refusals(root):
    for arguments, text in ((["--size", "0"], "--size takes a number"), (["--wrong", "1"], "--wrong is not known"),
                            (["--writers", "netcfd"], "no writer netcfd"), (["--size", "5"], "--size is too small")):
        done = run(1, *arguments, "--tmpfs", "none", "--disk", str(root))
        expect(done.returncode != 0 and text in done.stderr, f"{arguments}: {done.returncode}, {done.stderr}")


with tempfile.TemporaryDirectory() as name:
    check_all_ways(4, 1, WAYS, ("tmpfs", "disk"), pathlib.Path(name))
    # One variable at a time, as palm-calls reads, takes seconds where ranks outnumber the cores.
    check_all_ways(3, 2, [way for way in WAYS if way not in ("palm-calls", "netcdf")], ("tmpfs",), pathlib.Path(name))
    check_refusals(pathlib.Path(name))
