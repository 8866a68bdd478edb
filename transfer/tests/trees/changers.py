"""Threads that change a source while it is copied or archived, and what a copy of it may hold then.
"""

import os
import random
import threading
import time

from forebay_test import expect

PIECE = 4096
# A copy begins 30 ms after the last change by the clock of the kernel. This clock is late by at most 10 ms.
# If a writer stops for longer in the middle of a call, nobody can see it.
STALL_SECONDS = 0.02
# After the long pauses a copy begins, and the next change comes in the middle of the copy.
SHORT_PAUSE, LONG_PAUSE = 0.002, 0.05


class Changers:
    """Threads that change the source until they are told to end."""

    def __init__(self, source):
        self.source, self.ending = source, threading.Event()
        self.generation = 1
        self.stalled = set()  # versions in whose middle their writer had to wait
        self.sizes = {name: (source / name).stat().st_size // PIECE * PIECE for name in ("rewritten", "cut")}
        for name in self.sizes:
            self.write(name, self.sizes[name])
        self.unlinked = set()
        self.threads = [threading.Thread(target=self.repeat, args=(act,)) for act in (self.rewrite, self.append, self.cut, self.unlink)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        for thread in self.threads:
            thread.join()

    def repeat(self, act):
        while not self.ending.is_set():
            act()
            time.sleep(SHORT_PAUSE if act == self.unlink else random.choice((SHORT_PAUSE, LONG_PAUSE)))

    def write(self, name, size):
        """All pieces of a version have its number and its size. A small file is written by one call."""
        self.generation += 1
        generation = self.generation
        piece = generation.to_bytes(8, "little") + size.to_bytes(8, "little")
        pieces = size // PIECE if name == "rewritten" else 1
        text = piece * (size // len(piece) // pieces)
        with open(self.source / name, "r+b", buffering=0) as file:
            began = time.monotonic()
            for _ in range(pieces):
                file.write(text)
        if name == "cut" and time.monotonic() - began > STALL_SECONDS:
            self.stalled.add(generation)

    def versions(self, name):
        """How many bytes it has, at one time or another."""
        full = self.sizes[name]
        return (full // 2 // PIECE * PIECE, full) if name == "cut" else (full,)

    def rewrite(self):
        self.write("rewritten", self.sizes["rewritten"])

    def append(self):
        with open(self.source / "growing.log", "ab", buffering=0) as file:
            file.write(b"a line of the log\n" * 50)

    def cut(self):
        for size in self.versions("cut"):
            os.truncate(self.source / "cut", size)
            self.write("cut", size)

    def unlink(self):
        names = sorted(path.name for path in (self.source / "unlinked").iterdir())
        if names:
            (self.source / "unlinked" / names[-1]).unlink()
            self.unlinked.add(f"unlinked/{names[-1]}")


def is_whole(path, sizes):
    """What the file was between two writes: one version, all of it; or that cut to another of `sizes`, or grown by zeros,
    which it stays for as long as the thread that changes it has to wait."""
    data = path.read_bytes()
    size = int.from_bytes(data[8:16], "little")
    kept = min(size, len(data), *sizes) if len(data) != size else size
    return len(data) in sizes and data == data[:16] * (kept // 16) + bytes(len(data) - kept) or \
        len(data) in sizes and data == data[:16] * (len(data) // 16)


def told(report):
    """The paths that the report names, with what it says of them."""
    return {one["path"]: one["kind"] for one in report["first"]}


def check_versions(changers, source, target, remarks, first_log):
    """Each file of the target is a version of the source's, whole, or is told and not there; gives how many vanished."""
    for name in ("rewritten", "cut"):
        copy = target / name
        sizes = changers.versions(name)
        newest = int.from_bytes(copy.read_bytes()[:8], "little") if copy.exists() else None
        expect(newest is None or newest in changers.stalled or is_whole(copy, sizes), f"{name} is one version, or is not there", str(remarks))
        expect(copy.exists() or name in remarks, f"{name} is told where it is not there", str(remarks))
    log = target / "growing.log"
    if log.exists():
        grown = log.read_bytes()
        expect(grown.startswith(first_log) and (source / "growing.log").read_bytes().startswith(grown), "the log is what it was once")
        expect((len(grown) - len(first_log)) % (18 * 50) == 0, "the log ends where a write ended")
    expect(log.exists() or "growing.log" in remarks, "the log is told where it is not there", str(remarks))
    for path in (source / "kept").iterdir():
        expect((target / "kept" / path.name).read_bytes() == path.read_bytes(), f"kept/{path.name} is copied, whatever else happens")
    missing = {name for name in changers.unlinked if not (target / name).exists()}
    for name in set(remarks) - {"rewritten", "cut", "growing.log"}:
        expect(name in missing, f"{name}, which is told, has vanished", str(remarks))
    left = [path.name for path in target.iterdir() if path.name not in ("rewritten", "cut", "growing.log", "kept", "unlinked")]
    expect(not left, f"no temporaries are left: {left}")
    return len(missing)
