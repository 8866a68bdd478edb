"""A reader of GenericIO files that shares no code with Forebay. It is written only from docs/formats/genericio.md, with
numpy and a table of CRC-64. It judges the files that Forebay writes, and is compared with Forebay's reader.

The caller passes a function that decodes Blosc blocks (numcodecs, or the C library by ctypes): that format is Blosc's.
"""

import ctypes
import ctypes.util
import pathlib
import struct

import numpy as np

POLYNOMIAL = 0xC96C5795D7870F42  # ECMA-182, reflected
MASK = (1 << 64) - 1
FLAGS = ("float", "signed", "coordinate_x", "coordinate_y", "coordinate_z", "maybe_ghost")


def crc_table():
    """The effect of one byte on the checksum."""
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (POLYNOMIAL if crc & 1 else 0)
        table.append(crc)
    return table


TABLE = crc_table()


def crc64(data):
    """CRC-64/XZ."""
    crc = MASK
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ MASK


assert crc64(b"123456789") == 0x995DC9BBDF1939FA


def sealed(data, what):
    """The bytes without their trailer. The trailer is the complement of the checksum, lowest byte first in both byte
    orders."""
    body, trailer = data[:-8], data[-8:]
    assert len(trailer) == 8, f"{what}: cut short"
    assert struct.unpack("<Q", trailer)[0] == crc64(body) ^ MASK, f"{what}: checksum differs"
    return body


def unblosc(frame, size):
    """Decodes one Blosc frame with the C library."""
    library = ctypes.CDLL(ctypes.util.find_library("blosc") or "libblosc.so.1")
    out = ctypes.create_string_buffer(size)
    got = library.blosc_decompress_ctx(bytes(frame), out, ctypes.c_size_t(size), 1)
    assert got == size, f"Blosc gave {got} of {size} bytes"
    return out.raw


class File:
    """One file, completely checked. `variables` by name, each with flags and an array for each rank."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        data = self.path.read_bytes()
        self.order = {b"HACC01L\0": "<", b"HACC01B\0": ">"}[data[:8]]
        (self.header_bytes,) = struct.unpack_from(self.order + "Q", data, 8)
        head = sealed(data[: self.header_bytes + 8], "header")
        words = struct.unpack_from(self.order + "16xQ3Q7Q", head)
        self.elements, self.dims = words[0], words[1:4]
        n_vars, vars_size, vars_start, n_ranks, ranks_size, ranks_start, global_size = words[4:]
        self.phys_origin = self.phys_scale = (0.0, 0.0, 0.0)
        self.blocks_size = 0
        blocks_start = 0
        if global_size > 104:
            self.phys_origin = struct.unpack_from(self.order + "3d", head, 104)
        if global_size > 128:
            self.phys_scale = struct.unpack_from(self.order + "3d", head, 128)
        if global_size > 152:
            self.blocks_size, blocks_start = struct.unpack_from(self.order + "2Q", head, 152)
        described = [self.variable(head, vars_start + i * vars_size, vars_size) for i in range(n_vars)]
        self.ranks = [self.rank(head, ranks_start + i * ranks_size, ranks_size, i) for i in range(n_ranks)]
        assert sum(rank["elements"] for rank in self.ranks) == self.elements
        self.variables = {one["name"]: dict(one, data=[], filters=[]) for one in described}
        assert len(self.variables) == n_vars
        self.data_bytes = 0
        for r, rank in enumerate(self.ranks):
            at = rank["start"]
            for v, one in enumerate(described):
                size, filters = rank["elements"] * one["size"], b""
                if self.blocks_size:
                    block = blocks_start + (r * n_vars + v) * self.blocks_size
                    filters = head[block : block + 32].replace(b"\0", b"")
                    at, size = struct.unpack_from(self.order + "2Q", head, block + 32)
                body = sealed(data[at : at + size + 8], f"rank {r}, {one['name']}, bytes {at}-{at + size + 7}")
                self.data_bytes += size + 8
                at += size + 8
                self.variables[one["name"]]["filters"].append(filters.decode())
                self.variables[one["name"]]["data"].append(self.array(body, filters, rank["elements"], one))
        assert self.header_bytes + 8 + self.data_bytes == len(data), "bytes that belong to nothing"

    def variable(self, head, at, stored):
        """Name, flags and sizes of a variable."""
        flags, size = struct.unpack_from(self.order + "2Q", head, at + 256)
        element = size
        if stored > 272:
            (element,) = struct.unpack_from(self.order + "Q", head, at + 272)
        name = head[at : at + 256].split(b"\0")[0].decode()
        said = {flag for i, flag in enumerate(FLAGS) if flags >> i & 1}
        kind = "f" if "float" in said else "i" if "signed" in said else "u"
        return {"name": name, "flags": said, "size": size, "element": element,
                "type": np.dtype(f"{self.order}{kind}{element}")}

    def rank(self, head, at, stored, index):
        """The place of a rank's data, and the number of the rank."""
        words = struct.unpack_from(self.order + "5Q", head, at)
        number = struct.unpack_from(self.order + "Q", head, at + 40)[0] if stored > 40 else index
        return {"coords": words[:3], "elements": words[3], "start": words[4], "rank": number}

    def array(self, body, filters, elements, one):
        """One rank's values; two-dimensional if records have several elements."""
        if filters:
            assert filters == b"BLOSC", filters
            plain = unblosc(body[8:], elements * one["size"])
            assert struct.unpack(self.order + "Q", body[:8])[0] == crc64(plain), "checksum of the uncompressed bytes"
            body = plain
        found = np.frombuffer(body, one["type"])
        return found.reshape(elements, one["size"] // one["element"]) if one["size"] != one["element"] else found


def read(path):
    """Name to array of all ranks in rank order. The parts of a partitioned file are joined."""
    file = File(path)
    if "$partition" not in file.variables:
        return {name: np.concatenate(one["data"]) for name, one in file.variables.items()}, [file]
    partition = np.concatenate(file.variables["$partition"]["data"])
    rank = np.concatenate(file.variables["$rank"]["data"])
    parts = {int(p): File(f"{path}#{p}") for p in sorted(set(partition))}
    found = {}
    for name in next(iter(parts.values())).variables:
        pieces = {}
        for p, part in parts.items():
            mine = [int(r) for r, q in zip(rank, partition) if q == p]
            assert [one["rank"] for one in part.ranks] == mine
            pieces.update(zip(mine, part.variables[name]["data"]))
        found[name] = np.concatenate([pieces[r] for r in sorted(pieces)])
    return found, [file, *parts.values()]
