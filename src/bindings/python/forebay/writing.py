"""Sessions, streams and restarts, for simulations. Nothing is copied: numpy arrays are saved and read in place."""

import json
import numbers

import numpy as np

from . import _forebay, _mpi
from ._arrays import address_of, boxes_of, first_of, halo_pairs, must_be_array, must_be_value, type_of
from ._forebay import RefusedError, error_text
from ._turns import Owner, Turns, in_turn


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


def _mpi_binding():
    try:
        return _mpi.binding()
    except ImportError as problem:
        raise _forebay.UnsupportedError(error_text(
            f"this installation cannot use communicators: its module for MPI is missing or cannot be loaded ({problem})."
        )) from problem


def dedicate(world, config=None):
    """Splits ranks off that only write. If `config` has agent.mode = "dedicated", the last agent.cores ranks of each
    machine become its agents. The other ranks get a communicator of mpi4py: use it in place of `world`, also to open
    sessions.

    An agent stays in this call until the ranks of its machine have finalised MPI. It then gets None, and only has to
    end. With agent.forwarders the ranks of that many last hosts do the same, until all computing ranks have ended.
    Call it once a process. Collective.
    """
    computes, handle = _mpi_binding().dedicate(world.py2f(), _forebay.options(None if config is None else str(config)))
    return type(world).f2py(handle) if computes else None


class Session(Owner):
    """One application's use of one run. Opening and close() are collective.

    - run: the directory at the target. It is created if it is missing. The directory above it must exist, unless
      `config` has create_parents = true. "" takes the run from `config`.
    - comm: an mpi4py communicator, which the session duplicates. None: only this process.
    - staging: a node-local directory. Default: /dev/shm.
    - config: a TOML file, see docs/reference/configuration.md. If it has a run, it must be this run. If a rank
      cannot read its file, all ranks get an error.
    - log: a function that gets one line, on rank 0. It must not call the session.

    Threads: a session and its objects make one call at a time. A call of another thread waits for its turn, and
    other threads run meanwhile. Collective calls need the same order on every rank: with several ranks make them
    from one thread. Ctrl-C ends a waiting call: KeyboardInterrupt on the rank with the signal, RetryError on all
    other ranks.

    A `with` block closes the session at its end. After an exception it leaves without waiting, and the agents finish
    the staged snapshots.
    """

    def __init__(self, run="", comm=None, staging=None, config=None, log=None):
        options = _forebay.options(None if config is None else str(config))
        if str(run):
            options.run = str(run)
        if staging is not None:
            options.staging = str(staging)
        turns = Turns(log)
        options.set_log(turns.listener())
        self.run = options.run
        self.closed = False
        super().__init__(turns, _forebay.open_alone(options) if comm is None
                         else _mpi_binding().open_mpi(comm.py2f(), options))

    @in_turn
    def stream(self, name, **options):
        """The stream `name`. Without options: those of `config`. With options: those, and the defaults for all
        others. Unknown options are refused, and options that differ between ranks or from those of the stream that
        is already open. Collective."""
        if not options:
            return Stream(self._held.stream(name), name, self._turns)
        return Stream(self._held.stream_with(name, _toml_of(options)), name, self._turns)

    stream.__doc__ = (stream.__doc__ or "") + "\n\n" + "".join(f"        {key}: {meaning}; {values}; by default {default}\n"
                                       for key, values, default, meaning in _forebay.stream_options())

    @property
    @in_turn
    def draining(self):
        """True while this node's agent drains."""
        return self._held.draining

    @property
    @in_turn
    def spool(self):
        """A directory of this node for small files of any program of the job. The agent packs them into a few files
        of the run, and `forebay extract` restores them. Write a file under a name that begins with a dot, then
        rename it. close() removes the directory. Files that could not be packed stay, and close() reports them."""
        return self._held.spool

    @in_turn
    def job(self, stop_wanted=False):
        """Asks at the end of a step if it is time to save (.save), or to save and end (.stop). All ranks get the
        same answer.

        Reasons: the job ends, somebody ran `forebay stop`, or a rank passed stop_wanted=True. The answer has the
        .reason and .seconds_left of the job. .condition is a fulfilled condition of an analysis or a flag of a
        script, '' without any; .value fulfils it, and .condition_step is its snapshot. Collective.
        """
        return self._held.job(bool(stop_wanted))

    @in_turn
    def close(self):
        """Waits until everything is committed, and reports snapshots that could not be. Collective."""
        self.closed = True
        self._held.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None and not self.closed:
            self.close()

    def __repr__(self):
        return f"<forebay.Session of {self.run!r}{', closed' if self.closed else ''}>"


class Stream(Owner):
    """A named sequence of snapshots. It keeps described arrays alive."""

    def __init__(self, stream, name, turns):
        super().__init__(turns, stream)
        self._described = {}
        self._values = set()  # the replicated variables
        self._tables = []
        self.name = name

    @in_turn
    def replicated(self, name, data, unit="", description="", first_rank=False):
        """Describes a value with the same bits on every rank, as a contiguous array; for a scalar without
        dimensions. If the ranks differ, a save is refused, with the ranks and their values. first_rank: ranks may
        differ, and a restart gives rank 0's value to all ranks that describe it so. Local."""
        must_be_value(data, name)
        self._held.replicated(name, type_of(data, name), list(data.shape), address_of(data), unit, description, first_rank)
        self._described[name] = data
        self._values.add(name)

    @in_turn
    def array(self, name, data, shape=None, start=None, halo=0, *, unit="", description="", dimensions=(),
              partial=False):
        """Describes a global array. This rank owns a part of it. Local.

        - data: an array of any strides, with its halo, or a list of such arrays. np.empty((0, ...)) with a dtype for
          a rank that owns nothing.
        - shape: the global shape. Default: the shape of `data` without halo.
        - start: the global position of the first owned element (not of the halo), 0 by default. A list of positions
          for a list of arrays.
        - halo: elements around the owned elements: one width, one for each dimension, or pairs (before, after). A
          save skips halos; a restart fills them inside the global shape.
        - partial: the boxes of all ranks may leave holes.
        """
        first, kind = first_of(data, name)
        if shape is None:
            before, after = halo_pairs(halo, first.ndim)
            shape = [extent - lo - hi for extent, lo, hi in zip(first.shape, before, after)]
        elif np.isscalar(shape):
            shape = [shape]
        self._held.array(name, kind, list(shape), boxes_of(name, data, start, halo), unit, description, list(dimensions),
                           partial)
        self._described[name] = data

    @in_turn
    def rebind(self, name, data, start=None, halo=0):
        """Gives new arrays, or other boxes, to described data. Another type than described is refused, and so is
        another shape of a replicated variable. Local."""
        if name in self._values:
            self._held.rebind_value(name, type_of(must_be_value(data, name), name), list(data.shape), address_of(data))
        else:
            _, kind = first_of(data, name)
            self._held.rebind_array(name, kind, boxes_of(name, data, start, halo))
        self._described[name] = data

    @in_turn
    def forget(self, name):
        """Removes an array or a replicated variable from the description. Do it on every rank. Local."""
        self._held.forget(name)
        self._described.pop(name, None)
        self._values.discard(name)

    @in_turn
    def particles(self, name, columns, units=None):
        """Describes a table. columns: {"id": "i8", "x": "f8"}, or a structured dtype. units: {"x": "m"}. Local."""
        if isinstance(columns, np.dtype):
            columns = {field: columns[field] for field in columns.names}
        types = {column: np.dtype(kind) for column, kind in columns.items()}
        table = self._held.particles(name, [(column, type_of(np.empty(0, kind), f"{name}/{column}"),
                                               (units or {}).get(column, "")) for column, kind in types.items()])
        self._tables.append(Particles(table, name, types, self._turns))
        return self._tables[-1]

    @in_turn
    def prepare(self):
        """Does now the layout and page faults of the first save. Collective."""
        self._held.prepare()

    @in_turn
    def save(self, step, time=0.0):
        """Saves everything described. Returns a Saved when everything is copied. Collective."""
        return self._held.save(step, time)

    @in_turn
    def restore(self, bind=None):
        """Restores the newest snapshot that reads whole, in place, and returns its Restart. It skips damaged
        snapshots. None means that no snapshot exists: begin anew.

        If snapshots exist but none can be used, it raises an Error, and the arrays may hold anything. Tables need
        `bind`: the call runs bind(restart) before it reads a snapshot. In it, bind each table to restart.rows(table)
        rows. Collective.
        """
        self.check_writable()
        found = self._held.restore(None if bind is None else lambda chosen: bind(Restart(chosen, self)))
        return None if found is None else Restart(found, self)

    @in_turn
    def newest(self, below=None):
        """The newest snapshot that can be read whole, as a Restart; None if no snapshot exists. If snapshots exist
        but none can be used, it raises an Error. below: only steps below this step count. Collective."""
        found = self._held.newest(2**63 - 1 if below is None else below)
        return None if found is None else Restart(found, self)

    @in_turn
    def older(self):
        """The snapshot before the last answer. After a failed read it is never None: without an older snapshot it
        raises an Error. Collective."""
        found = self._held.older()
        return None if found is None else Restart(found, self)

    @property
    @in_turn
    def notes(self):
        """The reasons for skipped snapshots."""
        return list(self._held.notes)

    @in_turn
    def wait_committed(self, seconds=600.0):
        """Waits until your saves are committed. Collective."""
        self._held.wait_committed(seconds)

    @property
    @in_turn
    def counters(self):
        """Totals since the session was opened."""
        return self._held.counters()

    def check_writable(self):
        """Refuses to read into read-only arrays."""
        bound = {f"{table.name}/{column}": data for table in self._tables for column, data in table.bound.items()}
        for name, data in (self._described | bound).items():
            for part in data if isinstance(data, (list, tuple)) else [data]:
                if not part.flags.writeable:
                    raise RefusedError(error_text(
                        f"variable '{name}' is a read-only array; nothing can be read into it."))

    def __repr__(self):
        return f"<forebay.Stream {self.name!r}, {len(self._described)} variables>"


class Particles(Owner):
    """A described table."""

    def __init__(self, table, name, types, turns):
        super().__init__(turns, table)
        self.bound = {}
        self.name = name
        self.types = types

    @in_turn
    def bind(self, rows=None, /, **columns):
        """Sets this rank's rows: an array for each column, of equal length and any stride, or one structured array
        with the columns as fields. Local."""
        if isinstance(rows, np.ndarray) and rows.dtype.names:
            columns = {column: rows[column] for column in self.types}
        if columns.keys() != self.types.keys():
            raise RefusedError(error_text(
                f"table '{self.name}' has the columns {', '.join(self.types)}, not {', '.join(columns) or 'none'}."))
        lengths = set()
        for column, data in columns.items():
            must_be_array(data, f"{self.name}/{column}")
            if data.dtype != self.types[column] or data.ndim != 1:
                raise RefusedError(error_text(
                    f"column '{self.name}/{column}' is {data.ndim}-D {data.dtype} here but 1-D {self.types[column]} "
                    "in the description."))
            lengths.add(len(data))
        if len(lengths) != 1:
            raise RefusedError(error_text(
                f"the columns of table '{self.name}' have different lengths: {', '.join(map(str, sorted(lengths)))}."))
        self._held.bind(lengths.pop(), [(address_of(columns[column]), columns[column].strides[0])
                                         for column in self.types])
        self.bound = columns

    def empty(self, rows):
        """New arrays for that many rows, as a dict for bind()."""
        return {column: np.empty(rows, kind) for column, kind in self.types.items()}

    def __repr__(self):
        return f"<forebay.Particles {self.name!r}: {', '.join(self.types)}>"


class Restart(Owner):
    """The snapshot that newest() chose, before its data are read."""

    def __init__(self, restart, stream):
        super().__init__(stream._turns, restart)  # pylint: disable=protected-access
        self._stream = stream
        self.step = restart.step
        self.time = restart.time
        self.source = restart.source
        self.same_ranks = restart.same_ranks

    @in_turn
    def rows(self, table):
        """The number of rows that this rank reads of a table."""
        return self._held.rows(table._held)  # pylint: disable=protected-access

    @in_turn
    def read(self, *variables):
        """Reads everything described, in place. Bind tables to rows(table) rows first. With names it reads only
        those arrays and values; you may describe them after newest(). Collective."""
        self._stream.check_writable()
        if variables:
            self._held.read_variables(list(variables))
        else:
            self._held.read()

    def __repr__(self):
        return f"<forebay.Restart of step {self.step}, from {self.source}>"
