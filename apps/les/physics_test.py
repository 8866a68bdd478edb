"""Goal: les solves its equations: rest stays rest, vortices decay as theory says, nothing is lost, on any ranks alike.

Method: short runs on small grids; what they print is held against closed forms and against one another.
"""

import math
import sys
import tempfile
from pathlib import Path

from simulation import SMALL, Les, claim


def rest(folder):
    les = Les(folder, 2, 2, **SMALL, start="rest", wall="slip", coriolis=0.0, end_step=5, divergence_tolerance=1e-11).finish()
    speed = max(step["speed"] for step in les.steps().values())
    claim(len(les.steps()) == 5 and speed < 1e-6, f"air of other temperatures than the reference's stays at rest: {speed:.1e} m/s")
    (iterations,) = {step["iterations"] > 0 for step in les.steps().values()}
    claim(iterations, "since the pressure holds it")


def taylor_green(folder):
    points, spacing, viscosity = 24, 50.0, 50.0
    les = Les(folder, 1, 2, nx=points, ny=points, nz=8, dx=spacing, dy=spacing, dz=spacing, start="taylor-green", wall="slip",
              buoyant=False, damped=False, coriolis=0.0, smagorinsky=0.0, km_background=viscosity, end_step=30).finish()
    last = les.steps()[30]
    # The wave number as differences over one cell see it.
    wave = 2 / spacing * math.sin(math.pi / points)
    expected = 0.25 * math.exp(-4 * viscosity * wave**2 * last["time"])
    apart = abs(last["energy"] / expected - 1)
    claim(expected < 0.16 and apart < 1e-4, f"Taylor and Green's vortices decay from 0.25 to {expected:.4f} m2/s2, within {apart:.1e}")


def layer(folder):
    runs = [Les(folder, px, py, **SMALL, end_step=6, divergence_tolerance=1e-11).finish() for px, py in [(1, 1), (2, 2), (3, 1)]]
    for les in runs:
        divergence = max(step["divergence"] for step in les.steps().values())
        claim(len(les.steps()) == 6 and divergence < 1e-9, f"divergence after projection: {divergence:.1e} /s")
        for what, least in ("heat", 0.05), ("tracer", 1e-3):
            gained, given = les.gained(what)
            claim(given > least and abs(gained / given - 1) < 1e-7, f"{what} gained {gained:.6g}, from the surface {given:.6g}")
    for les in runs[1:]:
        apart = max(abs(mine - first) / rms for name, (_, square, *_) in runs[0].sums().items() for rms in [math.sqrt(square)]
                    for mine, first in zip(les.sums()[name][::2], runs[0].sums()[name][::2]))
        claim(apart < 1e-11, f"sums of all fields are those of 1 rank, to rounding: {apart:.1e}")


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-les-") as name:
        for case in rest, taylor_green, layer:
            case(Path(name).resolve())


if __name__ == "__main__":
    sys.exit(main())
