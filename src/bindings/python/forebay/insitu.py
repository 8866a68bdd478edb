"""Analyses of snapshots in Python, beside the simulation or afterwards: docs/how-to/analyse-with-a-script.md.

A script is a file with functions that declare their variables::

    from forebay.insitu import every

    @every(10, stream="fields", variables=["theta"])
    def extremes(snapshot):
        theta = snapshot["theta"]
        return {"min": theta.array.min(), "max": theta.array.max()}

A function is called with a Snapshot, once on each node. It returns a dict of numbers and arrays, which become
results; or a matplotlib figure or the bytes of a PNG, alone or in such a dict; or None. With raise_flag() it reports
that something is wrong with the snapshot.
"""

import functools
import os
from collections.abc import Mapping

import numpy as np

from ._flags import raise_flag
from ._forebay_insitu import matches

__all__ = ["Block", "Snapshot", "Variable", "every", "raise_flag"]


def every(steps=1, *, stream=None, variables=(), gather=(), reduce=None, finish=None):
    """Marks a function for the steps divisible by `steps`, of one stream or of all streams.

    - variables: names, or patterns with *, of variables that the function needs from each node. It is called for
      each node's part.
    - reduce(a, b): combines the dicts of two nodes. It must be associative. Nodes come in their order.
    - finish(all): its result replaces the result of the function or of reduce.
    - gather: names or patterns of variables that it needs from all nodes at once. The function is then called once.
    """
    if callable(steps):
        raise TypeError(f"@every needs parentheses and variables: @every(variables=[\"theta\"]) before "
                        f"'def {getattr(steps, '__name__', '...')}'")
    if isinstance(variables, str) or isinstance(gather, str):
        raise TypeError("variables and gather must be lists of names, such as variables=[\"theta\"]")
    if bool(variables) == bool(gather):
        raise ValueError("a function takes variables=[...] of each node, or gather=[...] of all nodes")
    if gather and reduce:
        raise ValueError("one call gets all gathered data, so there is nothing to reduce")
    if not isinstance(steps, int) or steps < 1:
        raise ValueError(f"every({steps!r}): give an integer of 1 or more")

    def mark(function):
        function.forebay_every = Every(steps, stream, tuple(variables), tuple(gather), reduce, finish)
        return function
    return mark


class Every:  # pylint: disable=too-few-public-methods
    """The arguments of @every."""

    def __init__(self, steps, stream, variables, gather, reduce, finish):  # pylint: disable=too-many-arguments,too-many-positional-arguments
        self.steps, self.stream = steps, stream
        self.variables, self.gather = variables, gather
        self.reduce, self.finish = reduce, finish

    def is_due(self, stream, step):
        """True if the function runs for that snapshot."""
        return self.stream in (None, stream) and step % self.steps == 0


def dtype_of(name):
    """numpy's name of a type: "f8" for "f64", "S16" for "string[16]"."""
    return np.dtype(f"S{name[7:-1]}" if name.startswith("string[") else f"{name[0]}{int(name[1:]) // 8}")


class Block:  # pylint: disable=too-few-public-methods
    """One rank's part of a variable.

    - data: a numpy array, a verified, read-only view of the staged copy.
    - start: its position in the global shape. slices: the same as an index.
    - rank: its owner.
    """

    def __init__(self, rank, start, data):
        self.rank, self.start, self.data = rank, tuple(start), data

    @property
    def slices(self):
        """Its place in an array of the global shape, as an index."""
        return tuple(slice(lo, lo + size) for lo, size in zip(self.start, self.data.shape))

    def __repr__(self):
        return f"<forebay.insitu.Block of rank {self.rank}: {self.data.dtype} {self.data.shape} at {self.start}>"


class Variable:
    """A variable of the snapshot. numpy takes it as its array.

    - blocks: the parts of the ranks, each a Block: of this node, or of all nodes if it is gathered.
    - array: all blocks as one array. start: its position in the global shape. dataarray: the same for xarray.
    - name, unit, description, dimensions, attributes: as described by the application.
    - dtype, shape: of the whole variable. kind: "array", "particles" or "replicated".
    """

    def __init__(self, line, blocks):
        self.name, kind, self.kind, shape, self.unit, self.description, self.dimensions, others, _ = line
        self.attributes = dict(others)
        self.dtype = dtype_of(kind)
        self.blocks = blocks
        if self.kind == "particles":  # rows follow each other, by rank
            rows = np.cumsum([0] + [len(block.data) for block in blocks])
            for block, first in zip(blocks, rows):
                block.start = (int(first),)
            shape = [rows[-1]]
        self.shape = tuple(int(extent) for extent in shape)

    @property
    def start(self):
        """The position of `array` in the global shape."""
        return tuple(min(block.start[dim] for block in self.blocks) for dim in range(len(self.shape))) if self.blocks else (
            0,) * len(self.shape)

    @functools.cached_property
    def array(self):
        """All blocks of this call as one array. A single block is not copied."""
        if len(self.blocks) == 1:
            return self.blocks[0].data
        start = self.start
        end = [max((block.slices[dim].stop for block in self.blocks), default=0) for dim in range(len(self.shape))]
        size = [last - first for first, last in zip(start, end)]
        if sum(block.data.size for block in self.blocks) != np.prod(size, dtype=int):
            raise ValueError(f"the blocks of '{self.name}' on this node are not a box: use blocks, or gather it")
        whole = np.empty(size, self.dtype)
        for block in self.blocks:
            whole[tuple(slice(at.start - lo, at.stop - lo) for at, lo in zip(block.slices, start))] = block.data
        whole.flags.writeable = False
        return whole

    def __array__(self, dtype=None, copy=None):
        return np.array(self.array, dtype) if copy else np.asarray(self.array, dtype)

    @property
    def dataarray(self):
        """The same as an xarray.DataArray: with dimensions, units, and indices into the global shape as coordinates."""
        import xarray  # pylint: disable=import-outside-toplevel
        names = list(self.dimensions) or [f"dim_{dim}" for dim in range(len(self.shape))]
        coordinates = {name: np.arange(first, first + size) for name, first, size in zip(names, self.start, self.array.shape)}
        words = {"units": self.unit, "long_name": self.description}
        return xarray.DataArray(self.array, coordinates, names, self.name,
                                {key: text for key, text in words.items() if text} | self.attributes)

    def __repr__(self):
        return f"<forebay.insitu.Variable {self.name!r}: {self.dtype} {self.kind} {self.shape}, {len(self.blocks)} blocks>"


class Snapshot(Mapping):
    """The argument of a function: a mapping from the names that it declared to Variable, as in snapshot["theta"].

    - step, time, stream: of the snapshot. nodes: its number of nodes.
    - node: the node of this call; None if variables are gathered from all nodes.
    - directory: files that the function writes here become results.
    """

    def __init__(self, nodes, wishes, directory):
        first = nodes[0]
        self.stream, self.step, self.time, self.nodes = first.stream, first.step, first.time, first.nodes
        self.node = first.node if len(nodes) == 1 else None  # None: all nodes
        self._directory = directory
        self._variables = {}
        lines = [{line[0]: line for line in node.variables()} for node in nodes]
        for name, line in lines[0].items():
            if not any(matches(wish, name) for wish in wishes):
                continue
            blocks = [_block(node, own[name], place) for node, own in zip(nodes, lines) for place in own[name][8]]
            self._variables[name] = Variable(line, blocks[:1] if line[2] == "replicated" else blocks)
        for wish in wishes:
            if not any(matches(wish, name) for name in self._variables):
                raise LookupError(f"stream '{self.stream}' has no variable '{wish}'")

    @functools.cached_property
    def directory(self):
        """A directory on this node. Files in it become results when the function returns, beside the pictures. Names
        that begin with a dot are left out."""
        os.makedirs(self._directory)
        return self._directory

    def __getitem__(self, name):
        return self._variables[name]

    def __iter__(self):
        return iter(self._variables)

    def __len__(self):
        return len(self._variables)

    def __repr__(self):
        return f"<forebay.insitu.Snapshot of step {self.step}, time {self.time:g}: {', '.join(self)}>"


def _block(node, line, place):
    """The block's data, verified, without a copy."""
    block, rank, start, size = place
    return Block(rank, start, node.block(block).view(dtype_of(line[1])).reshape(size))
