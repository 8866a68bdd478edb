"""Walks two trees side by side, and reads what the system says of each entry, by calls of the system alone.

No path is longer than a name: each directory is opened from within the one above, so a depth of 4,000 is read too.
"""

import errno
import os
import resource
import stat
from dataclasses import dataclass, field

ACLS = (b"system.posix_acl_access", b"system.posix_acl_default")
CAPABILITY = b"security.capability"
READ_BYTES = 1 << 20


@dataclass
class Seen:
    """An entry of one tree."""
    stat: os.stat_result
    target: bytes | None = None  # of a symlink
    xattrs: dict = field(default_factory=dict)

    @property
    def kind(self):
        return stat.S_IFMT(self.stat.st_mode)


@dataclass
class Pair:
    """One name in both trees; a side where it is missing is None. `equal_bytes` is of regular files on both sides."""
    path: bytes
    left: Seen | None
    right: Seen | None
    equal_bytes: bool | None = None


def xattrs_of(parent, name):
    """By a path through the descriptor of the parent: the calls take no descriptor of their own."""
    path = b"/proc/self/fd/%d/%s" % (parent, name)
    try:
        keys = os.listxattr(path, follow_symlinks=False)
    except OSError as problem:
        if problem.errno in (errno.ENOTSUP, errno.EACCES):
            return {}
        raise
    return {os.fsencode(key): os.getxattr(path, key, follow_symlinks=False) for key in keys if not key.startswith("security.selinux")}


def seen(parent, name):
    if parent is None:
        return None
    try:
        found = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None
    target = os.readlink(name, dir_fd=parent) if stat.S_ISLNK(found.st_mode) else None
    return Seen(found, target, xattrs_of(parent, name))


def data_at(fd, offset, size):
    """The next (begin, end) of data at or after an offset; (size, size) where there is only a hole."""
    try:
        begin = os.lseek(fd, offset, os.SEEK_DATA)
        return begin, os.lseek(fd, begin, os.SEEK_HOLE)
    except OSError as problem:
        if problem.errno == errno.ENXIO:
            return size, size
        raise


def same_bytes(left, right, size):
    """Compares two files, of which what is a hole in both needs no reading."""
    at = 0
    while at < size:
        begin = min(data_at(left, at, size)[0], data_at(right, at, size)[0])
        if begin >= size:
            return True
        at = begin - begin % 4096
        count = min(READ_BYTES, size - at)
        if os.pread(left, count, at) != os.pread(right, count, at):
            return False
        at += count
    return True


def equal_files(left_parent, right_parent, name, left, right):
    if left.stat.st_size != right.stat.st_size:
        return False
    fds = []
    try:
        for parent in (left_parent, right_parent):
            fds.append(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent))
        return same_bytes(*fds, left.stat.st_size)
    finally:
        for fd in fds:
            os.close(fd)


def opened(parent, name, entry):
    if entry is None or entry.kind != stat.S_IFDIR:
        return None
    return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)


def names_in(*fds):
    return sorted({os.fsencode(name) for fd in fds if fd is not None for name in os.listdir(fd)}, reverse=True)


def raise_limit():
    """A directory at each level stays open on both sides."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def walk(left_top, right_top):
    """Yields a Pair for each entry of either tree, the tops first, as ".". """
    raise_limit()
    tops = [os.open(top, os.O_RDONLY | os.O_DIRECTORY) for top in (left_top, right_top)]
    yield Pair(b".", seen(tops[0], b"."), seen(tops[1], b"."))
    levels = [(*tops, b"", names_in(*tops))]  # descriptors, path, names that are still to be looked at
    while levels:
        left_fd, right_fd, path, names = levels[-1]
        if not names:
            for fd in (left_fd, right_fd):
                if fd is not None:
                    os.close(fd)
            levels.pop()
            continue
        name = names.pop()
        pair = Pair(path + name, seen(left_fd, name), seen(right_fd, name))
        if pair.left and pair.right and pair.left.kind == pair.right.kind == stat.S_IFREG:
            pair.equal_bytes = equal_files(left_fd, right_fd, name, pair.left, pair.right)
        yield pair
        below = opened(left_fd, name, pair.left), opened(right_fd, name, pair.right)
        if below != (None, None):
            levels.append((*below, path + name + b"/", names_in(*below)))
