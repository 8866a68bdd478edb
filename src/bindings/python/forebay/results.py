"""Replicated variables of many snapshots, such as results of analyses, over their steps. Values are read from the
node files without a view, and verified. Needs xarray, but no MPI."""

import fnmatch
import json

import numpy as np

from ._forebay import MissingError, RefusedError, error_text, read_values

class _Step:
    """The replicated variables of a snapshot that match patterns, by name. With `places` also their wave numbers."""

    def __init__(self, path, patterns, places):
        manifest = (path / "manifest.json").read_text(encoding="utf-8")
        head = json.loads(manifest)
        self.path, self.step, self.time = path, head["step"], float(head["time"])
        variables = head["schema"]["variables"]
        names = {one["name"] for one in variables if one["kind"] == "replicated" and _is_chosen(one["name"], patterns)}
        if places:
            names |= {_places_of(name) for name in names}
        self.found = {one["name"]: one | {"index": index, "shape": tuple(one.get("shape", ())), "dtype": _dtype(one["type"])}
                      for index, one in enumerate(variables) if one["kind"] == "replicated" and one["name"] in names}

    def values(self, names):
        """{name: array} of the names that the snapshot has."""
        there = [name for name in names if name in self.found]
        read = read_values(str(self.path), [self.found[name]["index"] for name in there])
        return {name: np.frombuffer(data, self.found[name]["dtype"]).reshape(self.found[name]["shape"])
                for name, data in zip(there, read)}


def _places_of(name):
    """The name of the wave numbers of a spectrum. `name` is a part of the spectrum."""
    return name.rpartition("/")[0] + "/k"


def _is_chosen(name, patterns):
    return not patterns or any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _dtype(name):
    """f64 -> <f8, string[16] -> S16"""
    return np.dtype("S" + name[7:-1] if name.startswith("string[") else f"<{name[0]}{int(name[1:]) // 8}")


def _steps(stream, patterns, wanted, places=False):
    """The existing steps of `wanted`, in rising order. Skips a step that is removed meanwhile."""
    steps = stream.steps
    if isinstance(wanted, slice):
        low, high = wanted.start, wanted.stop
        steps = [step for step in steps if (low is None or step >= low) and (high is None or step <= high)][::wanted.step]
    elif wanted is not None:
        missing = sorted(set(wanted) - set(steps))
        if missing:
            raise MissingError(error_text(f"stream {stream.path} has no committed snapshot of step {missing[0]}",
                                          next=f"forebay ls {stream.path.parent}"))
        steps = sorted(wanted)
    found = []
    for step in steps:
        try:
            found.append(_Step(stream.path / f"step-{step:06d}", patterns, places))
        except FileNotFoundError:
            continue
    if not any(step.found for step in found):
        raise MissingError(error_text(
            f"stream {stream.path} has no replicated variable {' or '.join(patterns) or 'at all'} in these steps",
            next=f"forebay show {stream.path}"))
    return found


def _lazy(steps, name, shape, dtype):
    """An array over steps and `shape` that reads a step when it is used. NaN for a step without the variable."""
    from xarray.backends import BackendArray  # pylint: disable=import-outside-toplevel
    from xarray.core import indexing  # pylint: disable=import-outside-toplevel

    dtype = dtype if all(name in step.found for step in steps) else _with_gaps(dtype)

    def one_of(index):
        read = steps[index].values([name])
        return np.asarray(read[name], dtype) if name in read else np.full(shape, np.nan if dtype.kind in "fc" else b"", dtype)

    class OverSteps(BackendArray):
        def __init__(self):
            self.shape, self.dtype = (len(steps), *shape), dtype

        def __getitem__(self, key):
            return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

        def _read(self, key):
            at, inside = np.arange(len(steps))[key[0]], tuple(key[1:])
            if at.ndim == 0:
                return one_of(at)[inside]
            values = [one_of(i)[inside] for i in at]
            return np.stack(values) if values else np.empty((0, *shape), dtype)[(slice(None), *inside)]

    return indexing.LazilyIndexedArray(OverSteps())


def _attributes(variable):
    words = {"units": variable.get("unit", ""), "description": variable.get("description", "")}
    return {key: text for key, text in words.items() if text}


def _sort(steps):
    """(scalars, arrays of one shape, lists): {name: its description at the newest step that has it}."""
    scalars, arrays, lists = {}, {}, {}
    names = {name: variable for step in steps for name, variable in step.found.items()}
    for name, variable in names.items():
        shapes = {(step.found[name]["shape"], step.found[name]["dtype"]) for step in steps if name in step.found}
        if not any(shape for shape, _ in shapes):
            scalars[name] = variable
        else:
            (arrays if len(shapes) == 1 else lists)[name] = variable
    return scalars, arrays, lists


def _with_gaps(dtype):
    """The type, or a float type with NaN if it is a type of numbers."""
    return np.result_type(dtype, "f8") if dtype.kind in "iuf" else dtype


def _column(values, dtype):
    """One scalar a step. None for a step without it, unless the type has NaN."""
    if any(value is None for value in values):
        dtype = _with_gaps(dtype) if dtype.kind in "iuf" else object
        values = [np.nan if value is None else value for value in values]
    return np.array(values, dtype)


def series(stream, patterns, wanted):
    """See StreamOfRun.series."""
    import xarray  # pylint: disable=import-outside-toplevel
    steps = _steps(stream, patterns, wanted, places=True)
    scalars, arrays, lists = _sort(steps)
    # Wave numbers are a coordinate for the variables beside them, if all steps have the same.
    at_once = [*scalars, *(name for name in arrays
                           if name == _places_of(name) and all(name in step.found for step in steps))]
    rows, read = [], []
    for step in steps:
        try:
            rows.append(step.values(at_once))
            read.append(step)
        except MissingError:
            if step.path.exists():
                raise
    data = {name: ("step", _column([row[name][()] if name in row else None for row in rows], variable["dtype"]),
                   _attributes(variable)) for name, variable in scalars.items()}
    places = {name: variable for name, variable in arrays.items()
              if name in at_once and all(np.array_equal(row[name], rows[0][name]) for row in rows)}
    coordinates = {"step": [step.step for step in read], "time": ("step", [step.time for step in read])}
    for name, variable in places.items():
        coordinates[name] = ((name,), rows[0][name], _attributes(variable))
    for name, variable in arrays.items():
        if name in places:
            continue
        group, shape = _places_of(name), variable["shape"]
        dims = [group] if group in places and shape == places[group]["shape"] else [f"{name}_{i}" for i in range(len(shape))]
        data[name] = xarray.Variable(("step", *dims), _lazy(read, name, shape, variable["dtype"]), _attributes(variable))
    # A variable of that name must not replace the coordinate.
    data = {f"{stream.path.name}.{name}" if name in ("step", "time") else name: values for name, values in data.items()}
    return xarray.Dataset(data, coordinates, {"lists": sorted(lists)} if lists else {})


def table(stream, patterns, wanted):
    """See StreamOfRun.table."""
    import pandas  # pylint: disable=import-outside-toplevel
    steps = _steps(stream, patterns, wanted)
    _, arrays, lists = _sort(steps)
    names = [*(arrays | lists)]
    if not names:
        raise MissingError(error_text(f"stream {stream.path} has only scalars: use series()"))
    parts = []
    for step in steps:
        values = step.values(names)
        if not values:
            continue
        lengths = {len(value): name for name, value in values.items() if value.ndim}
        if len(lengths) > 1:
            one, other = list(lengths.values())[:2]
            raise RefusedError(error_text(
                f"'{one}' and '{other}' have {len(values[one])} and {len(values[other])} elements at step {step.step}: "
                "they are not columns of one table", next="choose columns of one table"))
        rows, = lengths
        columns = {"step": np.full(rows, step.step), "time": np.full(rows, step.time)}
        for name, value in values.items():
            flat = value.reshape(rows, -1)
            columns |= {name: value} if value.ndim == 1 else {f"{name}.{i}": flat[:, i] for i in range(flat.shape[1])}
        parts.append(pandas.DataFrame(columns))
    return pandas.concat(parts, ignore_index=True)
