"""Committed snapshots of a run, read through their views. Needs h5py and xarray, but no MPI."""

import html
import json
import pathlib
import re
import shutil
import subprocess

from . import results
from ._forebay import MissingError, UnsupportedError, error_text

_STEP = re.compile(r"step-(\d{6,})")


def _html_table(caption, header, rows):
    """A table for notebooks; every cell is escaped."""
    def line(tag, cells):
        return "<tr>" + "".join(f"<{tag} style='text-align:left'>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
    return (f"<table><caption style='text-align:left'>{html.escape(caption)}</caption>"
            f"<thead>{line('th', header)}</thead><tbody>{''.join(line('td', row) for row in rows)}</tbody></table>")


def _counted(number, noun):
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _sized(count):
    """12.3 MB: decimal units, as the program shows them."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 1000 or unit == "TB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1000


def open(run):  # pylint: disable=redefined-builtin
    """The run in a directory: a mapping from the names of its streams to StreamOfRun."""
    return Run(run)


class Run:
    """A run's directory, a mapping from names to streams. Each call looks at the directory again."""

    def __init__(self, directory):
        self.path = pathlib.Path(directory)
        if not self.path.is_dir():
            raise MissingError(error_text(f"there is no run {directory}: no such directory."))

    def __iter__(self):
        return iter(sorted(path.name for path in self.path.iterdir()
                           if path.is_dir() and not path.name.startswith(".") and StreamOfRun(path)))

    def __len__(self):
        return len(list(iter(self)))

    def __contains__(self, name):
        return name in list(iter(self))

    def __getitem__(self, name):
        if name not in self:
            raise MissingError(error_text(
                f"run {self.path} has no stream '{name}'. It has: {', '.join(self) or 'none'}."))
        return StreamOfRun(self.path / name)

    def __repr__(self):
        lines = [f"<forebay.Run {str(self.path)!r}>"]
        for name in self:
            stream = self[name]
            lines.append(f"  {name}: {len(stream)} snapshots, steps {', '.join(map(str, stream.steps[-8:]))}")
        return "\n".join(lines)

    def _repr_html_(self):
        newest = {name: self[name].newest for name in self}
        return _html_table(f"forebay.Run {self.path}", ("stream", "snapshots", "newest step", "time", "size"),
                           [(name, len(self[name]), last.step, f"{last.time:g}", _sized(last.nbytes))
                            for name, last in newest.items()])


class StreamOfRun:
    """The committed snapshots of a stream, in order of their steps. at(step) returns the snapshot of a step."""

    def __init__(self, path):
        self.path = path

    @property
    def steps(self):
        """The steps in rising order."""
        found = (_STEP.fullmatch(path.name) for path in self.path.iterdir())
        return sorted(int(match.group(1)) for match in found if match and (self.path / match.group(0)).is_dir())

    def at(self, step):
        """The snapshot of a step."""
        if step not in self.steps:
            raise MissingError(error_text(
                f"stream {self.path} has no committed snapshot of step {step}", next=f"forebay ls {self.path.parent}"))
        return Snapshot(self.path / f"step-{step:06d}")

    @property
    def newest(self):
        """The snapshot with the largest step, even if it is marked: see its `marks`."""
        return self[-1]

    @property
    def newest_good(self):
        """The unmarked snapshot with the largest step. A restart takes this snapshot."""
        for step in reversed(self.steps):
            if not (snapshot := self.at(step)).marks:
                return snapshot
        raise MissingError(error_text(f"stream {self.path} has no committed snapshot that is not marked",
                                      next=f"forebay ls {self.path.parent}"))

    def series(self, *patterns, steps=None):
        """Replicated variables, such as results of analyses, as an xarray.Dataset over step, with time beside it.

        - patterns: names, which may have `*`. Without patterns: all variables.
        - steps: a list of steps, or a slice with both ends included.

        A spectrum has its wave numbers as a coordinate. Scalars are read at once. Arrays are read when you use them,
        one step after the other. A step without a number has NaN. Lists of varying length are left out; their names
        are in attrs["lists"]: use table(). A variable "time" of the stream "state" is called "state.time", beside
        the coordinate.
        """
        return results.series(self, patterns, steps)

    def table(self, *patterns, steps=None):
        """Lists of varying length, such as halos, as one pandas.DataFrame: a row for each element, with its step and
        time. Elements with several numbers have a column for each number: NAME.0 and so on."""
        return results.table(self, patterns, steps)

    def __len__(self):
        return len(self.steps)

    def __getitem__(self, index):
        return self.at(self.steps[index])

    def __repr__(self):
        return f"<forebay.StreamOfRun {self.path.name!r}: steps {', '.join(map(str, self.steps))}>"

    def _repr_html_(self):
        return _html_table(f"forebay.StreamOfRun {self.path}", ("step", "time", "ranks", "nodes", "size"),
                           [(one.step, f"{one.time:g}", one.ranks, one.nodes, _sized(one.nbytes)) for one in self])


class Snapshot:
    """A committed snapshot."""

    def __init__(self, path):
        self.path = path
        manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
        self.step = manifest["step"]
        self.time = float(manifest["time"])
        self.ranks = manifest["world_ranks"]
        self._schema, self._marks = manifest["schema"], manifest.get("marks", [])
        self.nodes = len(manifest["nodes"])
        self.nbytes = sum(node["bytes"] for node in manifest["nodes"])  # of its node files
        self._rows = [sum(node["rows"][table] for node in manifest["nodes"] if node["rows"])
                      for table in range(len(self._schema["tables"]))]

    @property
    def marks(self):
        """The reasons not to trust it, as dicts of analysis, condition, result and value. [] means a good snapshot.
        A mark by a person has only its text, as condition."""
        # Marks beside the manifest may not be in it yet: docs/formats/manifest.md.
        beside = [json.loads(file.read_text(encoding="utf-8")) for file in sorted((self.path / ".marks").glob("[!.]*.json"))]
        keys = ("analysis", "condition", "result", "value")
        marks = [{key: one.get(key) for key in keys} for one in [*self._marks, *beside]]
        return [one for index, one in enumerate(marks) if one not in marks[:index]]

    @property
    def view(self):
        """The path of its view, which shows global arrays. Makes the view if there is none."""
        view = self.path.with_name(self.path.name + ".h5")
        if not view.exists():
            beside = pathlib.Path(__file__).parent / "bin" / "forebay"
            program = str(beside) if beside.exists() else shutil.which("forebay")
            if program is None:
                raise UnsupportedError(error_text(
                    f"{self.path} has no view, and forebay, which makes views, is not in PATH."))
            done = subprocess.run([program, "view", str(self.path)], capture_output=True, text=True, check=False)
            if done.returncode:
                raise UnsupportedError(error_text(f"no view of {self.path}: {done.stderr.strip().partition(': ')[2]}"))
        return view

    @property
    def variables(self):
        """The names of all variables. A column of a table is TABLE/COLUMN."""
        return [variable["name"] for variable in self._schema["variables"]]

    def dataset(self, group=None, **options):
        """The variables of a group ("fields" of "fields/u") as an xarray.Dataset. Data are read when you use them.
        `options` are those of xarray.open_dataset."""
        import xarray  # pylint: disable=import-outside-toplevel
        return xarray.open_dataset(self.view, group=group, engine=options.pop("engine", "h5netcdf"), **options)

    def particles(self, table, columns=None):
        """The columns of a table, of all ranks, as {name: numpy array}. pandas.DataFrame(...) takes it as it is."""
        import h5py  # pylint: disable=import-outside-toplevel
        with h5py.File(self.view) as file:
            if table not in file:
                raise MissingError(error_text(f"the snapshot of step {self.step} has no table '{table}'."))
            group = file[table]
            own = [name.rsplit("/", 1)[1] for name in self.variables if name.rsplit("/", 1)[0] == table]
            return {column: group[column][...] for column in columns or own}

    def _repr_html_(self):
        rows = []
        for one in self._schema["variables"]:
            table = one.get("table")
            shape = one.get("shape", []) if table is None else [self._rows[table]]
            extents = zip(one.get("dimensions") or [""] * len(shape), shape)
            rows.append((one["name"], one["type"], one["kind"],
                         " × ".join(f"{name} {extent:,}".strip() for name, extent in extents),
                         one.get("unit", ""), one.get("description", "")))
        return _html_table(f"forebay.Snapshot of step {self.step}, time {self.time:g}: {_sized(self.nbytes)} of "
                           f"{_counted(self.ranks, 'rank')} on {_counted(self.nodes, 'node')}",
                           ("variable", "type", "kind", "shape", "unit", "description"), rows)

    def __repr__(self):
        return f"<forebay.Snapshot of step {self.step}, time {self.time:g}, {_counted(len(self.variables), 'variable')}>"
