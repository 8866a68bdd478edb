"""What makes entries of a test tree: names, bytes, and whatever a file system can say of an entry.

A `Maker` remembers what it could not make, since an ordinary user makes no devices and gives no files away, and gives
directories their modes and times last: each new entry changes the times of its directory.
"""

import collections
import os
import random
import stat

BLOCK = 1 << 20
SEED = 21
NS = 1_000_000_000
ODD = ["new\nline", "tab\there", " leading", "trailing ", "naïve-日本語-😀", "right\u202eto-left", "it's", 'say "hello"',
       "back\\slash", "star*", "what?", "[a-c]", "{x,y}", "$HOME", "`id`", "-rf", "~", "a;b|c&d", "#hash", "100%", "\x07bell"]


class Maker:
    """One tree below `top`, which is made where it is missing. The same seed makes the same tree."""

    def __init__(self, top, seed=SEED):
        self.top = os.fsencode(top)
        self.chance = random.Random(seed)
        self.noise = self.chance.randbytes(4 * BLOCK)
        self.left_out = collections.Counter()  # what this user or this file system cannot make
        self.made = collections.Counter()
        self.later = []  # directories with (mode, ns)
        self.root = os.geteuid() == 0
        os.makedirs(self.top, exist_ok=True)

    def path(self, name):
        return os.path.join(self.top, os.fsencode(name))

    def attempt(self, what, call, *arguments, **options):
        """Calls what an ordinary user or a plain file system may refuse; gives whether it was done."""
        try:
            call(*arguments, **options)
            return True
        except OSError as problem:
            self.left_out[f"{what}: {problem.strerror}"] += 1
            return False

    def ns(self):
        """A time of the last twenty years, to the nanosecond."""
        return self.chance.randrange(1_150_000_000 * NS, 1_760_000_000 * NS)

    def finish(self, name, mode=None, owner=None, ns=None, xattrs=(), of_link=False):
        """Gives an entry what it is to have. Owners come first: they clear set-user-ID and capabilities."""
        path = self.path(name)
        if owner and self.root:
            os.chown(path, *owner, follow_symlinks=False)
        elif owner:
            self.left_out["owners: only root gives files away"] += 1
        for key, value in dict(xattrs).items():
            self.attempt(f"xattr {key.split('.')[0]}.*", os.setxattr, path, key, value, follow_symlinks=False)
        if mode is not None and not of_link:
            os.chmod(path, mode)
        if ns is not None:
            os.utime(path, ns=(ns, ns), follow_symlinks=False)

    def directory(self, name, mode=0o755, ns=None, **rest):
        os.makedirs(self.path(name), exist_ok=True)
        self.made["directories"] += 1
        self.finish(name, **rest)
        self.later.append((self.path(name), mode, self.ns() if ns is None else ns))

    def file(self, name, size, ns=None, mode=0o644, **rest):
        """A file of `size` bytes of noise. Of a large one each MiB begins with its number: none equals another."""
        with open(self.path(name), "xb", buffering=0) as file:
            for at in range(0, size, BLOCK):
                begin = self.chance.randrange(3 * BLOCK)
                block = self.noise[begin:begin + min(BLOCK, size - at)]
                file.write(at.to_bytes(8, "little") + block[8:] if size > BLOCK and len(block) > 8 else block)
        self.made["files"] += 1
        self.finish(name, mode=mode, ns=self.ns() if ns is None else ns, **rest)

    def sparse(self, name, size, pieces, **rest):
        """A file with holes: `pieces` are (offset, bytes) of data."""
        with open(self.path(name), "xb", buffering=0) as file:
            file.truncate(size)
            for at, count in pieces:
                file.seek(at)
                file.write(self.noise[at % BLOCK:][:count])
        self.made["sparse files"] += 1
        self.finish(name, **{"mode": 0o644, "ns": self.ns(), **rest})

    def link(self, name, other):
        os.link(self.path(other), self.path(name), follow_symlinks=False)
        self.made["hard links"] += 1

    def symlink(self, name, target, ns=None, **rest):
        os.symlink(os.fsencode(target), self.path(name))
        self.made["symlinks"] += 1
        self.finish(name, ns=self.ns() if ns is None else ns, of_link=True, **rest)

    def special(self, name, kind, device=0, mode=0o644, ns=None, **rest):
        """A fifo, a socket or a device, which nothing but its name, mode and number makes."""
        what = {stat.S_IFIFO: "fifos", stat.S_IFSOCK: "sockets", stat.S_IFCHR: "devices", stat.S_IFBLK: "devices"}[kind]
        if self.attempt(what, os.mknod, self.path(name), kind | mode, device):
            self.made[what] += 1
            self.finish(name, mode=mode, ns=self.ns() if ns is None else ns, **rest)

    def close(self, top_mode=0o755):
        """Directories get modes and times, the deepest first, and the top of the tree last."""
        self.later.sort(key=lambda one: one[0].count(b"/"), reverse=True)
        for path, mode, ns in [*self.later, (self.top, top_mode, self.ns())]:
            os.utime(path, ns=(ns, ns))
            os.chmod(path, mode)
        self.later.clear()
