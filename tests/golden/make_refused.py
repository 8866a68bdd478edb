#!/usr/bin/env python3
"""How tests/golden/refuse was made from tests/golden/v1, v3 and v4: one damage a file. Kept to be read; the files are not made again.

A file's name begins with the kind of error that every reader must answer with.
"""

import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools" / "readers"))
from read_node_file import crc32c  # noqa: E402

REFUSE = HERE / "refuse"
FIELD = (HERE / "v1" / "field.h5").read_bytes()
MANIFEST = (HERE / "v1" / "snapshot" / "manifest.json").read_bytes()
SHARED = (HERE / "v3" / "snapshot" / "shared.h5").read_bytes()
SHARED_MANIFEST = (HERE / "v3" / "snapshot" / "manifest.json").read_bytes()
LINED = (HERE / "v4" / "snapshot" / "node-00000.h5").read_bytes()
LINED_MANIFEST = (HERE / "v4" / "snapshot" / "manifest.json").read_bytes()
RECORD = 4096


def u64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


EXTENTS, INDEX, SCHEMA = u64(FIELD, RECORD + 136), u64(FIELD, RECORD + 152), u64(FIELD, RECORD + 104)
DATA = u64(FIELD, EXTENTS)


def fix_record(data):
    struct.pack_into("<I", data, 8188, crc32c(data[4096:8188]))


def fix_head(data):
    end = u64(data, RECORD + 72)
    struct.pack_into("<I", data, RECORD + 60, crc32c(data[8192:end], crc32c(data[:4096])))
    fix_record(data)


def bit(name, at):
    data = bytearray(FIELD)
    data[at] ^= 1
    (REFUSE / name).write_bytes(data)


def number(name, at, value, letter="Q", fix=fix_head):
    data = bytearray(FIELD)
    struct.pack_into("<" + letter, data, at, value)
    fix(data)
    (REFUSE / name).write_bytes(data)


def text(name, at, replacement):
    data = bytearray(FIELD)
    data[at:at + len(replacement)] = replacement
    fix_head(data)
    (REFUSE / name).write_bytes(data)


def manifest(name, what, by, *others):
    changed = MANIFEST[:-21]
    for old, new in ((what, by), *others):
        assert old in changed
        changed = changed.replace(old, new)
    (REFUSE / name).write_bytes(changed + b'"crc32c":"%08x"}\n' % crc32c(changed))


def node_files():
    bit("corrupt-record.h5", RECORD + 24)
    bit("corrupt-head.h5", SCHEMA + 20)
    bit("corrupt-data.h5", DATA + 5)
    bit("corrupt-magic.h5", RECORD)
    (REFUSE / "corrupt-truncated-head.h5").write_bytes(FIELD[:9000])
    (REFUSE / "corrupt-truncated-data.h5").write_bytes(FIELD[:DATA + 50])
    (REFUSE / "missing-never-sealed.h5").write_bytes(FIELD[:RECORD] + bytes(8) + FIELD[RECORD + 8:])
    (REFUSE / "missing-reserved.h5").write_bytes(bytes(8192))
    (REFUSE / "refused-text.h5").write_bytes(b"This is no node file.\n" * 500)
    (REFUSE / "refused-short.h5").write_bytes(FIELD[:5000])
    (REFUSE / "refused-other-hdf5.h5").write_bytes(FIELD[:RECORD] + b"\x07" * 4096 + FIELD[8192:])
    # Right checksums, wrong content.
    number("unsupported-version-99.h5", RECORD + 8, 99, "I", fix_record)
    number("corrupt-node-number.h5", RECORD + 48, 1, "I", fix_record)
    number("corrupt-file-bytes.h5", RECORD + 64, 1 << 63, fix=fix_record)
    number("corrupt-block-count.h5", RECORD + 160, 1 << 60, fix=fix_record)
    number("corrupt-extents-overlap.h5", EXTENTS + 32, DATA)
    number("corrupt-block-gap.h5", INDEX + 192 + 16, u64(FIELD, INDEX + 192 + 16) + 8)
    number("corrupt-box-outside.h5", INDEX + 6 * 8, 3)
    number("corrupt-box-overflow.h5", INDEX + 7 * 8, 1 << 62)
    number("corrupt-foreign-rank.h5", INDEX + 8, 7)
    number("corrupt-segment-number.h5", INDEX + 4 * 8, 1 << 63)
    text("corrupt-schema.h5", SCHEMA, b"[")
    text("corrupt-name.h5", FIELD.index(b'"rho"', SCHEMA), b'"a/."')


def lines():
    """The lines of a run: [1,0,-1], [3,0,300], [5,1,412]."""
    for name, at, value, letter in (("count", 2352, 33, "I"), ("order", 2360 + 16, 1, "I"), ("from", 2360 + 24, -2, "q")):
        data = bytearray(LINED)
        struct.pack_into("<" + letter, data, RECORD + at, value)
        fix_record(data)
        (REFUSE / f"corrupt-lines-{name}.h5").write_bytes(data)
    for name, old, new in (("order", b"[1,0,-1],[3,0,300]", b"[3,0,300],[1,0,-1]"), ("from", b"[1,0,-1]", b"[1,0,-2]"),
                           ("session", b"[1,0,-1]", b"[0,0,-1]"), ("run", b'"run":"5eed', b'"ran":"5eed')):
        changed = LINED_MANIFEST[:-21].replace(old, new)
        assert changed != LINED_MANIFEST[:-21]
        head = changed[:changed.index(b'"head_crc32c":"')]
        changed = head + b'"head_crc32c":"%08x"' % crc32c(head) + changed[len(head) + 24:]
        (REFUSE / f"corrupt-lines-{name}.json").write_bytes(changed + b'"crc32c":"%08x"}\n' % crc32c(changed))
    changed = LINED_MANIFEST[:-21].replace(b'"step":120', b'"step":121')
    (REFUSE / "corrupt-lines-head.json").write_bytes(changed + b'"crc32c":"%08x"}\n' % crc32c(changed))


def manifests():
    (REFUSE / "corrupt-cut.json").write_bytes(MANIFEST[:-40])
    (REFUSE / "corrupt-no-newline.json").write_bytes(MANIFEST[:-1])
    (REFUSE / "corrupt-edited.json").write_bytes(MANIFEST.replace(b'"step":120', b'"step":121'))
    (REFUSE / "corrupt-empty.json").write_bytes(b"")
    manifest("unsupported-version-99.json", b'"version":1', b'"version":99')
    manifest("corrupt-offset.json", b'"version":1,\n', b'"version":2,\n', (b'node-00001.h5"', b'node-00001.h5","offset":100'))
    manifest("corrupt-path.json", b'"node-00001.h5"', b'"../node-1.h5"')
    manifest("corrupt-order.json", b'"node":1', b'"node":0')
    manifest("corrupt-bounds.json", b"[[4,0],[6,4]]", b"[[4,0],[7,4]]")
    manifest("corrupt-rows.json", b'"rows":[90]', b'"rows":[]')
    manifest("corrupt-ranks.json", b"[[2,3]]", b"[[2,4]]")
    manifest("corrupt-shapes.json", b'"shapes":[[10,4],[8]]', b'"shapes":[[10,4],[9]]')
    nodes = MANIFEST[MANIFEST.index(b"[\n") + 1:MANIFEST.index(b"\n],") + 1]
    manifest("corrupt-no-nodes.json", nodes, b"\n")


def shared_file(name, change):
    data = bytearray(SHARED)
    change(data)
    (REFUSE / name).write_bytes(data)


def in_page(at, value, letter="Q"):
    def change(data):
        struct.pack_into("<" + letter, data, RECORD + at, value)
        fix_record(data)
    return change


def in_region(node, place, value):
    """A u64 of the head of a region, at place(head), with right checksums."""
    def change(data):
        begin = u64(data, RECORD + 40) + node * u64(data, RECORD + 48)
        head = data[begin:begin + u64(data, begin + RECORD + 72)]
        struct.pack_into("<Q", head, place(head), value)
        fix_head(head)
        data[begin:begin + len(head)] = head
    return change


def shared_files():
    shared_file("unsupported-shared-page.h5", in_page(8, 99, "I"))
    shared_file("corrupt-shared-heads.h5", in_page(40, 4096))
    shared_file("corrupt-shared-end.h5", in_page(64, 1 << 62))
    shared_file("corrupt-shared-place.h5", in_region(1, lambda head: u64(head, RECORD + 136) + 24, len(SHARED) - 64))
    shared_file("corrupt-shared-in-head.h5", in_region(1, lambda head: u64(head, RECORD + 136) + 24, 8192))
    shared_file("corrupt-shared-room.h5", in_region(0, lambda head: RECORD + 2304, 12288))

    def flip(data):
        data[len(data) - 3000] ^= 1
    shared_file("corrupt-shared-data.h5", flip)
    changed = SHARED_MANIFEST[:-21].replace(b'"version":3,', b'"version":2,')
    (REFUSE / "corrupt-shared-version.json").write_bytes(changed + b'"crc32c":"%08x"}\n' % crc32c(changed))


if __name__ == "__main__":
    REFUSE.mkdir(exist_ok=True)
    node_files()
    manifests()
    lines()
    shared_files()
