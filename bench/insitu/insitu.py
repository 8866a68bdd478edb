#!/usr/bin/env python3
"""What analyses cost: CPU seconds of one thread of the default diagnostics (statistics, histogram, slice and projection with
pictures, downsample) of a field of 64 MB, verified, against numpy and matplotlib; of a power spectrum of 256^3 against FFTW's
transform alone; and of groups of friends among particles against scipy's trees. All in turns; what is not installed is left
out by name."""

import argparse
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("FOREBAY", os.environ.get("FOREBAY_AGENT", ROOT / "build/bin/forebay"))).resolve()
ALLOWED_SECONDS = 0.15  # of the default diagnostics


def ours(given):
    done = subprocess.run([PROGRAM.with_name("insitu_bench"), str(given.edge), str(given.particles), "1"],
                          stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"insitu_bench ended with exit code {done.returncode}")
    return {name: values[0] for name, values in json.loads(done.stdout).items()}


def cpu_seconds_of(work):
    begun = time.process_time()
    work()
    return time.process_time() - begun


def peers_of(given):
    """Name and a function that does the work once, of those whose libraries are here."""
    import numpy

    field = numpy.random.default_rng(1).normal(280, 15, (given.edge,) * 3).astype("f4")
    peers = {}

    def diagnostics():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        field.min(), field.max(), field.mean(dtype="f8"), field.var(dtype="f8"), numpy.isnan(field).sum()
        numpy.histogram(field, 256)
        k = given.edge // 4
        field.reshape(k, 4, k, 4, k, 4).mean((1, 3, 5))
        for plane in (field[given.edge // 2], field.sum(0, dtype="f8")):
            figure = Figure((10.24, 10.24), 100)
            FigureCanvasAgg(figure)
            axes = figure.subplots()
            figure.colorbar(axes.imshow(plane), ax=axes)
            figure.savefig(open(os.devnull, "wb"), format="png")

    if importlib.util.find_spec("matplotlib"):
        peers["numpy_matplotlib"] = diagnostics
    else:
        print("no matplotlib: diagnostics are compared with nobody's", file=sys.stderr)

    def friends():
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components
        from scipy.spatial import cKDTree

        random = numpy.random.default_rng(2)
        centres = numpy.repeat(random.random((given.particles // 1000 + 1, 3)), 1000, 0)[: given.particles]
        clumped = numpy.arange(given.particles)[:, None] % 2 == 1
        places = numpy.where(clumped, centres + random.normal(0, 0.0008, (given.particles, 3)), random.random((given.particles, 3))) % 1
        begun = time.process_time()
        pairs = cKDTree(places, boxsize=1).query_pairs(0.2 / given.particles ** (1 / 3), output_type="ndarray")
        edges = coo_matrix((numpy.ones(len(pairs), "i1"), pairs.T), shape=(given.particles,) * 2)
        connected_components(edges, directed=False)
        return time.process_time() - begun

    if importlib.util.find_spec("scipy"):
        peers["scipy"] = friends
    else:
        print("no scipy: groups of friends are compared with nobody's", file=sys.stderr)
    return peers


def spread(values):
    quartiles = statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    return {"median": statistics.median(values), "lower_quartile": quartiles[0], "upper_quartile": quartiles[2]}


def ratio(over, under, goal):
    """Of each round, and the median of those."""
    found = spread([one / other for one, other in zip(over, under)])
    return {"value": found["median"], "lower_quartile": found["lower_quartile"], "upper_quartile": found["upper_quartile"], "goal": goal}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edge", type=int, default=256, help="of the field, in elements; a multiple of 4")
    parser.add_argument("--particles", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    peers, samples = peers_of(given), {}
    for _ in range(given.rounds):
        for name, seconds in ours(given).items():
            samples.setdefault(name, []).append(seconds)
        for name, work in peers.items():
            seconds = work() if name == "scipy" else cpu_seconds_of(work)
            samples.setdefault(name, []).append(seconds)
    megabytes = given.edge**3 * 4 / 2**20
    ratios = {
        f"{ALLOWED_SECONDS} s for 64 MB / default diagnostics": ratio([ALLOWED_SECONDS * megabytes / 64] * given.rounds, samples["diagnostics"], 1.0),
        "FFTW alone / power spectrum": ratio(samples["fftw"], samples["spectrum"], round(1 / 1.2, 3)),
    }
    if "numpy_matplotlib" in samples:
        ratios["numpy and matplotlib / default diagnostics"] = ratio(samples["numpy_matplotlib"], samples["diagnostics"], 1.0)
    if "scipy" in samples:
        ratios["scipy / groups of friends"] = ratio(samples["scipy"], samples["friends"], 2.5)
    found = {"bench": "insitu", "edge": given.edge, "particles": given.particles, "ratios": ratios,
             "measured": {key: {"unit": "s", **spread(values)} for key, values in samples.items()}}
    if given.json:
        print(json.dumps(found))
        return
    print(f"{given.edge}^3 f32, {given.particles} particles; CPU seconds, medians of {given.rounds} rounds (quartiles)")
    for key, one in found["measured"].items():
        print(f"{key:24} {one['median']:8.3f} s ({one['lower_quartile']:.3f}-{one['upper_quartile']:.3f})")
    for key, one in ratios.items():
        print(f"{key:55} {one['value']:.3f} ({one['lower_quartile']:.3f}-{one['upper_quartile']:.3f})  goal {one['goal']}")


main()
