"""Sessions, streams, restarts: what a simulation uses. Nothing is copied: numpy arrays are saved and read in place."""

import json
import numbers

import numpy as np

from . import _forebay
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
    computes, handle = _mpi_binding().dedicate(world.py2f(), _forebay.options(None if config is None else str(config)))
    return type(world).f2py(handle) if computes else None


class Session(Owner):
    """One application's use of one run.

    run: the directory at the target, made if missing; the directory above it must exist, unless `config` says
    create_parents = true; "" takes the run from `config`, which names no other one. comm: an mpi4py communicator (it is
    duplicated), or None for this process alone. staging: a node-local directory, /dev/shm by default.
    config: a TOML file, see the guide; a rank that cannot read it is an error on every rank. log: a function of one line,
    called on rank 0; it must not call the session. Opening and close() are collective.

    Threads: a session, and all that it gives, make one call at a time. A call of another thread waits for its turn while
    other threads run. Collective calls need the same order on every rank, so make them from one thread where there are
    several ranks. Ctrl-C ends a call that waits: KeyboardInterrupt on the rank that gets the signal, RetryError on others.

    As a context manager it is closed at the end; after an exception it is only left, and agents finish what is staged.
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
        """The stream of that name. Without options those of `config` hold; with any, the defaults hold for the others.
        Options that differ between ranks, or from those of a stream that is open already, are refused, as are unknown
        ones. Collective."""
        if not options:
            return Stream(self._held.stream(name), name, self._turns)
        return Stream(self._held.stream_with(name, _toml_of(options)), name, self._turns)

    stream.__doc__ = (stream.__doc__ or "") + "\n\n" + "".join(f"        {key}: {meaning}; {values}; by default {default}\n"
                                       for key, values, default, meaning in _forebay.stream_options())

    @property
    @in_turn
    def draining(self):
        """Whether this node's agent is draining now."""
        return self._held.draining

    @property
    @in_turn
    def spool(self):
        """A directory of this node for small files of any program of the job; the agent packs them into few files of the
        run, `forebay extract` gives them back. Write under a name that begins with a dot, then rename. close() takes the
        directory away, but for what could not be packed, which it tells."""
        return self._held.spool

    @in_turn
    def job(self, stop_wanted=False):
        """Whether to save (.save) or to save and end (.stop) now, .seconds_left of the job, and the .reason: because the job
        ends, somebody ran `forebay stop`, or any rank wants to. .condition is that of an analysis, found fulfilled, or a
        script's flag, '' without any, .value what fulfils it, .condition_step of which snapshot. Equal on all ranks; at the
        end of a step. Collective."""
        return self._held.job(bool(stop_wanted))

    @in_turn
    def close(self):
        """Waits until all is committed, and reports what could not be. Collective."""
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
    """A named sequence of snapshots. Described arrays are kept alive by their stream."""

    def __init__(self, stream, name, turns):
        super().__init__(turns, stream)
        self._described = {}
        self._values = set()  # those of them that are replicated
        self._tables = []
        self.name = name

    @in_turn
    def replicated(self, name, data, unit="", description="", first_rank=False):
        """A value that is equal on every rank, bit for bit, else a save is refused with the ranks and their values: a
        contiguous array, of no dimensions for a scalar. first_rank: ranks may differ, and rank 0's value is what a restart
        gives to all that describe it so. Local."""
        must_be_value(data, name)
        self._held.replicated(name, type_of(data, name), list(data.shape), address_of(data), unit, description, first_rank)
        self._described[name] = data
        self._values.add(name)

    @in_turn
    def array(self, name, data, shape=None, start=None, halo=0, *, unit="", description="", dimensions=(),
              partial=False):
        """A global array of `shape`, of which this rank owns `data` without its halo, at position `start` (of the first
        owned element; 0 by default). data: an array of any strides, with its halo; or a list of such, with a list of
        starts; [] with a dtype of its own is written as np.empty((0, ...)). halo: elements around the owned ones, one
        width, one a dimension, or pairs (before, after); not saved, a restart fills those inside the global shape.
        shape: by default that of `data` without halo. partial: the boxes of all ranks need not fill the shape. Local."""
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
        """Described data lie elsewhere now, or have other boxes; another type than described is refused, as is another
        shape of a replicated variable. Local."""
        if name in self._values:
            self._held.rebind_value(name, type_of(must_be_value(data, name), name), list(data.shape), address_of(data))
        else:
            _, kind = first_of(data, name)
            self._held.rebind_array(name, kind, boxes_of(name, data, start, halo))
        self._described[name] = data

    @in_turn
    def forget(self, name):
        """Takes an array or a replicated variable out of the description; on every rank alike. Local."""
        self._held.forget(name)
        self._described.pop(name, None)
        self._values.discard(name)

    @in_turn
    def particles(self, name, columns, units=None):
        """A table. columns: {"id": "i8", "x": "f8"}, or a structured dtype; units: {"x": "m"}. Local."""
        if isinstance(columns, np.dtype):
            columns = {field: columns[field] for field in columns.names}
        types = {column: np.dtype(kind) for column, kind in columns.items()}
        table = self._held.particles(name, [(column, type_of(np.empty(0, kind), f"{name}/{column}"),
                                               (units or {}).get(column, "")) for column, kind in types.items()])
        self._tables.append(Particles(table, name, types, self._turns))
        return self._tables[-1]

    @in_turn
    def prepare(self):
        """Lays out and faults in now what the first save would. Collective."""
        self._held.prepare()

    @in_turn
    def save(self, step, time=0.0):
        """Saves everything described; returns when all is copied, with a Saved. Collective."""
        return self._held.save(step, time)

    @in_turn
    def restore(self, bind=None):
        """Restores the newest snapshot that reads whole, in place, and gives its Restart; None if nothing is there: the
        simulation begins anew. A snapshot that turns out to be damaged is passed over. If snapshots are there and none can
        be used, an Error is raised, and the arrays may hold anything. With tables bind(restart) is called before a
        snapshot is read, to bind each to restart.rows(table) rows. Collective."""
        self.check_writable()
        found = self._held.restore(None if bind is None else lambda chosen: bind(Restart(chosen, self)))
        return None if found is None else Restart(found, self)

    @in_turn
    def newest(self, below=None):
        """The newest snapshot that can be read whole, a Restart; None if nothing is there. If snapshots are there and none
        can be used, an Error is raised. below: only steps below that one. Collective."""
        found = self._held.newest(2**63 - 1 if below is None else below)
        return None if found is None else Restart(found, self)

    @in_turn
    def older(self):
        """The snapshot before the last answer; after a read that failed never None but an Error. Collective."""
        found = self._held.older()
        return None if found is None else Restart(found, self)

    @property
    @in_turn
    def notes(self):
        """Why snapshots were passed over."""
        return list(self._held.notes)

    @in_turn
    def wait_committed(self, seconds=600.0):
        """Waits until what was saved is committed. Collective."""
        self._held.wait_committed(seconds)

    @property
    @in_turn
    def counters(self):
        """Totals since the session was opened."""
        return self._held.counters()

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


class Particles(Owner):
    """A described table."""

    def __init__(self, table, name, types, turns):
        super().__init__(turns, table)
        self.bound = {}
        self.name = name
        self.types = types

    @in_turn
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
        """New arrays for so many rows, as bind() takes them."""
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
        """The rows that this rank gets of a table."""
        return self._held.rows(table._held)  # pylint: disable=protected-access

    @in_turn
    def read(self, *variables):
        """Reads everything described, in place; tables must be bound to rows(table) rows. With names only those arrays
        and values, which may have been described after newest(). Collective."""
        self._stream.check_writable()
        if variables:
            self._held.read_variables(list(variables))
        else:
            self._held.read()

    def __repr__(self):
        return f"<forebay.Restart of step {self.step}, from {self.source}>"
