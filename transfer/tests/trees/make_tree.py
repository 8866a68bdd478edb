#!/usr/bin/env python3
"""Makes trees of files that movers are tested and measured with. The same seed makes the same tree.

    transfer/tests/trees/make_tree.py TREE DIRECTORY [--factor F] [--seed N]

T1 has 100,000 entries of every kind in 2,000 directories; TS 5,000 in 100; TP 100,000 plain files; T2 large files; T3
both; special what few file systems and few tools keep; kill and change what movers are killed in, and what changes under
them; many 1,000,000 files in one directory; deep 4,000 directories in one another; empty 1,000,000 empty files in 1,000
directories. A factor makes less or more of it. Root makes all of it; of an ordinary user, the line at the end says what
is left out.
"""

import argparse
import math
import os
import stat
import sys

import special
from maker import ODD, SEED, Maker

MIB = 1 << 20
SIZE_MEDIAN, SIZE_SIGMA, SIZE_MAX = 4096, 1.4, 64 << 10
SPARSE_MAX, SPECIALS_MAX = 200, 20
OWNERS = [0, 1000, 1001, 5000, 65534]
MODES = [0o644] * 10 + [0o600, 0o640, 0o755, 0o755, 0o444, 0o400, 0o777, 0o4755, 0o2755, 0o664]
DIRECTORY_MODES = [0o755] * 12 + [0o700, 0o750, 0o555, 0o1777, 0o2775]


def scaled(count, factor, least=1):
    return max(least, round(count * factor))


class Mixed:
    """The recipe of T1, TS and T3: `entries` of all kinds in `directories`."""

    def __init__(self, maker, entries, directories, plain=False):
        self.maker, self.chance = maker, maker.chance
        self.serial, self.plain = 0, plain
        self.directories = [""]
        specials = 0 if plain else min(SPECIALS_MAX, entries // 50)
        symlinks = 0 if plain else entries * 3 // 100
        links = 0 if plain else entries // 10
        files = entries - 2 * specials - symlinks - links
        sparse = 0 if plain else min(SPARSE_MAX, files // 20)
        self.make_directories(directories)
        names = [self.file() for _ in range(files - sparse)] + [self.sparse() for _ in range(sparse)]
        for _ in range(links):
            maker.link(self.name("hard"), self.chance.choice(names))
        for number in range(symlinks):
            self.symlink(names, dangling=number % 3 == 0)
        for _ in range(specials):
            maker.special(self.name("fifo"), stat.S_IFIFO, **self.given())
            maker.special(self.name("socket"), stat.S_IFSOCK, **self.given())

    def name(self, kind):
        """A new name in some directory; 2 % are odd."""
        self.serial += 1
        last = f"{kind}-{self.serial:06d}"
        if not self.plain and self.chance.random() < 0.02:
            odd = self.chance.choice(ODD)
            last = f"{self.serial}{odd}" if odd.endswith(" ") else f"{odd}{self.serial}"
        return os.path.join(self.chance.choice(self.directories), last)

    def owner(self):
        return self.chance.choice(OWNERS), self.chance.choice(OWNERS)

    def xattrs(self):
        if self.plain or self.chance.random() >= 0.05:
            return {}
        return {"user.origin": b"run 7", "user.noise": self.chance.randbytes(self.chance.randrange(64))}

    def given(self, modes=None):
        """Mode and owner; root can read what has no mode at all, an ordinary user is spared it."""
        if self.plain:
            return {}
        mode = self.chance.choice(modes or MODES + ([0o000] if self.maker.root else []))
        return {"mode": mode, "owner": self.owner() if self.maker.root else None}

    def make_directories(self, count):
        for number in range(count):
            parent = self.chance.choice(self.directories[-200:])
            if parent.count("/") > 6:
                parent = ""
            odd = ODD[number % len(ODD)] if not self.plain and self.chance.random() < 0.02 else "d"
            name = os.path.join(parent, f"{odd}{number:04d}")
            self.maker.directory(name, xattrs=self.xattrs(), **self.given(DIRECTORY_MODES))
            self.directories.append(name)

    def file(self):
        size = min(SIZE_MAX, int(self.chance.lognormvariate(math.log(SIZE_MEDIAN), SIZE_SIGMA)))
        name = self.name("file")
        self.maker.file(name, 0 if self.chance.random() < 0.02 else size, xattrs=self.xattrs(), **self.given())
        return name

    def sparse(self):
        name = self.name("sparse")
        self.maker.sparse(name, MIB, [(4096 * self.chance.randrange(256), 4096)], xattrs=self.xattrs(), **self.given())
        return name

    def symlink(self, names, dangling):
        name = self.name("symlink")
        target = f"missing/{self.serial}" if dangling else os.path.relpath(self.chance.choice(names), os.path.dirname(name) or ".")
        self.maker.symlink(name, target, owner=self.owner() if self.maker.root else None)


def large(maker, name, mib, factor):
    maker.file(name, scaled(mib * MIB, factor))


def t1(maker, factor):
    Mixed(maker, scaled(100_000, factor), scaled(2_000, factor))


def ts(maker, factor):
    Mixed(maker, scaled(5_000, factor), scaled(100, factor))


def tp(maker, factor):
    Mixed(maker, scaled(100_000, factor), scaled(2_000, factor), plain=True)


def t2(maker, factor):
    for number in range(8):
        large(maker, f"large-{number}", 512, factor)


def t3(maker, factor):
    Mixed(maker, scaled(20_000, factor), scaled(400, factor))
    for number in range(16):
        large(maker, f"large-{number}", 32, factor)
    large(maker, "largest", 2048, factor)


def kill(maker, factor):
    maker.directory("small")
    for number in range(scaled(2_000, factor)):
        maker.file(f"small/{number:04d}", 1 + maker.chance.randrange(16 << 10))
    for number in range(4):
        large(maker, f"large-{number}", 256, factor)


def change(maker, factor):
    large(maker, "rewritten", 192, factor)
    maker.file("growing.log", 4096)
    large(maker, "cut", 16, factor)
    for name in ("unlinked", "kept"):
        maker.directory(name)
        for number in range(scaled(1_000, factor, 100)):
            maker.file(f"{name}/{number:04d}", 1 + maker.chance.randrange(8 << 10))


def many(maker, factor):
    maker.directory("one")
    maker.made["files"] = scaled(1_000_000, factor)
    for number in range(maker.made["files"]):
        os.close(os.open(maker.path(f"one/{number:07d}"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))


def empty(maker, factor):
    directories = scaled(1_000, math.sqrt(factor))
    each = scaled(1_000_000, factor) // directories
    maker.made["files"] = each * directories
    for one in range(directories):
        maker.directory(f"{one:05d}")
        for number in range(each):
            os.close(os.open(maker.path(f"{one:05d}/{number:05d}"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))


def deep(maker, factor):
    """A path far longer than any call of the system takes: each directory is made from within the one above."""
    maker.made["directories"] = scaled(4_000, factor)
    at = os.open(maker.top, os.O_RDONLY)
    for level in range(scaled(4_000, factor)):
        os.mkdir(f"d{level}", dir_fd=at)
        below = os.open(f"d{level}", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
        if level % 100 == 0:
            file = os.open("file", os.O_CREAT | os.O_WRONLY, 0o640, dir_fd=at)
            os.write(file, f"{level}\n".encode())
            os.close(file)
    os.symlink("nowhere", "last", dir_fd=at)
    os.close(at)


TREES = {"T1": t1, "TS": ts, "TP": tp, "T2": t2, "T3": t3, "special": special.fill, "kill": kill, "change": change, "many": many,
         "deep": deep, "empty": empty}


def make(tree, directory, factor=1.0, seed=SEED):
    """Makes a tree in a new or empty directory; gives the maker, which has counted."""
    maker = Maker(directory, seed)
    if os.listdir(maker.top):
        raise SystemExit(f"make_tree: {os.fsdecode(maker.top)} is not empty. Next: name a new directory")
    old = os.umask(0)
    try:
        TREES[tree](maker, factor)
        maker.close()
    finally:
        os.umask(old)
    return maker


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", choices=TREES)
    parser.add_argument("directory")
    parser.add_argument("--factor", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    maker = make(given.tree, given.directory, given.factor, given.seed)
    print(f"{given.tree} in {given.directory}: " + ", ".join(f"{count} {what}" for what, count in sorted(maker.made.items())))
    for what, count in sorted(maker.left_out.items()):
        print(f"left out {count} times, {what}")


if __name__ == "__main__":
    sys.exit(main())
