#!/usr/bin/env python3
"""Reads node files and manifests by docs/formats/ alone, without HDF5, and verifies every checksum.

Chunks of compressed files are decoded where numcodecs is installed and the filter is Blosc; else their stored checksums are all that is verified.

Usage: read_node_file.py [--quiet] FILE...
A node file (NAME.h5) is listed: variables, blocks. A manifest (NAME.json) is listed, and the node files that it names are
verified too, if they are there. Exit code 0: all is right; 1: something is not, and standard error says what.
"""

import json
import os
import re
import struct
import sys

try:
    import numcodecs
except ImportError:
    numcodecs = None

SEGMENT = 1 << 20
SIZES = {"f16": 2, "f32": 4, "f64": 8, "c64": 8, "c128": 16, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2,
         "u32": 4, "u64": 8}
TABLE = []
for n in range(256):
    for _ in range(8):
        n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
    TABLE.append(n)


class Refused(Exception):
    """The kind of an error, and its text."""


def crc32c(data, crc=0):
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def require(truth, text, kind="corrupt"):
    if not truth:
        raise Refused(f"{kind}: {text}")


def bytes_of(kind):
    if kind in SIZES:
        return SIZES[kind]
    match = re.fullmatch(r"string\[([1-9][0-9]{0,4})\]", kind)
    require(match and int(match[1]) <= 65536, f"unknown type {kind}")
    return int(match[1])


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def inside(lo, size, shape):
    return len(lo) == len(size) == len(shape) and all(l + s <= n for l, s, n in zip(lo, size, shape))


LINES_MAX = 32


def check_lines(lines):
    """Of the history of a run: [session, turn, from] of each line, ascending."""
    require(isinstance(lines, list) and len(lines) <= LINES_MAX, "number of lines")
    before = (0, 0)
    for number, (session, turn, since) in enumerate(lines):
        require(all(isinstance(n, int) for n in (session, turn, since)), f"line {number}")
        require(1 <= session < 1 << 32 and 0 <= turn < 1 << 32 and -1 <= since < 1 << 63, f"line {number}")
        require(number == 0 or (session, turn) > before, f"order of line {number}")
        before = (session, turn)


RECORD = ("magic version header_bytes snapshot_id step time sealed_unix_ns node nodes world_ranks head_crc32c file_bytes head_bytes "
          "data_offset_bytes hdf5_offset_bytes hdf5_capacity_bytes schema_offset_bytes schema_size_bytes ranks_offset_bytes "
          "ranks extents_offset_bytes variables index_offset_bytes blocks crc_offset_bytes crc_words").split()
COMPRESSED = "plain_bytes filters_offset_bytes chunks_offset_bytes chunks staged_crc32c".split()
SHARED = "heads_offset region_bytes alignment_bytes shared_file_bytes naming".split()


def check_places(r, nodes):
    """Of the page or a record of a shared file."""
    require(r["heads_offset"] % 4096 == 0 and r["heads_offset"] >= 8192 and r["region_bytes"] % 4096 == 0 and r["region_bytes"] >= 12288,
            "places of the regions")
    require(r["alignment_bytes"] and r["alignment_bytes"] % 4096 == 0 and r["shared_file_bytes"] % 4096 == 0 and r["naming"] <= 1 and
            r["heads_offset"] + nodes * r["region_bytes"] <= r["shared_file_bytes"] < 1 << 62, "places in the shared file")


def read_record(pages):
    require(len(pages) >= 8192, "fewer than 8192 bytes", "refused")
    record = dict(zip(RECORD, struct.unpack_from("<8sIIQqdqIIIIQQ13Q", pages, 4096)))
    record.update(zip(COMPRESSED, struct.unpack_from("<5Q", pages, 4096 + 2256)))
    record.update(zip(SHARED, struct.unpack_from("<4QI", pages, 4096 + 2296)))
    written = struct.unpack_from("<I", pages, 8188)[0]
    if record["magic"] != b"FBNODE\r\n":
        unsealed = record["magic"] == bytes(8) and pages[:8] in (b"\x89HDF\r\n\x1a\n", bytes(8))
        require(not unsealed, "not sealed", "missing")
        require(crc32c(b"FBNODE\r\n" + pages[4104:8188]) != written, "magic number")
        require(False, "not a node file", "refused")
    require(crc32c(pages[4096:8188]) == written, "checksum of the record")
    require(record["version"] in (1, 2, 3), f"version {record['version']}", "unsupported")
    record["record_crc32c"] = written
    lines = struct.unpack_from("<I", pages, 4096 + 2352)[0]
    require(lines <= LINES_MAX, "number of lines")
    check_lines([struct.unpack_from("<IIq", pages, 4096 + 2360 + 16 * number) for number in range(lines)])
    r = record
    compressed = r["version"] == 2
    if not compressed:
        r["chunks"] = 0
    if r["version"] == 1:
        r["plain_bytes"] = r["file_bytes"]
    if r["version"] == 3:
        check_places(r, r["nodes"])
        require(r["head_bytes"] <= r["region_bytes"] - 4096 and r["file_bytes"] == -(-r["head_bytes"] // 4096) * 4096, "room of the head")
    require(r["header_bytes"] == 184 and r["plain_bytes"] <= 1 << 62 and r["node"] < r["nodes"] <= 1 << 20, "node numbers")
    require(1 <= r["ranks"] <= min(65536, r["world_ranks"]) and r["variables"] <= 30000, "numbers of ranks or variables")
    require(r["head_bytes"] <= min(1 << 32, r["data_offset_bytes"]) and r["data_offset_bytes"] <= r["file_bytes"] <= 1 << 62, "sizes")
    end = 8192
    tables = (("filters", r["variables"], 48), ("chunks", r["chunks"], 64)) if compressed else ()
    for name, count, size in (("hdf5", r["hdf5_capacity_bytes"], 1), ("schema", r["schema_size_bytes"], 1), ("ranks", r["ranks"], 4),
                              ("extents", r["variables"], 32), ("index", r["blocks"], 192), *tables, ("crc", r["crc_words"], 4)):
        offset = r[name + "_offset_bytes"]
        require(offset % 8 == 0 and offset >= end, f"place of {name}")
        end = offset + count * size
        require(end <= r["head_bytes"], f"end of {name}")
    require(end == r["head_bytes"], "end of the head")
    return record


def check_name(name):
    parts = name.split("/")
    require(len(name.encode()) <= 255 and all(p not in ("", ".", "..") for p in parts) and parts[0] != "_forebay", f"name {name!r}")
    require(all(c >= " " and c != "\x7f" for c in name), f"name {name!r}")


def check_schema(schema):
    names = {v["name"] for v in schema["variables"]}
    groups = {"/".join(n.split("/")[:i]) for n in names for i in range(1, n.count("/") + 1)}
    require(len(names) == len(schema["variables"]) and not names & groups, "a name twice")
    require("/" not in schema["stream"] and schema["stream"][:1] not in ("", "."), "name of the stream")
    for variable in schema["variables"]:
        check_name(variable["name"])
        bytes_of(variable["type"])
        if variable["kind"] == "particles":
            require(0 <= variable["table"] < len(schema["tables"]), f"table of {variable['name']}")
        else:
            require(variable["kind"] in ("replicated", "array") and len(variable["shape"]) <= 8, f"kind of {variable['name']}")


def check_blocks(r, schema, ranks, extents, blocks):
    """What check_rows() of one variable needs to know about the others is `tables`: their rows."""
    tables = {}
    at = 0
    for number, variable in enumerate(schema["variables"]):
        offset, used, capacity, shared = extents[number]
        if r["version"] == 3:
            size = used if variable["kind"] == "particles" else product(variable["shape"]) * bytes_of(variable["type"])
            require(shared >= r["heads_offset"] + r["nodes"] * r["region_bytes"] and shared + size <= r["shared_file_bytes"],
                    f"place of variable {number} in the shared file")
        begin = r["data_offset_bytes"] if r["version"] == 1 else 0
        require(begin <= offset and used <= capacity and offset + capacity <= r["plain_bytes"], f"extent {number}")
        mine = []
        while at < len(blocks) and blocks[at]["variable"] == number:
            mine.append(blocks[at])
            at += 1
        rows = 0
        for b in mine:
            shape = variable.get("shape", [rows + b["size"][0]] if b["size"] else [0])
            require(b["offset"] == offset and b["rank"] in ranks, f"place of a block of variable {number}")
            require(inside(b["lo"], b["size"], shape), f"box of a block of variable {number}")
            require(product(b["size"]) * bytes_of(variable["type"]) == b["bytes"], f"size of a block of variable {number}")
            if variable["kind"] == "particles":
                require(b["lo"] == [rows], f"rows of variable {number}")
                rows += b["size"][0]
            offset += b["bytes"]
        require(offset == extents[number][0] + used, f"used bytes of variable {number}")
        order = [b["rank"] for b in mine]
        require(order == sorted(order), f"order of the blocks of variable {number}")
        if variable["kind"] == "replicated":
            require(len(mine) == 1 and mine[0]["size"] == variable["shape"], f"block of variable {number}")
        if variable["kind"] == "particles":
            require(order == list(ranks), f"ranks of variable {number}")
            counts = [b["size"] for b in mine]
            require(tables.setdefault(variable["table"], counts) == counts, f"rows of variable {number}")
    require(at == len(blocks), "a block of no variable")
    ends = sorted((e[0], e[0] + e[2]) for e in extents if e[2])
    require(all(a[1] <= b[0] for a, b in zip(ends, ends[1:])), "extents overlap")
    require(sum(-(-b["bytes"] // SEGMENT) for b in blocks) == r["crc_words"], "number of checksum words")


def check_chunks(r, schema, extents, filters, chunks):
    """That the rows are what cutting the variables gives, and that their places are in the file."""
    expected = []
    for number, variable in enumerate(schema["variables"]):
        offset, used = extents[number][:2]
        f = filters[number]
        require((f["id"] != 0) == (f["chunk"] != 0) and f["chunk"] <= SEGMENT and f["chunk"] % bytes_of(variable["type"]) == 0 and
                len(f["values"]) <= 8 and (used or not f["id"]), f"filter of variable {number}")
        step = f["chunk"] or used
        expected += [(offset + at, min(step, used - at), number) for at in range(0, used, step)] if used else []
    require([(c["plain"], c["bytes"], c["variable"]) for c in chunks] == sorted(expected), "chunks do not cut the variables")
    for c in chunks:
        f = filters[c["variable"]]
        whole = f["chunk"] or c["bytes"]
        require(c["stored"] >= r["data_offset_bytes"] and c["stored"] + c["size"] <= r["file_bytes"], "place of a chunk")
        require(c["filtered"] in (0, 1) and (0 < c["size"] < whole and f["id"] if c["filtered"] else c["size"] == whole), "size of a chunk")


def read_head(file):
    pages = file.read(8192)
    r = read_record(pages)
    head = pages + file.read(r["head_bytes"] - 8192)
    require(len(head) == r["head_bytes"], "the file ends within its head")
    require(crc32c(head[8192:], crc32c(head[:4096])) == r["head_crc32c"], "checksum of the head")
    text = head[r["schema_offset_bytes"]:r["schema_offset_bytes"] + r["schema_size_bytes"]]
    try:
        schema = json.loads(text.decode("utf-8"))
        check_schema(schema)
    except (ValueError, KeyError, TypeError) as error:
        raise Refused(f"corrupt: schema: {error}") from error
    require(len(schema["variables"]) == r["variables"], "number of variables")

    def words(name, letter, count):
        return struct.unpack_from(f"<{count}{letter}", head, r[name + "_offset_bytes"])

    ranks = words("ranks", "I", r["ranks"])
    require(list(ranks) == sorted(set(ranks)) and ranks[-1] < r["world_ranks"], "ranks")
    flat = words("extents", "Q", 4 * r["variables"])
    extents = [flat[4 * i:4 * i + 4] for i in range(r["variables"])]
    flat = words("index", "Q", 24 * r["blocks"])
    blocks = []
    for i in range(r["blocks"]):
        w = flat[24 * i:24 * i + 24]
        require(w[5] <= 8, f"dimensions of block {i}")
        blocks.append({"variable": w[0], "rank": w[1], "offset": w[2], "bytes": w[3], "segment": w[4],
                       "lo": list(w[6:6 + 2 * w[5]:2]), "size": list(w[7:7 + 2 * w[5]:2])})
        require(w[4] - (-w[3] // SEGMENT) <= r["crc_words"], f"checksum words of block {i}")
    check_blocks(r, schema, ranks, extents, blocks)
    filters, chunks = [], []
    if r["version"] == 2:
        flat = words("filters", "I", 12 * r["variables"])
        filters = [{"id": flat[i], "chunk": flat[i + 1], "values": flat[i + 3:i + 3 + flat[i + 2]]} for i in range(0, len(flat), 12)]
        flat = words("chunks", "Q", 8 * r["chunks"])
        names = ("variable", "plain", "bytes", "stored", "size", "crc", "filtered", "effort")
        chunks = [dict(zip(names, flat[i:i + 8])) for i in range(0, len(flat), 8)]
        check_chunks(r, schema, extents, filters, chunks)
    return r, schema, ranks, extents, blocks, words("crc", "I", r["crc_words"]), filters, chunks


class Plain:
    """The plain form of a file, whose chunks are verified as they are read; None for bytes that cannot be decoded here."""

    def __init__(self, file, filters, chunks):
        self.file, self.filters, self.chunks, self.decoded = file, filters, chunks, (None, None)

    def chunk(self, number):
        c = self.chunks[number]
        if self.decoded[0] != number:
            self.file.seek(c["stored"])
            data = self.file.read(c["size"])
            require(len(data) == c["size"], f"the file ends within chunk {number}")
            if c["filtered"]:
                require(crc32c(data) == c["crc"], f"checksum of chunk {number}, byte {c['stored']}")
                blosc = self.filters[c["variable"]]["id"] == 32001 and numcodecs is not None
                data = numcodecs.Blosc().decode(data) if blosc else None
            self.decoded = (number, data)
        return self.decoded[1]

    def read(self, offset, size):
        if not self.filters:
            self.file.seek(offset)
            return self.file.read(size)
        out = b""
        for number, c in enumerate(self.chunks):
            if c["plain"] + c["bytes"] <= offset or offset + size <= c["plain"]:
                continue
            data = self.chunk(number)
            if data is None:
                return None
            out += data[max(0, offset - c["plain"]):min(c["bytes"], offset + size - c["plain"])]
        return out


class Shared:
    """The bytes of one node in the datasets of a shared file; None for replicated ones, which are those of node 0."""

    def __init__(self, file, r, schema, extents, blocks):
        self.file, self.r, self.schema, self.extents, self.blocks = file, r, schema, extents, blocks

    def at(self, offset, size):
        self.file.seek(offset)
        return self.file.read(size)

    def read(self, offset, size):
        block = next(b for b in self.blocks if b["offset"] <= offset and offset + size <= b["offset"] + b["bytes"])
        variable, extent = self.schema["variables"][block["variable"]], self.extents[block["variable"]]
        if variable["kind"] == "replicated" and self.r["node"]:
            return None
        if variable["kind"] != "array":
            return self.at(extent[3] + offset - extent[0], size)
        # Row by row of the fastest dimension: slower than longest runs, and as right.
        shape, element, out = variable["shape"], bytes_of(variable["type"]), b""
        row = (block["size"][-1] if shape else 1) * element
        done = offset - block["offset"]
        while len(out) < size:
            number, skip = divmod(done, row)
            place = []
            for extent_of in reversed(block["size"][:-1]):
                number, index = divmod(number, extent_of)
                place.insert(0, index)
            flat = 0
            for d, n in enumerate(shape):
                flat = flat * n + block["lo"][d] + (place[d] if d < len(place) else 0)
            now = min(row - skip, size - len(out))
            out += self.at(extent[3] + flat * element + skip, now)
            done += now
        return out


def check_data(plain, blocks, crcs):
    for number, block in enumerate(blocks):
        for done in range(0, block["bytes"], SEGMENT):
            data = plain.read(block["offset"] + done, min(SEGMENT, block["bytes"] - done))
            if data is None:
                continue
            require(len(data) == min(SEGMENT, block["bytes"] - done), f"the file ends within block {number}")
            require(crc32c(data) == crcs[block["segment"] + done // SEGMENT], f"checksum of block {number}, byte {block['offset'] + done}")


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Region:
    """A node file inside a combined file: offsets count from its first byte."""

    def __init__(self, file, base):
        self.file, self.base = file, base
        self.seek(0)

    def seek(self, offset):
        self.file.seek(self.base + offset)

    def read(self, count):
        return self.file.read(count)


def read_node_file(path, show, base=0):
    with open(path, "rb") as whole:
        file = Region(whole, base)
        r, schema, ranks, extents, blocks, crcs, filters, chunks = read_head(file)
        show(f"node file: stream {compact(schema['stream'])} snapshot {r['snapshot_id']:016x} step {r['step']} node {r['node']} of "
             f"{r['nodes']} ranks {compact(list(ranks))} of {r['world_ranks']} bytes {r['file_bytes']} record {r['record_crc32c']:08x}")
        shared = r["version"] == 3
        require(not shared or base == r["heads_offset"] + r["node"] * r["region_bytes"], "place of the region")
        check_data(Shared(whole, r, schema, extents, blocks) if shared else Plain(file, filters, chunks), blocks, crcs)
    for number, variable in enumerate(schema["variables"]):
        where = f"table {variable['table']}" if variable["kind"] == "particles" else f"shape {compact(variable['shape'])}"
        show(f"variable {number} {compact(variable['name'])} {variable['type']} {variable['kind']} {where} bytes {extents[number][1]} of "
             f"{extents[number][2]} at {extents[number][0]}" + (f" shared at {extents[number][3]}" if shared else ""))
        for b in blocks:
            if b["variable"] == number:
                show(f"  block rank {b['rank']} box {compact(b['lo'])} {compact(b['size'])} bytes {b['bytes']} at {b['offset']} "
                     f"segment {b['segment']}")
        for c in chunks:
            if c["variable"] == number:
                show(f"  chunk at {c['plain']} bytes {c['bytes']} filter {filters[number]['id'] if c['filtered'] else 0} stored {c['size']} at "
                     f"{c['stored']} crc32c {c['crc']:08x}")
    columns = [v["kind"] == "particles" for v in schema["variables"]]
    r["begins"] = [e[3] for e in extents]
    r["ends"] = [e[3] + (e[1] if column else 0) for e, column in zip(extents, columns)]
    return r


def read_shared_file(path, show):
    """Every region by the page, that each has arrived, and that its rows begin where those before it end."""
    with open(path, "rb") as file:
        page = file.read(8192)[4096:]
        require(len(page) == 4096 and crc32c(page[:4092]) == struct.unpack_from("<I", page, 4092)[0], "checksum of the page")
        header, snapshot, step, nodes = struct.unpack_from("<IQqI", page, 12)
        p = dict(zip(("naming", "heads_offset", "region_bytes", "alignment_bytes", "shared_file_bytes"), struct.unpack_from("<I4Q", page, 36)))
        require(header == 72 and 1 <= nodes <= 1 << 20, "page")
        check_places(p, nodes)
        show(f"shared file: snapshot {snapshot:016x} step {step} nodes {nodes}, naming {p['naming']}, regions of {p['region_bytes']} from "
             f"{p['heads_offset']} on, alignment {p['alignment_bytes']}, bytes {p['shared_file_bytes']}")
        require(file.seek(0, 2) == p["shared_file_bytes"], "length of the file")
        arrivals = []
        for node in range(nodes):
            file.seek(p["heads_offset"] + (node + 1) * p["region_bytes"] - 4096)
            arrival = file.read(4096)
            require(arrival[:8] == b"FBHERE\r\n" and crc32c(arrival[:4092]) == struct.unpack_from("<I", arrival, 4092)[0], "an arrival")
            arrivals.append(struct.unpack_from("<IIQI", arrival, 8))
    ends = None
    for node, arrival in enumerate(arrivals):
        r = read_node_file(path, show, p["heads_offset"] + node * p["region_bytes"])
        require(arrival == (1, node, snapshot, r["record_crc32c"]), f"arrival of node {node}")
        require((r["snapshot_id"], r["step"], r["node"], r["nodes"], r["version"]) == (snapshot, step, node, nodes, 3), f"region {node}")
        require(all(r[key] == p[key] for key in p), f"places of node {node}")
        require(ends is None or r["begins"] == ends, f"rows of node {node}")
        ends = r["ends"]


def read_combined_file(path, show):
    """Every region by the page, and that each has arrived."""
    with open(path, "rb") as file:
        page = file.read(8192)[4096:]
        magic, version, header = struct.unpack_from("<8sII", page)
        require(len(page) == 4096 and crc32c(page[:4092]) == struct.unpack_from("<I", page, 4092)[0], "checksum of the page")
        require(version == 1, f"version {version}", "unsupported")
        snapshot, step, nodes, per_file, first, count = struct.unpack_from("<QqIIII", page, 16)
        require(header == 2104 and 2 <= count <= per_file <= 256 and first % per_file == 0 and first + count <= nodes, "page")
        offsets = struct.unpack_from(f"<{count + 1}Q", page, 48)
        show(f"combined file: snapshot {snapshot:016x} step {step} nodes {first}-{first + count - 1} of {nodes}, {per_file} a file, "
             f"offsets {compact(list(offsets))}")
        arrivals = []
        for end in offsets[1:]:
            file.seek(end - 4096)
            arrival = file.read(4096)
            require(arrival[:8] == b"FBHERE\r\n" and crc32c(arrival[:4092]) == struct.unpack_from("<I", arrival, 4092)[0], "an arrival")
            arrivals.append(struct.unpack_from("<IIQI", arrival, 8))
    for i, (base, arrival) in enumerate(zip(offsets, arrivals)):
        require(base % 4096 == 0 and offsets[i + 1] - base >= 12288, "offsets")
        r = read_node_file(path, show, base)
        require(arrival == (1, first + i, snapshot, r["record_crc32c"]), f"arrival of node {first + i}")
        require((r["snapshot_id"], r["step"], r["node"]) == (snapshot, step, first + i), f"region {i}")


def read_file(path, show):
    with open(path, "rb") as file:
        page = file.read(8192)[4096:]
    if page[:8] != b"FBMANY\r\n":
        return read_node_file(path, show)
    return (read_shared_file if page[8:12] == b"\x02\0\0\0" else read_combined_file)(path, show)


def check_manifest_line(line, schema, shapes, world_ranks):
    path = line["path"]
    require(path and len(path.encode()) <= 255 and all(p and p[0] != "." for p in path.split("/")), f"path {path!r}")
    compressed = "staged" in line
    require(re.fullmatch("[0-9a-f]{8}", line["record"]) and 0 <= line["data"] and (compressed or line["data"] <= line["bytes"]),
            f"numbers of {path}")
    require(not compressed or re.fullmatch("[0-9a-f]{8}", line["staged"]), f"staged record of {path}")
    end = 0
    for first, count in line["ranks"]:
        require(end <= first and count > 0 and first + count <= world_ranks, f"ranks of {path}")
        end = first + count
    require(end and len(line["rows"]) == len(schema["tables"]) and len(line["bounds"]) == len(shapes), f"lists of {path}")
    require(all(isinstance(n, int) and n >= 0 for n in line["rows"]), f"rows of {path}")
    require(all(b is None or inside(b[0], b[1], s) for b, s in zip(line["bounds"], shapes)), f"bounds of {path}")


def check_lineage(m, text):
    """What version 4 adds, and the checksum of the first two lines."""
    require(re.fullmatch("[0-9a-f]{16}", m["run"]) and isinstance(m["save"], int) and 0 <= m["save"] < 1 << 64, "run and save")
    check_lines(m["lines"])
    end = text.find(b'"head_crc32c":"')
    require(0 < end < 4096 and int(m["head_crc32c"], 16) == crc32c(text[:end]), "checksum of the head")


def check_marks(marks):
    """What is said of the snapshot, in any version."""
    require(isinstance(marks, list) and len(marks) <= 64, "list of marks")
    for mark in marks:
        texts = [mark["analysis"], mark["condition"], mark["result"]]
        require(all(isinstance(t, str) and "\0" not in t and len(t.encode()) <= 1024 for t in texts) and texts[1], "texts of a mark")
        require(mark["value"] in ("nan", "inf", "-inf") or type(mark["value"]) in (int, float), "value of a mark")


def read_manifest(path, show):
    with open(path, "rb") as file:
        text = file.read()
    last = re.fullmatch(rb'"crc32c":"([0-9a-f]{8})"}\n', text[-21:])
    require(last and crc32c(text[:-21]) == int(last[1], 16), "checksum of the manifest")
    try:
        m = json.loads(text.decode("utf-8"))
        require(m["format"] == "forebay manifest", "format")
        require(m["version"] in (1, 2, 3, 4), f"version {m['version']}", "unsupported")
        if m["version"] == 4:
            check_lineage(m, text)
        marks = m.get("marks", [])
        check_marks(marks)
        check_schema(m["schema"])
        shapes = []
        for variable in m["schema"]["variables"]:
            if variable["kind"] == "array" and variable["shape"] not in shapes:
                shapes.append(variable["shape"])
        require(m["shapes"] == shapes and re.fullmatch("[0-9a-f]{16}", m["snapshot_id"]) and isinstance(m["step"], int), "members")
        numbers = [line["node"] for line in m["nodes"]]
        require(numbers and numbers == sorted(set(numbers)) and 0 <= numbers[0] and numbers[-1] < 1 << 20, "node numbers")
        for line in m["nodes"]:
            check_manifest_line(line, m["schema"], shapes, m["world_ranks"])
            line["offset"] = line.get("offset", 0) if m["version"] >= 2 else 0
            require(m["version"] >= 3 or not (m["version"] == 2 and line["offset"] and "staged" in line), f"form of {line['path']}")
            require(isinstance(line["offset"], int) and 0 <= line["offset"] <= 1 << 62 and line["offset"] % 4096 == 0, f"offset of {line['path']}")
    except (ValueError, KeyError, TypeError) as error:
        raise Refused(f"corrupt: {type(error).__name__} {error}") from error
    show(f"manifest: stream {compact(m['schema']['stream'])} snapshot {m['snapshot_id']} step {m['step']} ranks {m['world_ranks']}")
    if m["version"] == 4:
        show(f"run {m['run']} save {m['save']} lines {compact(m['lines'])}")
    for mark in marks:
        show(f"mark {compact([mark[key] for key in ('analysis', 'condition', 'result', 'value')])}")
    for line in m["nodes"]:
        at = f" at {line['offset']}" if line["offset"] else ""
        show(f"node {line['node']} {compact(line['path'])}{at} bytes {line['bytes']} data {line['data']} record {line['record']} "
             f"ranks {compact(line['ranks'])} rows {compact(line['rows'])} bounds {compact(line['bounds'])}")
        file = os.path.join(os.path.dirname(path), line["path"])
        if os.path.exists(file):
            r = read_node_file(file, lambda text: None, line["offset"])
            same = (f"{r['snapshot_id']:016x}", f"{r['record_crc32c']:08x}", r["file_bytes"]) == (m["snapshot_id"], line["record"], line["bytes"])
            require(same, f"{line['path']} is not the committed file")


def main(arguments):
    quiet = "--quiet" in arguments
    paths = [a for a in arguments if a != "--quiet"]
    if not paths:
        sys.exit(__doc__)
    good = True
    for path in paths:
        try:
            reader = read_manifest if path.endswith(".json") else read_file
            reader(path, (lambda text: None) if quiet else print)
        except (Refused, OSError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
