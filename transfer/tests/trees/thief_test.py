"""Goal: symlinks that others plant while root copies, syncs, compares or deletes their trees lead nowhere: nothing outside of
the trees is read, written or removed.

Method: a thief exchanges directories of the source, of the target and of what is deleted with symlinks to directories
outside, as fast as he can, while the program runs again and again. What is outside must stay as it was, and its secret
must not come to the target.
"""

import ctypes
import os
import pathlib
import subprocess
import tempfile
import threading
import time

import make_tree
from forebay_test import FOREBAY, SECONDS_MAX, expect

RUNS = int(os.environ.get("FOREBAY_THEFTS", "12"))
EXCHANGE = 2  # RENAME_EXCHANGE
AT_FDCWD = -100
SECRET = b"a secret of root"
LIBC = ctypes.CDLL(None, use_errno=True)


class Thief(threading.Thread):
    """Exchanges each of some directories with a symlink beside it, as long as he is let."""

    def __init__(self, directories, outside):
        super().__init__(daemon=True)
        self.pairs = []
        for directory in directories:
            link = directory.with_name(directory.name + ".link")
            if not os.path.lexists(link):
                link.symlink_to(outside)
            self.pairs.append((os.fsencode(directory), os.fsencode(link)))
        self.ending, self.exchanges = False, 0

    def run(self):
        while not self.ending:
            for one, other in self.pairs:
                self.exchanges += LIBC.renameat2(AT_FDCWD, one, AT_FDCWD, other, EXCHANGE) == 0
            time.sleep(0)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ending = True
        self.join()


def run(*words):
    """Whatever the exit code: a directory that is a symlink now has changed, which is told or not. No crash, though."""
    done = subprocess.run([str(word) for word in (FOREBAY, *words)], capture_output=True, text=True, errors="replace", check=False,
                          stdin=subprocess.DEVNULL, timeout=SECONDS_MAX)
    expect(0 <= done.returncode < 10, f"{words} ends by itself, not by {done.returncode}", done.stderr)


def stolen(target):
    """Files at the target, not by way of symlinks, that hold the secret."""
    return [path for folder, _, files in os.walk(target) for path in (os.path.join(folder, name) for name in files)
            if os.path.isfile(path) and not os.path.islink(path) and SECRET in pathlib.Path(path).read_bytes()]


class Outside:
    """A directory of root with a secret, of which is known what it holds."""

    def __init__(self, place):
        self.place = place
        (place / "below").mkdir(parents=True)
        for name in ("secret", "below/secret", "0000", "file"):
            (place / name).write_bytes(SECRET)
        self.seen = self.look()

    def look(self):
        return sorted((str(path), path.lstat().st_mode, path.lstat().st_uid, path.lstat().st_size, path.lstat().st_mtime_ns)
                      for path in [self.place, *self.place.rglob("*")])

    def expect_same(self, what):
        expect(self.look() == self.seen, f"{what} leaves what is outside as it was", f"{self.seen}\n{self.look()}")


def mixed(place):
    """A tree of many small directories, so that the thief often comes between a look and a use."""
    maker = make_tree.Maker(place)
    for number in range(40):
        maker.directory(f"d{number:02d}/below")
        for name in ("0000", "file", "below/other"):
            maker.file(f"d{number:02d}/{name}", 5000)
    maker.close()
    return place


def directories_of(place):
    return [path for path in sorted(place.iterdir()) if path.is_dir() and not path.is_symlink() and path.name.startswith("d")]


def main():
    exchanges = 0
    with tempfile.TemporaryDirectory(prefix="forebay-thief-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        outside = Outside(place / "outside")
        plain = mixed(place / "plain")
        for number in range(RUNS):
            source, target = mixed(place / f"source-{number}"), place / f"target-{number}"
            with Thief(directories_of(source), outside.place) as thief:
                run("copy", source, target, "--threads", 2)
            exchanges += thief.exchanges
            expect(not stolen(target), f"copy {number} takes nothing from outside: {stolen(target)}")
            run("sync", plain, target)
            with Thief(directories_of(target), outside.place) as thief:
                run("sync", source, target, "--delete", "--threads", 2)
                run("copy", plain, target, "--threads", 2)
                run("compare", plain, target, "--threads", 2)
            exchanges += thief.exchanges
            outside.expect_same(f"sync {number}")
            with Thief(directories_of(source), outside.place) as thief:
                run("delete", source, "--threads", 2)
            exchanges += thief.exchanges
            outside.expect_same(f"delete {number}")
    expect(exchanges > 100 * RUNS, f"the thief was at work: {exchanges} exchanges")
    print(f"thief: {exchanges} exchanges in {RUNS} rounds, and nothing was stolen")


main()
