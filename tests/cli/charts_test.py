"""Goal: a chart draws its lines at the right places. Impossible charts are refused, and the file stays unchanged.

Method: the tool of `forebay plot` with made numbers; matplotlib decodes the pictures.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("FOREBAY_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))

try:
    import matplotlib.image
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def chart(x, y, **options):
    points = [{"step": step, "time": step / 2, "values": [value], "along": []} for step, value in zip(x, y)]
    result = {"name": "u", "unit": "K", "words": "u [K]", "axis": "index", "sizes": False, "log": False, "points": points}
    return {"kind": "series", "stream": "run.numbers", "of_analysis": True, "over_time": False, "log_x": None, "log": None,
            "pixels": 1024, "panels_max": 6, "results": [result], "others": [], "plain": False, "colours": False, "width": 80,
            "quiet": False, "to": ""} | options


def draw(data, code=0, text=""):
    done = subprocess.run([sys.executable, ROOT / "src/bindings/python/forebay/charts.py"], input=json.dumps(data) + "\n", text=True,
                          capture_output=True, check=False)
    assert done.returncode == code and text in done.stderr, (done.returncode, done.stdout, done.stderr)
    return done.stdout


def blue(path):
    """(rows, columns) of the pixels in the blue of the first line or of its smooth edge."""
    pixels = (matplotlib.image.imread(path)[:, :, :3] * 255).round().astype(int)
    return np.nonzero(pixels[:, :, 2] - pixels[:, :, 0] > 60)


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-charts-") as scratch:
        to, temporary = pathlib.Path(scratch, "chart.png"), pathlib.Path(scratch, ".fb-chart")
        file = {"to": str(to), "temporary": str(temporary)}
        draw(chart((0, 10), (0, 5), **file))
        rows, columns = blue(to)
        assert columns.max() - columns.min() > 700 and rows.max() - rows.min() > 350
        share = (columns - columns.min()) / (columns.max() - columns.min())
        expected = rows.max() - share * (rows.max() - rows.min())
        assert abs(rows - expected).max() < 9, "a straight line from the lower left to the upper right"
        assert b"tEXtSoftware\0Forebay" in to.read_bytes()[:2048], "forebay plot knows it as its own"
        steps = [2 ** power for power in range(1, 11)]
        draw(chart(steps, [step ** 2 for step in steps], log=True, log_x=True, **file))
        rows, columns = blue(to)
        share = (columns - columns.min()) / (columns.max() - columns.min())
        assert abs(rows - rows.max() + share * (rows.max() - rows.min())).max() < 9, "a power is straight on logarithmic axes"
        draw(chart((0, 1, 2, 3), (1, 1, 1, 1), **file))
        whole = len(blue(to)[0])
        draw(chart((0, 1, 2, 3), (1, None, 1, 1), **file))
        assert whole / 5 < len(blue(to)[0]) < whole / 2, "what is not finite is a gap"
        before = to.read_bytes()
        draw(chart((0, 1), (None, None), **file), 2, "'u   [K]' has no value that is finite")
        draw(chart((1, 2), (-1, 0), log=True, **file), 2, "has no value above 0 to draw")
        many = chart((0, 1), (0, 1), **file)
        many["results"] *= 13
        draw(many, 2, "13 lines are too many for one chart: the limit is 12")
        draw(chart((0, 1), (0, 1), to=str(to), temporary=f"{scratch}/none/.fb-chart"), 5, "the chart cannot be written")
        assert to.read_bytes() == before and os.listdir(scratch) == ["chart.png"], "the file is as it was, and alone"
    text = draw(chart((0, 10), (0, 5))).splitlines()
    first, last = (line.rstrip().split("│")[1] for line in (text[3], text[17]))
    assert first.strip() and last.startswith(("⣀", "⡠", "⠤", "⢀", "⠔")) and len(first) > len(last), text
    level = [draw(chart((0, 1, 2, 3), values)) for values in ((1.25, 1.25 + 2e-16, 1.25, 1.25), (1.25,) * 4)]
    assert level[0] == level[1], "values that differ by their rounding are a level line"


if __name__ == "__main__":
    main()
