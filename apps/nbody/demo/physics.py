"""Whether two runs are the same universe, and what the view of a snapshot shows of it. Needs scripts/bootstrap's Python."""

import json

import h5py
import matplotlib
import numpy as np
import xarray

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of a backend without a screen)

COLUMNS = ["x", "y", "z", "vx", "vy", "vz", "phi"]


def read_report(path):
    return json.loads(path.read_text())


def read_dump(path):
    return np.fromfile(path, dtype="<f4").reshape(-1, len(COLUMNS))


def differing_entries(one, other):
    return [key for key in one if one[key] != other[key]]


def rounding(one, other, mesh):
    """How far two dumps and their reports are apart, as fractions of what they measure."""
    (report_one, dump_one), (report_other, dump_other) = one, other
    apart = dump_one[:, :3].astype("f8") - dump_other[:, :3]
    apart -= mesh * np.round(apart / mesh)  # through the periodic wall
    distance = np.sqrt((apart**2).sum(axis=1))
    speed = dump_one[:, 3:6].astype("f8")
    speed_apart = speed - dump_other[:, 3:6]
    power = np.array(report_one["power"])
    return {
        "particles apart, rms, in cells": np.sqrt((distance**2).mean()),
        "particles apart, largest, in cells": distance.max(),
        "speeds apart, rms, of the rms speed": np.sqrt((speed_apart**2).sum() / (speed**2).sum()),
        "power spectrum, largest relative difference": np.abs(np.array(report_other["power"]) / power - 1).max(),
        "kinetic energy, relative difference": abs(report_other["kinetic"] / report_one["kinetic"] - 1),
        "mass, relative difference": abs(report_other["mass"] / report_one["mass"] - 1),
    }


def view_in_h5py(path, dump):
    """(step, whether ids are all there once, whether every column has the dump's bits, mean density)."""
    with h5py.File(path) as view:
        order = np.argsort(view["particles/id"][:])
        ids_whole = np.array_equal(view["particles/id"][:][order], np.arange(len(dump)))
        same = all(
            np.array_equal(view["particles/" + name][:][order].view("u4"), dump[:, i].copy().view("u4"))
            for i, name in enumerate(COLUMNS)
        )
        return int(view["state/step"][()]), ids_whole, same, float(view["fields/density"][:].mean(dtype="f8"))


def density_in_xarray(path):
    with xarray.open_dataset(path, group="fields", engine="h5netcdf") as fields:
        return fields["density"].load()


def draw(density, box, title, path):
    """The density summed along z, in units of its mean."""
    projected = density.mean("z", dtype="f8")
    figure, axes = plt.subplots(figsize=(7.2, 6), dpi=130)
    image = axes.imshow(np.log10(projected.values.T), origin="lower", cmap="inferno", extent=(0, box, 0, box),
                        interpolation="bicubic")
    axes.set(title=title, xlabel="x  (Mpc/h)", ylabel="y  (Mpc/h)")
    figure.colorbar(image, label="log10 of projected density / mean")
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)
