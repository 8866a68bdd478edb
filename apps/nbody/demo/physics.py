"""Compares two runs, and checks the view of a snapshot. Needs scripts/bootstrap's Python."""

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
    """The distance of two dumps and of their reports, as fractions of the measured values."""
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
    """Returns (step, is every id there once, has every column the dump's bits, mean density)."""
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
    """Draws the density summed along z, in units of its mean."""
    projected = density.mean("z", dtype="f8")
    figure, axes = plt.subplots(figsize=(7.2, 6), dpi=130)
    image = axes.imshow(np.log10(projected.values.T), origin="lower", cmap="inferno", extent=(0, box, 0, box),
                        interpolation="bicubic")
    axes.set(title=title, xlabel="x  (Mpc/h)", ylabel="y  (Mpc/h)")
    figure.colorbar(image, label="log10 of projected density / mean")
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def linear_power(k, a, sigma_8=0.8, index=0.96, shape=0.25):
    """The power of nbody's initial field (apps/nbody/spectrum.cpp) at scale factor a: (Mpc/h)^3, for k in h/Mpc."""
    def bent(wave):
        q = wave / shape
        bend = 1 + 3.89 * q + (16.1 * q) ** 2 + (5.46 * q) ** 3 + (6.71 * q) ** 4
        return wave**index * (np.log1p(2.34 * q) / (2.34 * q)) ** 2 / np.sqrt(bend)

    ln_k = np.linspace(np.log(1e-4), np.log(20), 4001)
    waves = np.exp((ln_k[1:] + ln_k[:-1]) / 2)
    kr = 8 * waves
    window = 3 * (np.sin(kr) - kr * np.cos(kr)) / kr**3
    variance = np.sum((ln_k[1] - ln_k[0]) * waves**3 * bent(waves) * window**2) / (2 * np.pi**2)
    return a**2 * sigma_8**2 / variance * bent(k)


def cloud_window(k, cell):
    """The factor by which a cloud-in-cell mesh weakens the power at k, for waves along its diagonals."""
    return np.sinc(k * cell / (2 * np.pi * np.sqrt(3))) ** 12


def draw_spectra(spectra, cell, path):
    """Draws spectra: [(step, a, k, power)], each beside linear theory at its a."""
    figure, axes = plt.subplots(figsize=(7.2, 6), dpi=130)
    colours = plt.cm.viridis(np.linspace(0, 0.85, len(spectra)))
    for (step, a, k, power), colour in zip(spectra, colours, strict=True):
        k, power = k[k < np.pi / cell], power[k < np.pi / cell]  # a mesh knows no shorter waves in all directions
        axes.loglog(k, power / cloud_window(k, cell), "o", color=colour, markersize=3, label=f"step {step}, a = {a:.3f}")
        axes.loglog(k, linear_power(k, a), "-", color=colour, linewidth=1)
    axes.set(title="Power spectrum: found in situ (dots), linear theory (lines)", xlabel="k  (h/Mpc)",
             ylabel="P(k)  (Mpc/h)$^3$")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def series_in_csv(text):
    """{step: value} of one scalar, from the output of `forebay plot --csv`."""
    lines = [line.split(",") for line in text.splitlines()[1:]]
    return {int(line[0]): float(line[2]) for line in lines}
