"""Draws the data of `forebay plot`: charts by matplotlib in a file, charts and planes in a terminal.

`forebay plot` starts this file and sends it one JSON object. It needs nothing of the package, and matplotlib only
for files. Null stands for a number that is not finite: it leaves a gap.
"""

import itertools
import json
import math
import os
import sys

LINES_MAX, MARKS_MAX, OTHERS_MAX = 12, 60, 12  # lines that can be told apart; marks of a line; names below a picture
INK = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#3c3c3c")  # Okabe and Ito, without yellow
LETTERS = "abcdefghijklmnop"
SHADES, PLAIN_SHADES = " ░▒▓█", " .:-=+*#%@"
COLUMNS_MIN, COLUMNS_MAX, ROWS, ROWS_OF_SEVERAL = 30, 200, 15, 9
USAGE, TROUBLE, UNSUPPORTED = 2, 5, 6  # exit codes of the program


class Refused(Exception):
    """An error: the reason, and the next step."""


class Panel:
    """Lines over one axis: (label, x, y, has_marks) each."""

    def __init__(self, unit, label="", log=False):
        self.unit, self.label, self.log, self.lines = unit, label, log, []

    def title(self):
        alone = f"{self.lines[0][0]}   " if not self.label and len(self.lines) == 1 else self.label
        return alone + (f"[{self.unit}]" if self.unit else "")


class Chart:
    def __init__(self, title, x_label, log_x, is_ordered):
        self.title, self.x_label, self.log_x, self.is_ordered, self.panels = title, x_label, log_x, is_ordered, []

    def panel(self, unit, is_alone=False, **options):
        """The panel with that unit, or a new panel."""
        found = next((panel for panel in self.panels if panel.unit == unit and not is_alone), None)
        if found is None:
            found = Panel(unit, **options)
            self.panels.append(found)
        return found

    def check(self, panels_max, advice):
        if len(self.panels) > panels_max:
            raise Refused(f"{len(self.panels)} panels are too many for one picture: the limit is {panels_max}", advice)
        for panel in self.panels:
            if len(panel.lines) > LINES_MAX:
                raise Refused(f"{len(panel.lines)} lines are too many for one chart: the limit is {LINES_MAX}", advice)
            for _, x, y, _ in panel.lines:
                if not any(itertools.starmap(self.shows(panel), zip(x, y))):
                    why = "above 0 to draw" if panel.log or self.log_x else "that is finite"
                    raise Refused(f"'{panel.title().strip()}' has no value {why}", "")

    def shows(self, panel):
        """True if a point has a place on both axes."""
        def has_place(value, log):
            return value is not None and (not log or value > 0)
        return lambda x, y: has_place(x, self.log_x) and has_place(y, panel.log)


def moment(point):
    return f"step {point['step']}   t = {point['time']:.6g}"


def series_chart(data):
    """Numbers over steps or time, with a panel for each unit."""
    steps = [point["step"] for result in data["results"] for point in result["points"]]
    first, last = min(steps), max(steps)
    title = f"{data['stream']}   " + (f"step {first}" if first == last else f"steps {first} to {last}")
    over = "time" if data["over_time"] else "step"
    chart = Chart(title, over, bool(data["log_x"]), False)
    for result in data["results"]:
        # Numbers of an application without units are not comparable: a time step, and a number of blocks.
        panel = chart.panel(result["unit"], not result["unit"] and not data["of_analysis"], log=bool(data["log"]))
        points = result["points"]
        panel.lines.append((result["name"], [point[over] for point in points], [point["values"][0] for point in points], True))
    chart.check(data["panels_max"], "choose some, as in '*/mean'")
    return chart


def has_equal_ratios(edges):
    """True for bins with equal ratios, as a logarithmic analysis makes them."""
    if len(edges) < 4 or edges[0] <= 0:
        return False
    first, last = edges[1] / edges[0], edges[-1] / edges[-2]
    return first > 1 and abs(first - last) < 1e-6 * first


def line_of(result, point):
    """(x, y, has_marks): sizes by rank from the largest on, bins as stairs, or each value."""
    values, along = point["values"], point["along"]
    if result["sizes"]:
        sizes = sorted((value for value in values if value is not None), reverse=True)
        return sizes, list(range(1, len(sizes) + 1)), True
    if len(along) == len(values) + 1:
        return [x for pair in zip(along, along[1:]) for x in pair], [y for value in values for y in (value, value)], False
    return along if len(along) == len(values) else list(range(len(values))), values, True


def lines_chart(data):
    """Lists, with a line for each result and step."""
    results = data["results"]
    first = results[0]
    steps = {point["step"] for result in results for point in result["points"]}
    is_one_step = len(steps) == 1 and all(len(result["points"]) == 1 for result in results)
    log_x = first["log"] or has_equal_ratios(first["points"][0]["along"]) if data["log_x"] is None else data["log_x"]
    axis = [result["words"] if result["sizes"] else result["axis"] for result in results]
    title = data["stream"] + (f"   {moment(first['points'][0])}" if is_one_step else "")
    chart = Chart(title, axis[0], log_x, len(results) == 1)
    for result, words in zip(results, axis):
        if words != axis[0]:
            raise Refused(f"'{first['name']}' and '{result['name']}' have different axes, {axis[0]} and {words}",
                          "draw one of them")
        label = "how many are as large or larger" if result["sizes"] else f"{result['name']}   " if len(results) == 1 else ""
        panel = chart.panel("" if result["sizes"] else result["unit"], label=label,
                            log=result["log"] if data["log"] is None else data["log"])
        for point in result["points"]:
            step = f"step {point['step']}"
            words = step if len(results) == 1 else result["name"] if is_one_step else f"{result['name']} {step}"
            panel.lines.append((words, *line_of(result, point)))
    chart.check(data["panels_max"], "choose some steps, as in RUN/STREAM@0,100,200")
    return chart


def colours_of(count, is_ordered):
    """Colours for lines. For lines in an order, such as steps: a colour map without its bright end."""
    if count <= len(INK) and (not is_ordered or count == 1):
        return INK[:count]
    import matplotlib  # pylint: disable=import-outside-toplevel
    return [matplotlib.colormaps["inferno"](0.85 * place / max(count - 1, 1)) for place in range(count)]


def draw_file(chart, pixels, to):
    """Draws a PNG to `to`, a path or a file."""
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    matplotlib.rcParams["text.parse_math"] = False  # names are texts, never formulas
    from matplotlib.figure import Figure  # pylint: disable=import-outside-toplevel
    panels, dots = len(chart.panels), max(80, pixels // 10)
    height = panels * {1: 5 / 9, 2: 5 / 15}.get(panels, 5 / 22) + 0.08
    figure = Figure(figsize=(pixels / dots, pixels * height / dots), dpi=dots, layout="constrained")
    figure.suptitle(chart.title)
    for axes, panel in zip(figure.subplots(panels, 1, sharex=True, squeeze=False)[:, 0], chart.panels):
        if chart.log_x:
            axes.set_xscale("log", nonpositive="mask")
        if panel.log:
            axes.set_yscale("log", nonpositive="mask")
        for (label, x, y, has_marks), colour in zip(panel.lines, colours_of(len(panel.lines), chart.is_ordered)):
            gaps = [[math.nan if value is None else value for value in values] for values in (x, y)]
            axes.plot(*gaps, color=colour, marker="o" if has_marks and len(x) <= MARKS_MAX else "", markersize=3, linewidth=1.3)
        axes.set_title(panel.title(), loc="left", fontsize="medium")
        axes.grid(alpha=0.3)
        if len(panel.lines) > 1:
            axes.legend(axes.get_lines(), [line[0] for line in panel.lines], loc="upper left", bbox_to_anchor=(1, 1),
                        fontsize="small", frameon=False)
    axes.set_xlabel(chart.x_label)
    figure.savefig(to, format="png", metadata={"Software": "Forebay"})


class Axis:
    """Maps values to places along a side, 0 to 1."""

    def __init__(self, values, log):
        self.log, values = log, list(values)
        low, high = min(values), max(values)
        if high - low <= 1e-12 * max(abs(low), abs(high)):  # a difference this small is rounding
            low, high = (low / 2, high * 2) if log else (low - (abs(low) / 2 or 1), high + (abs(high) / 2 or 1))
        self.low, self.high = low, high

    def share(self, value):
        scale = math.log if self.log else float
        return (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))

    def label(self, share):
        if self.log:
            return f"{math.exp(math.log(self.low) + share * (math.log(self.high) - math.log(self.low))):.4g}"
        return f"{self.low + share * (self.high - self.low):.4g}"


class Grid:
    """A grid of characters: Braille with 2 x 4 dots each, or a letter each."""

    BITS = ((1, 8), (2, 16), (4, 32), (64, 128))

    def __init__(self, columns, rows, has_dots):
        self.columns, self.rows, self.has_dots, self.cells = columns, rows, has_dots, {}
        self.width, self.height = (2 * columns, 4 * rows) if has_dots else (columns, rows)

    def put(self, x, y, letter):
        if self.has_dots:
            place = (x // 2, y // 4)
            self.cells[place] = self.cells.get(place, 0) | self.BITS[y % 4][x % 2]
        else:
            self.cells[x, y] = letter

    def link(self, begin, end, letter):
        steps = max(abs(end[0] - begin[0]), abs(end[1] - begin[1]), 1)
        for i in range(steps + 1):
            self.put(*(round(a + (b - a) * i / steps) for a, b in zip(begin, end)), letter)

    def row(self, y):
        shown = (self.cells.get((x, y)) for x in range(self.columns))
        return "".join(" " if cell is None else chr(0x2800 + cell) if self.has_dots else cell for cell in shown)


def below(labels, left, columns):
    """The labels of a horizontal axis: at its ends and in its middle."""
    first, middle, last = labels
    room = columns - len(first) - len(last)
    between = middle.center(room) if room > len(middle) + 2 else " " * room
    return " " * left + first + between + last


def chart_text(chart, width, plain):
    """The chart as lines for a terminal."""
    rows = ROWS if len(chart.panels) == 1 else ROWS_OF_SEVERAL
    places = {panel: [pair for line in panel.lines for pair in zip(line[1], line[2]) if chart.shows(panel)(*pair)]
              for panel in chart.panels}
    x_axis = Axis((x for points in places.values() for x, _ in points), chart.log_x)
    y_axes = {panel: Axis((y for _, y in points), panel.log) for panel, points in places.items()}
    shares = {rows - 1: 0.0, rows // 2: 0.5, 0: 1.0}  # by row
    left = 1 + max(len(axis.label(share)) for axis in y_axes.values() for share in shares.values())
    columns = max(COLUMNS_MIN, min(width, COLUMNS_MAX)) - left - 3
    side, corner, floor = ("|", "+", "-") if plain else ("│", "└", "─")
    yield chart.title
    for panel, y_axis in y_axes.items():
        is_one = len(panel.lines) == 1
        grid = Grid(columns, rows, is_one and not plain)
        for letter, (_, xs, ys, _) in zip("*" if is_one else LETTERS, panel.lines):
            before = None
            for x, y in zip(xs, ys):
                place = None
                if chart.shows(panel)(x, y):
                    place = round(x_axis.share(x) * (grid.width - 1)), round((1 - y_axis.share(y)) * (grid.height - 1))
                    grid.link(before or place, place, letter)
                before = place
        yield from ("", " " * left + panel.title())
        for row in range(rows):
            number = y_axis.label(shares[row]) if row in shares else ""
            yield number.rjust(left) + side + grid.row(row)
        yield " " * left + corner + floor * columns
        if not is_one:
            yield from (f"{' ' * left} {letter}  {line[0]}" for letter, line in zip(LETTERS, panel.lines))
    yield below([x_axis.label(share) for share in (0, 0.5, 1)], left + 1, columns)
    yield " " * (left + 1) + chart.x_label.center(columns)


def plane_text(plane, plain, has_colours):
    """The plane as lines for a terminal: shades, or two cells a character in their colours."""
    columns, cells, palette = plane["columns"], plane["cells"], plane["palette"]
    rows = [cells[begin:begin + columns] for begin in range(0, len(cells), columns)][::-1]  # the first row is at the bottom
    x_labels, y_labels = ([f"{low + share * (high - low):.4g}" for share in (0, 0.5, 1)] for low, high in (plane["x"], plane["y"]))
    left = 1 + max(map(len, y_labels))
    side, corner, floor = ("|", "+", "-") if plain else ("│", "└", "─")
    shades = PLAIN_SHADES if plain else SHADES
    numbers = {0: y_labels[2], len(rows) // 4: y_labels[1], len(rows) // 2 - 1: y_labels[0]}
    yield from (plane["title"], "", " " * left + plane["y_label"])
    for row, (upper, lower) in enumerate(zip(rows[::2], rows[1::2])):
        if has_colours:
            def colour(step):
                return "168;172;176" if step < 0 else palette[step]
            text = "".join(f"\x1b[38;2;{colour(a)};48;2;{colour(b)}m▀" for a, b in zip(upper, lower)) + "\x1b[0m"
        else:
            steps = (max(pair) for pair in zip(upper, lower))
            text = "".join("?" if step < 0 else shades[step * len(shades) // len(palette)] for step in steps)
        yield numbers.get(row, "").rjust(left) + side + text
    yield " " * left + corner + floor * columns
    yield below(x_labels, left + 1, columns)
    yield " " * (left + 1) + plane["x_label"].center(columns)
    yield from ("", f"{plane['label']}: {plane['low']:.4g} to {plane['high']:.4g}" + (", by the logarithm" if plane["log"] else ""))


def in_ascii(text):
    return "".join(letter if letter.isascii() else "?" for letter in text)


def write_file(chart, data):
    """Writes the whole file, or leaves the old file."""
    path, temporary = data["to"], data["temporary"]
    try:
        with open(temporary, "xb") as file:
            draw_file(chart, data["pixels"], file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    if not data["quiet"]:
        print(f"{path}  {os.path.getsize(path)} bytes")


def draw(data):
    if data["kind"] == "plane":
        lines = plane_text(data, data["plain"], data["colours"])
    else:
        chart = series_chart(data) if data["kind"] == "series" else lines_chart(data)
        if data["to"] == "-":
            draw_file(chart, data["pixels"], sys.stdout.buffer)
            return
        lines = () if data["to"] else chart_text(chart, data["width"], data["plain"])
        if data["to"]:
            write_file(chart, data)
    for line in lines:
        print((in_ascii(line) if data["plain"] else line).rstrip(" "))
    if others := data["others"]:
        print(f"\nAlso there: {', '.join(others[:OTHERS_MAX])}"
              + (f", and {len(others) - OTHERS_MAX} more" if len(others) > OTHERS_MAX else ""))


def complain(data, what, following=""):
    """Prints an error for people. `forebay watch` reads the first line and lays it out itself."""
    if data["to"] == "-":
        print(what, file=sys.stderr)
    else:
        print(f"forebay: {what}." + (f"\n  Next: {following}" if following else ""), file=sys.stderr)


def main():
    """Reads the JSON object from standard input. Returns the program's exit code."""
    sys.stdout.reconfigure(encoding="utf-8")
    data = json.loads(sys.stdin.readline())
    try:
        draw(data)
        sys.stdout.flush()
    except Refused as refused:
        complain(data, *refused.args)
        return USAGE
    except ImportError as error:
        complain(data, f"{sys.executable} has no matplotlib to draw charts in files ({error})",
                 "pip install matplotlib, or give a Python with matplotlib: --python PATH. --csv prints the numbers")
        return UNSUPPORTED
    except OSError as error:
        complain(data, f"the chart cannot be written: {error}", "choose another name, or free some room")
        return TROUBLE
    return 0


if __name__ == "__main__":
    sys.exit(main())
