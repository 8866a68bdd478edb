#!/usr/bin/env python3
"""One shared file of particles (the VPIC-IO kernel: 8 columns of 4 bytes, counts of the ranks up to 15 % apart): what the
application waits for, and when it is on the disk. bench/run starts it:

    bench/shared/shared.py [--folder DIR] [--ranks 4] [--rows 8388608] [--rounds 5] [--turns 3] [--json]

A round runs every way once, each in a program of its own with --turns saves; its medians are one sample. Every program also
measures memcpy of the same bytes in the same turns.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("FOREBAY", os.environ.get("FOREBAY_AGENT", str(ROOT / "build/bin/forebay"))))
BENCH = PROGRAM.with_name("shared_bench")
WAYS = {
    "file_per_process": "a file a process, write(2)",
    "mpi_io": "one file, MPI-IO, collective",
    "hdf5": "one file, parallel HDF5, collective",
    "node_files": "Forebay, node files",
    "shared": "Forebay, shared file, agent a process",
    "dedicated": "Forebay, shared file, dedicated core",
}
# No view, no second slot: nothing goes on that the others do not do.
STREAM = {"node_files": "keep = 1\nview = false\n", "shared": "keep = 1\nview = false\nfile = \"shared\"\n"}
STREAM["dedicated"] = STREAM["shared"]
ENVIRONMENT = os.environ | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none", "FOREBAY_AGENT": str(PROGRAM),
    # Of Open MPI's two, the one whose collective writing is the same in other MPIs.
    "OMPI_MCA_io": "romio321"}


def configuration(way, folder):
    agent = 'mode = "dedicated"' if way == "dedicated" else 'mode = "process"'
    path = folder / "forebay.toml"
    path.write_text(f'[agent]\n{agent}\n[streams.dump]\n{STREAM[way]}')
    return path


def run(way, given, folder):
    folder = pathlib.Path(tempfile.mkdtemp(dir=folder, prefix=way + "-"))
    target = folder / "target"
    target.mkdir()
    try:
        ranks = given.ranks + (way == "dedicated")
        words = ["mpiexec", "-n", ranks, BENCH, way, target, given.rows, given.turns]
        if way in STREAM:
            words.append(configuration(way, folder))
        done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True, check=False, env=ENVIRONMENT, timeout=900)
        if done.returncode:
            sys.exit(f"bench/shared: {way} ended with exit code {done.returncode}")
        return json.loads(done.stdout)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def spread(samples):
    quartiles = statistics.quantiles(samples, n=4, method="inclusive") if len(samples) > 1 else [samples[0]] * 3
    return {"median": statistics.median(samples), "lower_quartile": quartiles[0], "upper_quartile": quartiles[2]}


def ratio(above, below, goal):
    """Round by round: what one way took in the time of another."""
    found = spread([a / b for a, b in zip(above, below)])
    return {"value": found["median"], "lower_quartile": found["lower_quartile"], "upper_quartile": found["upper_quartile"], "goal": goal}


def ratios(samples):
    found = {}
    for way in ("shared", "dedicated"):
        found[f"{WAYS[way]}: memcpy / visible"] = ratio(samples[way]["memcpy"], samples[way]["visible"], round(1 / 1.1, 3))
        found[f"{WAYS[way]}: durable, a file a process / it"] = ratio(samples["file_per_process"]["durable"], samples[way]["durable"], 0.95)
        found[f"{WAYS[way]}: durable, node files / it"] = ratio(samples["node_files"]["durable"], samples[way]["durable"], 0.95)
        for other, goal in (("mpi_io", 1.0), ("hdf5", 1.3)):
            if other in samples:
                found[f"{WAYS[way]}: durable, {WAYS[other]} / it"] = ratio(samples[other]["durable"], samples[way]["durable"], goal)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default=os.environ.get("TMPDIR", "/var/tmp"), help="a directory of the disk to measure")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--rows", type=int, default=8 << 20, help="particles of the rank with most")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    samples, files, data = {}, {}, 0
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for turn in range(given.rounds):
            # The order changes, so that no way always follows the same one.
            for way in list(WAYS)[turn % len(WAYS):] + list(WAYS)[:turn % len(WAYS)]:
                if (one := run(way, given, folder)) is None:
                    continue
                files[way], data = one["files"], one["bytes"]
                for key in ("memcpy", "visible", "durable"):
                    samples.setdefault(way, {}).setdefault(key, []).append(statistics.median(one[key]))
    found = {"bench": "shared", "ranks": given.ranks, "bytes": data, "ratios": ratios(samples), "measured": {}}
    for way in samples:
        for key, values in samples[way].items():
            found["measured"][f"{way}_{key}"] = {"unit": "s", **spread(values)}
        found["measured"][f"{way}_files"] = {"unit": "files", **spread([files[way]])}
    if given.json:
        print(json.dumps(found))
        return
    print(f"{data / 1e6:.0f} MB of {given.ranks} ranks; medians of {given.rounds} rounds (quartiles)")
    for way in samples:
        visible, durable = (found["measured"][f"{way}_{key}"] for key in ("visible", "durable"))
        print(f"{WAYS[way]:40} visible {visible['median']:.3f} s ({visible['lower_quartile']:.3f}-{visible['upper_quartile']:.3f})  "
              f"durable {durable['median']:.3f} s ({durable['lower_quartile']:.3f}-{durable['upper_quartile']:.3f})  files {files[way]}")
    for key, one in found["ratios"].items():
        print(f"{key:75} {one['value']:.2f} ({one['lower_quartile']:.2f}-{one['upper_quartile']:.2f})  goal {one['goal']}")


main()
