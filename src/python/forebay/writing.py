"""Sessions, streams, restarts: what a simulation uses. Nothing is copied: numpy arrays are saved and read in place."""

import json
import numbers

import numpy as np

from . import _forebay
from ._forebay import RefusedError, error_text


def _type_of(data, name):
    """The element type's name: float64 -> "f64", S16 -> "string[16]"."""
    dtype = data.dtype
    if not dtype.isnative:
        raise RefusedError(error_text(f"variable '{name}': its byte order is not this machine's."))
    if dtype.kind == "S" and dtype.itemsize:
        return f"string[{dtype.itemsize}]"
    if dtype.kind not in "iufcb" or dtype.itemsize > 16 or (dtype.kind == "f" and dtype.itemsize > 8):
        raise RefusedError(error_text(
            f"variable '{name}': dtype {dtype} cannot be saved; integers, floats of 2 to 8 bytes, complex numbers, "
            "bool and bytes ('S16') can."))
    return f"{'u' if dtype.kind == 'b' else dtype.kind}{8 * dtype.itemsize}"


def _address(data):
    return data.__array_interface__["data"][0]


def _must_be_array(data, name):
    if not isinstance(data, np.ndarray):
        raise TypeError(f"variable '{name}' is a {type(data).__name__}; a numpy array is needed, which is saved and read "
                        "in place (for a single value np.array(value))")
    return data


def _must_be_value(data, name):
    if not _must_be_array(data, name).flags.c_contiguous:
        raise RefusedError(error_text(f"replicated variable '{name}' must be contiguous."))
    return data


def _first_of(data, name):
    """The first of the arrays of a variable, or the one that there is, and the type that all of them have."""
    parts = data if isinstance(data, (list, tuple)) and data else [data]
    kinds = [_type_of(_must_be_array(part, name), name) for part in parts]
    if len(set(kinds)) > 1:
        raise RefusedError(error_text(
            f"variable '{name}' has arrays of several types: {', '.join(sorted(set(kinds)))}."))
    return parts[0], kinds[0]


def _pairs(halo, dims):
    """1, (1, 0, 3) or ((1, 2), (0, 0), (3, 3)) as two lists: elements before and after the box along each dimension."""
    if np.isscalar(halo):
        halo = (halo,) * dims
    if len(halo) != dims:
        raise RefusedError(error_text(f"a halo for {len(halo)} dimensions, but there are {dims}."))
    both = [(width, width) if np.isscalar(width) else tuple(width) for width in halo]
    if any(width < 0 for pair in both for width in pair):
        raise RefusedError(error_text(f"the halo {halo} has a negative width."))
    return [before for before, _ in both], [after for _, after in both]


def _boxes(name, data, start, halo):
    """`data` and `start` of one box, or lists of as many."""
    if not isinstance(data, (list, tuple)):
        data, start = [data], [start]
    if len(data) != len(start):
        raise RefusedError(error_text(f"variable '{name}': {len(data)} arrays and {len(start)} positions."))
    boxes = []
    for part, begin in zip(data, start):
        _must_be_array(part, name)
        begin = (0,) * part.ndim if begin is None else tuple(begin)
        before, after = _pairs(halo, part.ndim)
        size = [extent - lo - hi for extent, lo, hi in zip(part.shape, before, after)]
        if len(begin) != part.ndim or any(position < 0 for position in begin):
            raise RefusedError(error_text(f"variable '{name}': start {begin} for an array of {part.ndim} dimensions."))
        if min(size, default=1) <= 0:
            continue  # nothing but halo: this rank owns nothing here
        inside = _address(part) + sum(lo * stride for lo, stride in zip(before, part.strides))
        boxes.append((list(begin), size, inside, list(part.strides), before, after))
    return boxes


def _toml(value):
    """A value as TOML: texts, numbers, lists, and tables as {"codec": "zfp", "error": 1e-3}."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_toml(str(key))} = {_toml(one)}' for key, one in value.items())}}}"
    raise TypeError(f"an option is text, a number, a list or a table, not {type(value).__name__}")


def _toml_of(options):
    return "".join(f"{key} = {_toml(value)}\n" for key, value in options.items())


def _mpi_door():
    try:
        from . import _forebay_mpi  # pylint: disable=import-outside-toplevel
    except ImportError as problem:
        raise _forebay.UnsupportedError(error_text(
            f"this installation cannot use communicators: it was built without MPI ({problem}).")) from problem
    return _forebay_mpi


def dedicate(world, config=None):
    """Splits agents off where `config` has agent.mode "dedicated": the last agent.cores ranks of each machine. The others
    get a communicator (of mpi4py) to use instead of `world`, also to open sessions. An agent stays in this call until the
    ranks of its machine have finalised MPI, and gets None: it has nothing left to do but to end. With agent.forwarders the
    ranks of the last so many hosts do the same, until all that compute have ended. Once a process. Collective."""
    computes, handle = _mpi_door().dedicate(world.py2f(), _forebay.options(None if config is None else str(config)))
    return type(world).f2py(handle) if computes else None


class Session:
    """One application's use of one run.

    run: the directory at the target, made if missing; the directory above it must exist, unless `config` says
    create_parents = true; "" takes the run from `config`, which names no other one. comm: an mpi4py communicator (it is
    duplicated), or None for this process alone. staging: a node-local directory, /dev/shm by default.
    config: a TOML file, see the guide; a rank that cannot read it is an error on every rank. log: a function of one line,
    called on rank 0. Opening and close() are collective.

    As a context manager it is closed at the end; after an exception it is only left, and agents finish what is staged.
    """

    def __init__(self, run="", comm=None, staging=None, config=None, log=None):
        options = _forebay.options(None if config is None else str(config))
        if str(run):
            options.run = str(run)
        if staging is not None:
            options.staging = str(staging)
        # The library holds what it calls, and the function may hold this session: close() parts them.
        calls = self._log_calls = [] if log is None else [log]
        options.set_log(None if log is None else lambda line: [call(line) for call in calls])
        self.run = options.run
        self.closed = False
        if comm is None:
            self._session = _forebay.open_alone(options)
        else:
            self._session = _mpi_door().open_mpi(comm.py2f(), options)

    def stream(self, name, **options):
        """The stream of that name. Without options those of `config` hold; with any, the defaults hold for the others.
        Options that differ between ranks, or from those of a stream that is open already, are refused, as are unknown
        ones. Collective."""
        if not options:
            return Stream(self._session.stream(name), name)
        return Stream(self._session.stream_with(name, _toml_of(options)), name)

    stream.__doc__ = (stream.__doc__ or "") + "\n\n" + "".join(f"        {key}: {meaning}; {values}; by default {default}\n"
                                       for key, values, default, meaning in _forebay.stream_options())

    @property
    def draining(self):
        """Whether this node's agent is draining now."""
        return self._session.draining

    @property
    def spool(self):
        """A directory of this node for small files of any program of the job; the agent packs them into few files of the
        run, `forebay extract` gives them back. Write under a name that begins with a dot, then rename. close() takes the
        directory away, but for what could not be packed, which it tells."""
        return self._session.spool

    def job(self, stop_wanted=False):
        """Whether to save (.save) or to save and end (.stop) now, .seconds_left of the job, and the .reason: because the job
        ends, somebody ran `forebay stop`, or any rank wants to. .condition is that of an analysis, found fulfilled, or a
        script's flag, '' without any, .value what fulfils it, .condition_step of which snapshot. Equal on all ranks; at the
        end of a step. Collective."""
        return self._session.job(bool(stop_wanted))

    def close(self):
        """Waits until all is committed, and reports what could not be. Collective."""
        self.closed = True
        try:
            self._session.close()
        finally:
            self._log_calls.clear()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None and not self.closed:
            self.close()

    def __repr__(self):
        return f"<forebay.Session of {self.run!r}{', closed' if self.closed else ''}>"


class Stream:
    """A named sequence of snapshots. Described arrays are kept alive by their stream."""

    def __init__(self, stream, name):
        self._stream = stream
        self._described = {}
        self._values = set()  # those of them that are replicated
        self._tables = []
        self.name = name

    def replicated(self, name, data, unit="", description="", first_rank=False):
        """A value that is equal on every rank, bit for bit, else a save is refused with the ranks and their values: a
        contiguous array, of no dimensions for a scalar. first_rank: ranks may differ, and rank 0's value is what a restart
        gives to all that describe it so. Local."""
        _must_be_value(data, name)
        self._stream.replicated(name, _type_of(data, name), list(data.shape), _address(data), unit, description, first_rank)
        self._described[name] = data
        self._values.add(name)

    def array(self, name, data, shape=None, start=None, halo=0, *, unit="", description="", dimensions=(),
              partial=False):
        """A global array of `shape`, of which this rank owns `data` without its halo, at position `start` (of the first
        owned element; 0 by default). data: an array of any strides, with its halo; or a list of such, with a list of
        starts; [] with a dtype of its own is written as np.empty((0, ...)). halo: elements around the owned ones, one
        width, one a dimension, or pairs (before, after); not saved, a restart fills those inside the global shape.
        shape: by default that of `data` without halo. partial: the boxes of all ranks need not fill the shape. Local."""
        first, kind = _first_of(data, name)
        if shape is None:
            before, after = _pairs(halo, first.ndim)
            shape = [extent - lo - hi for extent, lo, hi in zip(first.shape, before, after)]
        elif np.isscalar(shape):
            shape = [shape]
        self._stream.array(name, kind, list(shape), _boxes(name, data, start, halo), unit, description, list(dimensions),
                           partial)
        self._described[name] = data

    def rebind(self, name, data, start=None, halo=0):
        """Described data lie elsewhere now, or have other boxes; another type than described is refused, as is another
        shape of a replicated variable. Local."""
        if name in self._values:
            self._stream.rebind_value(name, _type_of(_must_be_value(data, name), name), list(data.shape), _address(data))
        else:
            _, kind = _first_of(data, name)
            self._stream.rebind_array(name, kind, _boxes(name, data, start, halo))
        self._described[name] = data

    def forget(self, name):
        """Takes an array or a replicated variable out of the description; on every rank alike. Local."""
        self._stream.forget(name)
        self._described.pop(name, None)
        self._values.discard(name)

    def particles(self, name, columns, units=None):
        """A table. columns: {"id": "i8", "x": "f8"}, or a structured dtype; units: {"x": "m"}. Local."""
        if isinstance(columns, np.dtype):
            columns = {field: columns[field] for field in columns.names}
        types = {column: np.dtype(kind) for column, kind in columns.items()}
        table = self._stream.particles(name, [(column, _type_of(np.empty(0, kind), f"{name}/{column}"),
                                               (units or {}).get(column, "")) for column, kind in types.items()])
        self._tables.append(Particles(table, name, types))
        return self._tables[-1]

    def prepare(self):
        """Lays out and faults in now what the first save would. Collective."""
        self._stream.prepare()

    def save(self, step, time=0.0):
        """Saves everything described; returns when all is copied, with a Saved. Collective."""
        return self._stream.save(step, time)

    def restore(self, bind=None):
        """Restores the newest snapshot that reads whole, in place, and gives its Restart; None if nothing is there: the
        simulation begins anew. A snapshot that turns out to be damaged is passed over. If snapshots are there and none can
        be used, an Error is raised, and the arrays may hold anything. With tables bind(restart) is called before a
        snapshot is read, to bind each to restart.rows(table) rows. Collective."""
        self.check_writable()
        found = self._stream.restore(None if bind is None else lambda chosen: bind(Restart(chosen, self)))
        return None if found is None else Restart(found, self)

    def newest(self, below=None):
        """The newest snapshot that can be read whole, a Restart; None if nothing is there. If snapshots are there and none
        can be used, an Error is raised. below: only steps below that one. Collective."""
        found = self._stream.newest(2**63 - 1 if below is None else below)
        return None if found is None else Restart(found, self)

    def older(self):
        """The snapshot before the last answer; after a read that failed never None but an Error. Collective."""
        found = self._stream.older()
        return None if found is None else Restart(found, self)

    @property
    def notes(self):
        """Why snapshots were passed over."""
        return list(self._stream.notes)

    def wait_committed(self, seconds=600.0):
        """Waits until what was saved is committed. Collective."""
        self._stream.wait_committed(seconds)

    @property
    def counters(self):
        """Totals since the session was opened."""
        return self._stream.counters()

    def check_writable(self):
        """What is read must not be read-only."""
        bound = {f"{table.name}/{column}": data for table in self._tables for column, data in table.bound.items()}
        for name, data in (self._described | bound).items():
            for part in data if isinstance(data, (list, tuple)) else [data]:
                if not part.flags.writeable:
                    raise RefusedError(error_text(
                        f"variable '{name}' is a read-only array; nothing can be read into it."))

    def __repr__(self):
        return f"<forebay.Stream {self.name!r}, {len(self._described)} variables>"


class Particles:
    """A described table."""

    def __init__(self, table, name, types):
        self._table = table
        self.bound = {}
        self.name = name
        self.types = types

    def bind(self, rows=None, /, **columns):
        """This rank's rows from now on: an array of each column, of equal length and any stride; or one structured
        array that has them as fields. Local."""
        if isinstance(rows, np.ndarray) and rows.dtype.names:
            columns = {column: rows[column] for column in self.types}
        if columns.keys() != self.types.keys():
            raise RefusedError(error_text(
                f"table '{self.name}' has the columns {', '.join(self.types)}, not {', '.join(columns) or 'none'}."))
        lengths = set()
        for column, data in columns.items():
            _must_be_array(data, f"{self.name}/{column}")
            if data.dtype != self.types[column] or data.ndim != 1:
                raise RefusedError(error_text(
                    f"column '{self.name}/{column}' is {data.ndim}-D {data.dtype} here but 1-D {self.types[column]} "
                    "in the description."))
            lengths.add(len(data))
        if len(lengths) != 1:
            raise RefusedError(error_text(
                f"the columns of table '{self.name}' have different lengths: {', '.join(map(str, sorted(lengths)))}."))
        self._table.bind(lengths.pop(), [(_address(columns[column]), columns[column].strides[0])
                                         for column in self.types])
        self.bound = columns

    def empty(self, rows):
        """New arrays for so many rows, as bind() takes them."""
        return {column: np.empty(rows, kind) for column, kind in self.types.items()}

    def __repr__(self):
        return f"<forebay.Particles {self.name!r}: {', '.join(self.types)}>"


class Restart:
    """The snapshot that newest() chose, before its data are read."""

    def __init__(self, restart, stream):
        self._restart = restart
        self._stream = stream
        self.step = restart.step
        self.time = restart.time
        self.source = restart.source
        self.same_ranks = restart.same_ranks

    def rows(self, table):
        """The rows that this rank gets of a table."""
        return self._restart.rows(table._table)  # pylint: disable=protected-access

    def read(self, *variables):
        """Reads everything described, in place; tables must be bound to rows(table) rows. With names only those arrays
        and values, which may have been described after newest(). Collective."""
        self._stream.check_writable()
        if variables:
            self._restart.read_variables(list(variables))
        else:
            self._restart.read()

    def __repr__(self):
        return f"<forebay.Restart of step {self.step}, from {self.source}>"
