"""Writes small GenericIO files only from docs/formats/genericio.md. It also makes files that Forebay does not write:
either byte order, the shorter headers of older versions, blocks in any order and with any filter.
"""

import ctypes
import ctypes.util
import struct

import numpy as np

from genericio_reader import MASK, crc64


def seal(body):
    """The bytes with their trailer."""
    return body + struct.pack("<Q", crc64(body) ^ MASK)


def blosc(plain, width):
    """One Blosc frame with GenericIO's settings."""
    library = ctypes.CDLL(ctypes.util.find_library("blosc") or "libblosc.so.1")
    out = ctypes.create_string_buffer(len(plain) + 16)
    got = library.blosc_compress_ctx(9, 1, ctypes.c_size_t(width), ctypes.c_size_t(len(plain)), plain, out,
                                     ctypes.c_size_t(len(out)), b"blosclz", ctypes.c_size_t(0), 1)
    assert got > 0
    return out.raw[:got]


def flags_of(array, more=0):
    """The flags of the type, plus `more`."""
    return {"f": 3, "i": 2, "u": 0}[array.dtype.kind] | more


def file_of(ranks, order="<", filters=None, old=False, dims=None, numbers=None, flags=None, scale=(0.0, 0.0, 0.0)):
    """`ranks`: for each rank a dict of name to array, two-dimensional for records. `filters`: "", "BLOSC" or other
    names; makes a file with blocks. `old`: only fields of version 1."""
    names = list(ranks[0])
    vars_size, ranks_size, global_size = (272, 40, 104) if old else (280, 48, 168)
    n_vars, n_ranks = len(names), len(ranks)
    vars_start = global_size
    ranks_start = vars_start + n_vars * vars_size
    blocks_start = ranks_start + n_ranks * ranks_size
    header_size = blocks_start + (48 * n_vars * n_ranks if filters is not None else 0)
    at = header_size + 8
    data, rank_heads, block_heads = b"", b"", b""
    total = 0
    for i, rank in enumerate(ranks):
        elements = len(rank[names[0]])
        total += elements
        coords = (i, 0, 0) if dims is None else np.unravel_index(i, dims)
        rank_heads += struct.pack(order + "5Q", *map(int, coords), elements, at)
        if not old:
            rank_heads += struct.pack(order + "Q", numbers[i] if numbers else i)
        for name in names:
            array = rank[name]
            body = array.astype(array.dtype.newbyteorder(order)).tobytes()
            if filters is not None:
                kind = filters.get(name, "")
                if kind:
                    body = struct.pack(order + "Q", crc64(body)) + blosc(body, array.dtype.itemsize * array[0].size)
                block_heads += kind.encode().ljust(32, b"\0") + struct.pack(order + "2Q", at, len(body))
            data += seal(body)
            at += len(body) + 8
    head = {"<": b"HACC01L\0", ">": b"HACC01B\0"}[order]
    head += struct.pack(order + "2Q3Q", header_size, total, *(dims or (n_ranks, 1, 1)))
    head += struct.pack(order + "7Q", n_vars, vars_size, vars_start, n_ranks, ranks_size, ranks_start, global_size)
    if not old:
        blocks = (48, blocks_start) if filters is not None else (0, 0)
        head += struct.pack(order + "6d2Q", 0.0, 0.0, 0.0, *scale, *blocks)
    for name in names:
        array = ranks[0][name]
        width = array.dtype.itemsize
        size = width * (array.shape[1] if array.ndim == 2 else 1)
        head += name.encode().ljust(256, b"\0") + struct.pack(
            order + "2Q", flags_of(array, (flags or {}).get(name, 0)), size)
        if not old:
            head += struct.pack(order + "Q", width)
    head += rank_heads + block_heads
    assert len(head) == header_size
    return seal(head) + data


def some_ranks(counts=(3, 0, 4), records=True):
    """Ranks whose values show their positions."""
    ranks = []
    for i, n in enumerate(counts):
        rank = {"x": np.arange(n, dtype="f4") + 100 * i, "id": np.arange(n, dtype="i8") * (-1) ** i + 1000 * i}
        if records:
            rank["vel"] = (np.arange(3 * n, dtype="f8") / 7 + i).reshape(n, 3)
        rank["mask"] = np.arange(n, dtype="u2") + i
        ranks.append(rank)
    return ranks


def list_of(partitions, order="<"):
    """The file that maps ranks to partitions."""
    ranks = [{"$rank": np.arange(len(partitions), dtype="i4"), "$partition": np.array(partitions, "i4")}]
    return file_of(ranks, order)
