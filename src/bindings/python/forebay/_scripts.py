"""Scripts: their functions, the results, and how results of several nodes are combined. The worker beside a
simulation and `forebay insitu` share this code, so the same snapshot gives the same bits."""

import contextlib
import functools
import importlib.util
import io
import json
import os
import pathlib
import sys
import traceback

import numpy as np

from ._arrays import type_of
from ._forebay import Error
from ._forebay_insitu import step_name
from .insitu import Snapshot, dtype_of

PNG = b"\x89PNG\r\n\x1a\n"
ELEMENT_BYTES_MAX = 1 << 16  # the limit for variables


class ScriptError(Exception):
    """An error of a script. The text has the reason."""


def words_of(error):
    """An error in one line. For errors of scripts also the kind and the place."""
    words = " ".join(str(error).removeprefix("forebay: ").split())
    if isinstance(error, (ScriptError, Error)):
        return words
    return f"{type(error).__name__}{words and f': {words}'}{getattr(error, 'forebay_place', '')}"


def text_of(name, error):
    """The reason why an analysis failed."""
    return f"analysis '{name}': {words_of(error)}"


@contextlib.contextmanager
def placing(function):
    """Adds the place in `function` to an exception of the script, for words_of()."""
    try:
        yield
    except BaseException as error:
        file = getattr(getattr(function, "__code__", None), "co_filename", None)
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        with contextlib.suppress(AttributeError):  # of a class with slots
            error.forebay_place = f" (function '{function.__name__}'{f', line {lines[-1]}' if lines else ''})"
        raise


class Script:
    """A script's functions, as they were when it was loaded."""

    _in_use = None  # the directory of the script that imports now
    _others = frozenset()  # modules that belong to no script, wherever they lie
    _put_away = {}  # by directory, the modules of scripts that do not run now, by name

    def __init__(self, path):
        self.path = pathlib.Path(path)
        try:
            self.source = self.path.read_text(encoding="utf-8")
        except OSError as error:
            raise ScriptError(f"the script {path} cannot be read: {error.strerror}") from error
        self.use()
        spec = importlib.util.spec_from_file_location(f"forebay_script_{self.path.stem}", self.path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses look there
        exec(compile(self.source, path, "exec"), module.__dict__)  # pylint: disable=exec-used
        self.functions = [one for one in vars(module).values() if callable(one) and hasattr(one, "forebay_every")]
        if not self.functions:
            raise ScriptError(f"{path} has no function with @every(...)")

    def use(self):
        """Call it before any code of the script. Modules beside this script replace modules of the same names beside
        another script, and so does the script's own module."""
        before, here = Script._in_use, str(self.path.parent.absolute())
        if before == here:
            return
        if before is None:
            Script._others = frozenset(sys.modules)
        else:
            away = {name: module for name, module in list(sys.modules.items())
                    if name not in Script._others and _place_of(name.partition(".")[0]) == before}
            for name in away:
                del sys.modules[name]
            Script._put_away[before] = away
            with contextlib.suppress(ValueError):  # scripts may change sys.path
                sys.path.remove(before)
        sys.modules.update(Script._put_away.pop(here, {}))
        sys.path.insert(0, here)
        Script._in_use = here

    def has_looked(self, functions, stream):
        """True if these are all functions for the stream."""
        return len(functions) == sum(one.forebay_every.stream in (None, stream) for one in self.functions)

    def must_look(self, stream):
        """Refuses a stream without a function."""
        streams = {one.forebay_every.stream for one in self.functions}
        if not streams & {None, stream}:
            raise ScriptError(f"{self.path} has no function of stream '{stream}': its functions with @every are of "
                              f"{', '.join(sorted(streams))}")

    def due(self, stream, step):
        """The functions for that snapshot, each after its number in the script: two functions may have one name."""
        return [(str(place), one) for place, one in enumerate(self.functions) if one.forebay_every.is_due(stream, step)]


def _place_of(name):
    """The directory of a module or package; None if it has none."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    inside = list(getattr(spec, "submodule_search_locations", None) or []) or [getattr(spec, "origin", None)]
    return os.path.dirname(inside[0]) if isinstance(inside[0], str) else None


class Found:
    """Results of functions: numbers by name, pictures and files by their place, and problems."""

    def __init__(self):
        self.numbers, self.problems = {}, []
        self.files = {}  # by key and suffix: bytes or path, the function, and the key's name there

    def add(self, value, name):
        """Adds the result of the function `name`. Numbers are copied, since they may be views of the slot."""
        entries = value.items() if isinstance(value, dict) else [] if value is None else [(name, value)]
        for key, entry in entries:
            if picture := _png_of(entry):
                self._add_file(key, ".png", (picture, name, f"the picture {key!r}"))
            elif not isinstance(value, dict):
                raise ScriptError(f"function '{name}' returned a {type(value).__name__}: a dict of numbers and arrays, a "
                                  "figure, the bytes of a PNG, or None")
            else:
                self._add_number(key, entry, name)

    def _add_number(self, key, entry, name):
        """A bad result costs only itself: flags, and conditions on other results, still count."""
        why = ""
        try:
            array = np.array(entry, order="C")
            type_of(array, key)
        except (Error, ValueError):  # a type that cannot be saved, or no array
            why = f"as a {type(entry).__name__}, and not as a number or an array of numbers"
        else:
            if array.itemsize > ELEMENT_BYTES_MAX:
                why = f"with {array.itemsize} bytes an element, at most {ELEMENT_BYTES_MAX} are allowed"
            elif isinstance(key, str) and key.encode(errors="replace").decode() != key:
                why = "as a name, which is not Unicode"
        if isinstance(entry, np.ma.MaskedArray):
            why = "as a masked array, and a save would lose its mask: return entry.filled(VALUE)"
        if why:
            self.problems.append(f"function '{name}' returned {key!r} {why}: it is left out")
        else:
            _put(self.numbers, key, array, name)

    def _add_file(self, key, suffix, entry):
        """Of several files for one place it keeps the first."""
        _must_be_text(key, entry[1])
        first = self.files.setdefault((key.replace("/", "-"), suffix), entry)
        if first is not entry:
            (_, name, what), (_, other, called) = first, entry
            self.problems.append(f"function '{name}' made {what}, and function '{other}' {called}: both have the same file "
                                 "name, and the first is kept")

    def add_files(self, directory, name):
        """Adds the files that the function `name` wrote there. Names that begin with a dot are left out."""
        for path in sorted(pathlib.Path(directory).rglob("*")):
            inside = path.relative_to(directory)
            if any(part.startswith(".") for part in inside.parts):
                continue
            if path.is_symlink():
                self.problems.append(f"function '{name}' left {str(inside)!r}, a symbolic link: it is left out")
            elif path.is_file():
                self._add_file(str(inside.with_suffix("")), inside.suffix, (str(path), name, f"the file {str(inside)!r}"))

    def merge(self, other, name):
        """Takes over all results of `other`."""
        for key, entry in other.numbers.items():
            _put(self.numbers, key, entry, name)
        for (key, suffix), entry in other.files.items():
            self._add_file(key, suffix, entry)
        self.problems += other.problems

    def empty(self):
        """The keys of arrays without elements: conditions see them, but no snapshot can hold them."""
        return [key for key, array in self.numbers.items() if not array.size]

    def lines(self):
        """The results, for ScriptRun.act()."""
        return [(key, type_of(array, key), list(array.shape), "", array.tobytes()) for key, array in self.numbers.items()]


def kept(lines):
    """The results that can be written, for ScriptRun.write_results()."""
    return [line for line in lines if all(line[2])]


def _must_be_text(key, name):
    if not isinstance(key, str):
        raise ScriptError(f"function '{name}' returned {key!r} as a name: the name of a result must be a text")


def _put(to, key, entry, name):
    _must_be_text(key, name)
    if key in to:
        raise ScriptError(f"'{name}' and another function both have a result '{key}'")
    to[key] = entry


def _png_of(value):
    """The bytes of a picture; None for another type."""
    if isinstance(value, bytes) and value.startswith(PNG):
        return value
    if not hasattr(value, "savefig"):
        return None
    buffer = io.BytesIO()
    value.savefig(buffer, format="png")
    if "matplotlib.pyplot" in sys.modules:  # pyplot keeps every figure, so close it
        sys.modules["matplotlib.pyplot"].close(value)
    return buffer.getvalue()


def call(function, nodes, directory):
    """Runs the function on these nodes together. The directory is only for this call."""
    mark, found = function.forebay_every, Found()
    name = function.__name__
    with placing(function):
        snapshot = Snapshot(nodes, mark.gather or mark.variables, directory)
        value = function(snapshot)
    found.add(value, name)
    place = "" if snapshot.node is None or snapshot.nodes == 1 else f".node-{snapshot.node:05}"
    found.add_files(directory, name)
    found.files = {(key + place, suffix): entry for (key, suffix), entry in found.files.items()}
    return found


def bring_together(function, parts):
    """The numbers of each node, in the order of nodes, combined into one dict; then the result of finish()."""
    mark, name, found = function.forebay_every, function.__name__, Found()
    if not any(parts) and mark.finish is None:
        return found
    if len(parts) > 1 and mark.reduce is None:
        raise ScriptError(f"function '{name}' returned numbers on each of {len(parts)} nodes: combine them with "
                          "reduce=, or take all nodes at once with gather=")
    with placing(function):
        value = functools.reduce(lambda a, b: _numbers(mark.reduce(a, b), "reduce", name, found), parts)
        value = value if mark.finish is None else mark.finish(value)
    found.add(value, name)
    return found


def _numbers(value, what, name, to):
    if not isinstance(value, dict):
        raise ScriptError(f"{what} of function '{name}' returned a {type(value).__name__}, not a dict")
    found = Found()
    found.add(value, name)
    to.problems += found.problems
    return found.numbers


def finished(function, nodes, directory):
    """The result of a function for a snapshot, if this process sees all nodes."""
    mark, name = function.forebay_every, function.__name__
    if mark.gather:
        found = call(function, nodes, directory)
        return _finish_one(function, found) if mark.finish else found
    each = [call(function, [node], os.path.join(directory, str(node.node))) for node in nodes]
    all_of_it = bring_together(function, [one.numbers for one in each])
    for one in each:
        one.numbers = {}
        all_of_it.merge(one, name)
    return all_of_it


def _finish_one(function, found):
    """finish() for the result of one call."""
    done = bring_together(function, [found.numbers])
    found.numbers = {}
    done.merge(found, function.__name__)
    return done


def deliver(found, directory, stream, analysis, step):
    """Writes pictures and moves files into the directory, each by a rename, and returns their number. Names are as
    for built-in analyses."""
    for (key, suffix), (what, *_) in found.files.items():
        name = f"{stream}.{analysis}.{key}.{step_name(step)}{suffix}"
        if isinstance(what, bytes):
            unfinished = pathlib.Path(directory, f".{name}")
            unfinished.write_bytes(what)
            what = unfinished
        os.rename(what, os.path.join(directory, name))
    return len(found.files)


# One node's data for the other nodes: the length of a list, the list as JSON, and the arrays.

def pack(head, arrays):
    """`head` as JSON, and the arrays' bytes."""
    text = json.dumps(head).encode()
    return b"".join([len(text).to_bytes(8, "little"), text, *(array.tobytes() for array in arrays)])


def unpack(data):
    """The head, and the bytes after it."""
    end = 8 + int.from_bytes(data[:8], "little")
    return json.loads(data[8:end]), memoryview(data)[end:]


def pack_numbers(numbers):
    """Packs a dict of arrays."""
    return pack([(key, type_of(array, key), array.shape) for key, array in numbers.items()], numbers.values())


def unpack_numbers(data):
    """The inverse of pack_numbers()."""
    head, rest = unpack(data)
    numbers, at = {}, 0
    for key, kind, shape in head:
        count = int(np.prod(shape, dtype=int))
        numbers[key] = np.frombuffer(rest, dtype_of(kind), count, at).reshape(shape)
        at += numbers[key].nbytes
    return numbers


def pack_blocks(node, wishes):
    """Packs this node's blocks of the variables that a function gathers."""
    chosen = Snapshot([node], wishes, "")
    lines = [line for line in node.variables() if line[0] in chosen]
    arrays = [node.block(place[0]) for line in lines for place in line[8]]
    return pack([node.node, lines, [array.nbytes for array in arrays]], arrays)


class PackedNode:
    """The result of pack_blocks(), with the interface of a node."""

    def __init__(self, data, like):
        (self.node, self._lines, sizes), self._bytes = unpack(data)
        self.stream, self.step, self.time, self.nodes = like.stream, like.step, like.time, like.nodes
        numbers = [place[0] for line in self._lines for place in line[8]]
        self._places = dict(zip(numbers, zip(np.cumsum([0, *sizes]), sizes)))

    def variables(self):
        """As for a node."""
        return self._lines

    def block(self, number):
        """The bytes of a block."""
        at, size = self._places[number]
        return np.frombuffer(self._bytes, np.uint8, size, at)
