"""The second small tree: what few tools keep, each thing once.

Extended attributes of the kernel are written as the bytes that it stores, so that no program of others is needed: an ACL
is its version and entries of tag, permissions and id; a capability is a revision with an effective flag and two words
each of what is permitted and inheritable.
"""

import os
import stat
import struct

YEAR_1960, YEAR_2100 = -315_619_200 * 10**9 + 123_456_789, 4_102_444_800 * 10**9 + 987_654_321
ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
CAPABILITY = "security.capability"
OWNER, USER, GROUP_OWNER, GROUP, MASK, OTHER = 1, 2, 4, 8, 16, 32
GIB = 1 << 30


def acl(*entries):
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def some_acl(user, permissions):
    none = 0xFFFFFFFF
    return acl((OWNER, 7, none), (USER, permissions, user), (GROUP_OWNER, 5, none), (GROUP, 4, 1001), (MASK, 7, none), (OTHER, 0, none))


def capability(permitted, inheritable=0):
    return struct.pack("<IIIII", 0x02000000 | 1, permitted, inheritable, 0, 0)


def security(maker):
    """ACLs on entries and as a default, below which a copy must not inherit it; capabilities, which chown clears."""
    owner = (1000, 1001) if maker.root else None
    maker.file("acl-file", 100, owner=owner, mode=0o770, xattrs={ACCESS: some_acl(1000, 6)})
    maker.directory("acl-directory", owner=owner, mode=0o770, xattrs={ACCESS: some_acl(1000, 7)})
    maker.directory("acl-default", owner=owner, mode=0o750, xattrs={DEFAULT: some_acl(5000, 5)})
    with open(maker.path("acl-default/plain"), "xb") as file:  # inherits an ACL, and is freed of it
        file.write(b"without an ACL\n")
    maker.attempt("ACL", os.removexattr, maker.path("acl-default/plain"), ACCESS)
    maker.finish("acl-default/plain", mode=0o640, owner=owner, ns=maker.ns())
    maker.directory("acl-default/below", mode=0o700)
    for key in (ACCESS, DEFAULT):
        maker.attempt("ACL", os.removexattr, maker.path("acl-default/below"), key)
    if maker.root:
        maker.file("capable", 5000, owner=(1000, 1001), mode=0o755, xattrs={CAPABILITY: capability(1 << 13)})
        maker.file("capable-of-root", 5000, mode=0o755, xattrs={CAPABILITY: capability(1 << 10, 1 << 10)})
        maker.file("trusted", 10, xattrs={"trusted.note": b"of root"})
        maker.directory("trusted-directory", xattrs={"trusted.note": b"of root", "user.note": b"of all"})
        maker.symlink("trusted-symlink", "acl-file", xattrs={"trusted.note": b"of a link"})
    else:
        maker.left_out["capabilities and trusted xattrs: only root sets them"] += 1
    maker.file("xattr-large", 1, xattrs={"user.large": bytes(range(256)) * 8, "user.empty": b"", "user." + "n" * 250: b"long name"})


def nodes(maker):
    """Devices, and hard links of all that is no plain file."""
    maker.special("null", stat.S_IFCHR, os.makedev(1, 3), mode=0o666)
    maker.special("loop-device", stat.S_IFBLK, os.makedev(7, 99), mode=0o640, owner=(0, 5000) if maker.root else None)
    maker.special("fifo", stat.S_IFIFO, mode=0o602)
    maker.special("socket", stat.S_IFSOCK, mode=0o755)
    maker.symlink("symlink", "x" * 1000)
    maker.directory("links")
    for name in ("null", "fifo", "socket", "symlink", "acl-file"):
        if os.path.lexists(maker.path(name)):
            maker.link(f"links/{name}", name)


def names(maker):
    """Names of 255 bytes and names that are no UTF-8, of every kind of entry; names as those of temporary files."""
    maker.directory(b"l" * 255)
    long = [b"n" * 255, "ü".encode() * 127 + b"x", b"l" * 255 + b"/" + b"m" * 255]
    for name in [*long, b"\xff\xfe\x80", b"\xc3", b"\xf0\x28\x8c\x28" * 63]:
        maker.file(name, 30)
    maker.directory(b"dir-\xe9\xff")
    maker.file(b"dir-\xe9\xff/file-\xa0", 10)
    maker.symlink(b"symlink-\xfe", b"target-\xff\n")
    maker.special(b"fifo-\xfe" + b"f" * 249, stat.S_IFIFO)
    for name in (".big1.AbCdEf", "x.partial", "x.part", "x.tmp", ".x.swp", "forebay.journal", ".forebay", "...", "..a", ".hidden"):
        maker.file(name, 3)


def holes(maker, factor):
    size = round(5 * GIB * factor) // 4096 * 4096
    maker.sparse("hole-5-gib", size + 12345, [(0, 4096), (size, 4096)])
    maker.sparse("only-a-hole", 3 << 20, [])
    maker.sparse("hole-at-end", 8 << 20, [(0, 1 << 20)])
    maker.sparse("hole-at-begin", 8 << 20, [(7 << 20, 1 << 20)])
    maker.sparse("comb", 8 << 20, [(at << 16, 4096) for at in range(0, 128, 2)])


def times_and_modes(maker):
    owner = (0, 1001) if maker.root else None
    for name, ns in (("year-1960", YEAR_1960), ("year-2100", YEAR_2100), ("epoch", 0), ("before-epoch", -1)):
        maker.file(name, 20, ns=ns)
        maker.directory(f"{name}.d", ns=ns)
        maker.symlink(f"{name}.l", name, ns=ns)
    maker.directory("set-group", mode=0o2775, owner=owner)  # what is made in it gets its group, unless it is told another
    maker.file("set-group/other-group", 10, owner=(1000, 5000) if maker.root else None)
    maker.directory("set-group/plain-directory", mode=0o755, owner=(1000, 5000) if maker.root else None)
    maker.directory("sticky", mode=0o1777)
    maker.directory("empty")
    maker.file("all-bits", 1, mode=0o6711)
    if maker.root:
        maker.file("no-bits", 100, mode=0)
        maker.directory("no-bits.d", mode=0)
        maker.file("no-bits.d/file", 5)
    maker.symlink("to-itself", "to-itself")
    maker.symlink("to-parent", "..")
    maker.symlink("absolute", "/dev/null")
    maker.symlink("to-directory", "set-group", owner=(5000, 5000) if maker.root else None)


def fill(maker, factor=1):
    """A factor makes the hole of 5 GiB smaller, and nothing else."""
    security(maker)
    nodes(maker)
    names(maker)
    holes(maker, factor)
    times_and_modes(maker)
