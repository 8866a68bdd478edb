"""Goal: les solves its equations: air at rest stays at rest, vortices decay, travel and swing as in theory, heat and
tracer are conserved.

Method: short runs on small grids. Their printed numbers are compared with closed forms, and between numbers of ranks.
"""

import math
import sys
import tempfile
from pathlib import Path

from simulation import SMALL, Les, claim

POINTS, SPACING = 24, 50.0

def rest(folder):
    les = Les(folder, 2, 2, **SMALL, start="rest", wall="slip", coriolis=0.0, end_step=3,
              divergence_tolerance=1e-11).finish()
    speed = max(step["speed"] for step in les.steps().values())
    claim(len(les.steps()) == 3 and speed < 1e-6, f"air warmer or colder than the reference stays at rest: {speed:.1e} m/s")
    (iterations,) = {step["iterations"] > 0 for step in les.steps().values()}
    claim(iterations, "since the pressure holds it")


def ideal(folder, **parameters):
    """A run without friction at walls, rotation and eddy viscosity, in cubic cells, on 1 rank."""
    side = {"nx": POINTS, "ny": 8, "nz": 8, "dx": SPACING, "dy": SPACING, "dz": SPACING, "dt_max": 2.0}
    still = {"wall": "slip", "damped": False, "coriolis": 0.0, "smagorinsky": 0.0, "km_background": 0.0,
             "adaptive_dt": False, "u_geostrophic": 0.0, "v_geostrophic": 0.0, "perturbation": 1.0, "buoyant": False}
    return Les(folder, 1, 1, **side | still | parameters).finish()


def decay(folder):
    viscosity, steps = 50.0, 40
    last = ideal(folder, ny=POINTS, start="taylor-green", km_background=viscosity, end_step=steps).steps()[steps]
    # The wave number of differences over one cell.
    wave = 2 / SPACING * math.sin(math.pi / POINTS)
    expected = 0.25 * math.exp(-4 * viscosity * wave**2 * last["time"])
    apart = abs(last["energy"] / expected - 1)
    claim(expected < 0.17 and apart < 1e-4, f"vortices decay from 0.25 to {expected:.4f} m2/s2, within {apart:.1e}")


def travel(folder):
    """Wind carries vortices once around the cyclic model, back to their start. Without wind they stay there."""
    steps, wind = 60, POINTS * SPACING / 120
    for start, shape, seen, winds in ("taylor-green", {"ny": POINTS}, "u", "uv"), ("rolls", {"nz": POINTS}, "w", "u"):
        begun = ideal(folder, **shape, start=start, end_step=0).sums()[seen]
        still = ideal(folder, **shape, start=start, end_step=steps).sums()[seen]
        blowing = {f"{axis}_geostrophic": wind for axis in winds}
        blown = ideal(folder, **shape, **blowing, start=start, end_step=steps).sums()[seen]
        carrying = wind if seen in winds else 0.0
        blown = [blown[0] - carrying, blown[1] - carrying**2, blown[2] - carrying]
        for what, sums in ("stay without wind", still), ("are back after the way round", blown):
            apart = max(abs(mine - first) for mine, first in zip(sums, begun))
            claim(begun[1] > 0.2 and apart < 0.004, f"{start}: the vortices {what}: {apart:.1e} of 1 m/s")


def waves(folder):
    """If temperature rises with height, weak rolls swing: their energy goes into buoyancy and comes back."""
    gradient, steps = 0.003, 60
    ran = ideal(folder, nz=POINTS, start="rolls", end_step=steps, perturbation=0.01, buoyant=True, inversion_height=0.0,
                inversion_jump=0.0, theta_gradient=gradient, divergence_tolerance=1e-11)
    last = ran.steps()[steps]
    across, up = 2 / SPACING * math.sin(math.pi / POINTS), 2 / SPACING * math.sin(math.pi / (2 * POINTS))
    frequency = math.sqrt(9.81 / 300 * gradient) * across / math.hypot(across, up)
    begun = 0.5 * 0.01**2 * (0.25 + 1)
    expected = begun * math.cos(frequency * last["time"]) ** 2
    apart = abs(last["energy"] - expected) / begun
    claim(expected < 0.5 * begun and apart < 0.005,
          f"waves of gravity: {expected / begun:.3f} of the energy is motion, within {apart:.1e}")


def layer(folder):
    runs = [Les(folder, px, py, **SMALL, end_step=4, divergence_tolerance=1e-11).finish()
            for px, py in [(1, 1), (2, 2), (3, 1)]]
    for les in runs:
        divergence = max(step["divergence"] for step in les.steps().values())
        claim(len(les.steps()) == 4 and divergence < 1e-9, f"divergence after projection: {divergence:.1e} /s")
        for what, least in ("heat", 0.01), ("tracer", 1e-3):
            gained, given = les.gained(what)
            claim(given > least and abs(gained / given - 1) < 1e-7,
                  f"{what} gained {gained:.6g}, from the surface {given:.6g}")
    for les in runs[1:]:
        first = runs[0].sums()
        apart = max(abs(one - other) / (rms if mean else rms**2) for name, sums in first.items()
                    for rms in [math.sqrt(sums[1])] for one, other, mean in zip(les.sums()[name], sums, (True, False, True)))
        claim(apart < 1e-11, f"sums of all fields are those of 1 rank, to rounding: {apart:.1e}")


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-les-") as name:
        for case in rest, decay, travel, waves, layer:
            case(Path(name).resolve())


if __name__ == "__main__":
    sys.exit(main())
