"""Heads of tar, made by tests alone: what no program would write, too."""

BLOCK = 512
END = bytes(2 * BLOCK)


def whole(data):
    return data + bytes(-len(data) % BLOCK)


def block(name, kind=b"0", size=0, mode=b"0000644\0", user=b"0000000\0", modified=b"%011o\0" % 1_000_000_000):
    """`size` may be the bytes of the field, as the others are."""
    head = bytearray(BLOCK)
    size = size if isinstance(size, bytes) else b"%011o\0" % size
    for at, field in ((0, name.encode()), (100, mode), (108, user), (116, b"0000000\0"), (124, size), (136, modified), (148, b" " * 8),
                      (156, kind), (257, b"ustar\0" + b"00")):
        head[at : at + len(field)] = field
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head)


def records(kind, *pairs):
    data = b""
    for key, value in pairs:
        body = b" " + key + b"=" + value + b"\n"
        size = len(body) + 1
        while size != len(body) + len(str(size)):
            size = len(body) + len(str(size))
        data += str(size).encode() + body
    return block("records", kind, len(data)) + whole(data)
