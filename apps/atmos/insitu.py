"""The weather, looked at beside the simulation: how warm it is, and how the wind blows over the ground."""

import matplotlib.pyplot as plt
import numpy as np

from forebay.insitu import every


@every(1, stream="fields", variables=["theta"], reduce=lambda a, b: {"max": max(a["max"], b["max"]), "sum": a["sum"] + b["sum"]})
def warmth(snapshot):
    theta = snapshot["theta"].array
    return {"max": theta.max(), "sum": theta.sum(dtype="f8")}


@every(2, stream="fields", gather=["u", "v"])
def wind(snapshot):
    speed = np.hypot(snapshot["u"].array, snapshot["v"].array)
    figure, axes = plt.subplots()
    figure.colorbar(axes.imshow(speed[0]), label=snapshot["u"].unit)
    return {"profile": speed.mean(axis=(1, 2)), "ground": figure}
