"""Draws the pictures of a report with matplotlib: report_png.py DATA.json PICTURE.png TITLE. `forebay report --png`
starts it. It prints one line: "drawn", "missing" without matplotlib, or the error."""

import json
import sys


def unit_of(most, units):
    """(name, size) of the largest unit that is at most `most`."""
    return next(((name, size) for name, size in units if most >= size), units[-1])


RATES = (("TB/s", 1e6), ("GB/s", 1e3), ("MB/s", 1), ("kB/s", 1e-3))  # of MB/s
TIMES = (("h", 3600), ("min", 60), ("s", 1), ("ms", 1e-3))


def draw_rate(axes, rate):
    values, width = rate["values"], rate["width"]
    name, size = unit_of(max(*values, rate["peak"]), RATES)
    time_name, time_size = unit_of(len(values) * width / 2, TIMES)
    edges = [number * width / time_size for number in range(len(values) + 1)]
    axes.stairs([value / size for value in values], edges, fill=True, alpha=0.5)
    axes.axhline(rate["peak"] / size, linestyle="--", color="grey", label="fastest drain of a snapshot")
    axes.plot([save / time_size for save in rate["saves"]], [0] * len(rate["saves"]), "|", color="C1", markersize=12,
              label="saves")
    axes.set(title="Rate over time", xlabel=f"time since the run began ({time_name})", ylabel=f"rate ({name})")
    axes.legend(loc="upper right", fontsize="small")


def draw_saves(axes, rows):
    places = range(len(rows))
    most = max(max(row[2], row[3], row[4]) for row in rows)
    name, size = unit_of(most / 2, TIMES)
    axes.bar(places, [row[3] / size for row in rows], color="C0", label="drain")
    axes.bar(places, [row[2] / size for row in rows], color="C1", width=0.4, label="visible")
    known = [(place, row[4] / size) for place, row in zip(places, rows) if row[4]]
    axes.plot([place for place, _ in known], [interval for _, interval in known], "_", color="grey",
              label="since the save before")
    some = list(places)[::max(len(rows) // 10, 1)]
    axes.set_xticks(some, [str(rows[place][1]) for place in some])
    axes.set(title="Saves and drains", xlabel="step", ylabel=f"time of the slowest node ({name})")
    axes.legend(fontsize="small")


def draw_slow(axes, rows, at, of):
    name, size = unit_of(max(row[at] for row in rows), RATES)
    axes.bar(range(len(rows)), [row[at] / size for row in rows], color=["C3" if row[-1] else "C0" for row in rows])
    some = range(0, len(rows), max(len(rows) // 8, 1))
    axes.set_xticks(list(some), [rows[place][0] for place in some], rotation=30, ha="right", fontsize="small")
    axes.set(title=f"{of} (red: slow)", ylabel=f"rate ({name})")


def draw_heat(figure, axes, heat):
    name, size = unit_of(heat["seconds"] / 2, TIMES)
    levels = [[int(level) if level != "0" else float("nan") for level in row] for _, row in heat["rows"]]
    end = heat["seconds"] / size
    image = axes.imshow(levels, aspect="auto", interpolation="nearest", extent=(0, end, len(levels), 0), vmin=0, vmax=7)
    some = range(0, len(levels), max(len(levels) // 12, 1))
    axes.set_yticks([place + 0.5 for place in some], [heat["rows"][place][0] for place in some], fontsize="small")
    axes.set(title=f"Who wrote when: step {heat['step']}", xlabel=f"time since the first write ({name})")
    rate_name, rate_size = unit_of(heat["most"], RATES)
    bar = figure.colorbar(image, ax=axes, ticks=[0, 7])
    bar.set_ticklabels(["0", f"{heat['most'] / rate_size:.3g} {rate_name}"])


def main():
    try:
        import matplotlib
    except ImportError:
        return "missing"
    matplotlib.use("Agg")
    # Names are texts, never formulas.
    matplotlib.rcParams["text.parse_math"] = False
    from matplotlib.figure import Figure
    source, picture, title = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        data = json.load(file)
    figure = Figure(figsize=(14, 9), layout="constrained")
    figure.suptitle(title)
    places = iter(figure.subplots(2, 2).flat)
    targets = [[row[0], row[3], row[5]] for row in data["targets"]["rows"] if row[0]]
    nodes = [[row[0], row[1], row[6]] for row in data["nodes"]["rows"]]
    if data["rate"]:
        draw_rate(next(places), data["rate"])
    if data["snapshots"]["rows"]:
        draw_saves(next(places), data["snapshots"]["rows"])
    if targets or nodes:
        draw_slow(next(places), targets or nodes, 1, "Storage targets" if targets else "Nodes")
    if data["heat"]:
        draw_heat(figure, next(places), data["heat"])
    for unused in places:
        unused.set_axis_off()
    figure.savefig(picture, format="png", dpi=100)
    return "drawn"


try:
    said = main()
except Exception as wrong:  # told by the program, in its own words
    said = f"{type(wrong).__name__}: {wrong}"
print(said.replace("\n", " ")[:2000], flush=True)
