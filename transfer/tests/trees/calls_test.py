"""Goal: movers make few system calls: each kind of entry costs an exact number of them, which no change raises unnoticed.

Method: counts the calls on files with strace, on one thread, for a folder of 100 and one of 200 entries of a kind; the
difference divided by 100 is what one entry costs, whatever the program does once.
"""

import collections
import os
import pathlib
import re
import shutil
import socket
import sys
import tempfile
import time

from forebay_test import FOREBAY, expect, run

CALLS = set("openat close read write pread64 pwrite64 copy_file_range lseek ftruncate statx newfstatat fstat getdents64 linkat "
            "symlinkat mknodat readlinkat renameat renameat2 unlinkat mkdirat fchownat fchown fchmod chmod utimensat listxattr "
            "llistxattr flistxattr getxattr lgetxattr fgetxattr setxattr fsetxattr fcntl fdatasync fsync listxattrat capget geteuid".split())
UNNAMED = {"syscall_0x1d1": "listxattrat"}  # strace of Debian 12 has no name for it
FEW, MANY = 100, 200


def plain(path):
    path.write_bytes(b"some bytes")
    os.chmod(path, 0o644)


def empty(path):
    path.touch(mode=0o644)


def of_a_group(path):
    plain(path)
    os.chmod(path, 0o640)


def of_another(path):
    plain(path)
    os.chown(path, 1, 1)


def link(path):
    path.symlink_to("nowhere")


def fifo(path):
    os.mkfifo(path, 0o600)


def further_name(path):
    first = path.parent / "first"
    if not first.exists():
        plain(first)
    os.link(first, path)


def with_attribute(path):
    plain(path)
    os.setxattr(path, "user.a", b"some bytes")


def bound(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))
    os.chmod(path, 0o600)


# A copy needs two opens, two statx (before and after), one copy_file_range (a pread of an empty file), flistxattr, utimensat, rename and
# two closes.
COPY = {plain: 10, empty: 10, of_a_group: 11, of_another: 11, further_name: 2, link: 9, fifo: 8, bound: 8}
# Other verbs: their arguments, their calls, and the entry of the calls. A comparison needs two each of open, statx, flistxattr, pread and
# close. A hard link to a compared inode needs two statx.
OTHERS = [("walk {source}", 1, plain), ("sync {source} {target} --no-sync", 4, plain), ("sync {source} {target} --no-sync", 2, plain),
          ("sync {source} {target} --no-sync --quick", 2, plain),
          ("compare {source} {target}", 10, plain), ("compare {source} {target}", 10, empty), ("compare {source} {target}", 2, further_name),
          ("compare {source} {target}", 12, with_attribute), ("compare {source} {target} --no-bytes", 4, plain),
          ("delete {target}", 1, plain)]


def made(place, make, count):
    shutil.rmtree(place, ignore_errors=True)
    shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)  # what is known of the last copy costs a call
    place.mkdir()
    for number in range(count):
        make(place / f"{number:04}")
    for path in [*place.iterdir(), place]:
        os.utime(path, ns=(10**18, 10**18), follow_symlinks=False)
    time.sleep(0.1)  # what has just been written is looked at twice
    return place


def counted(place, *words):
    """How often each call was made."""
    trace = place / "trace"
    run("strace", "-f", "-o", trace, FOREBAY, *words, "--threads", "1")
    names = [UNNAMED.get(name, name) for name in re.findall(r"^\d+ +(\w+)\(", trace.read_text(errors="replace"), re.MULTILINE)]
    return collections.Counter(name for name in names if name in CALLS)


def difference(few, many):
    return {name: (many[name] - few[name]) / (MANY - FEW) for name in many if many[name] != few[name]}


def check(what, few, many, expected):
    each = difference(few, many)
    total = sum(each.values())
    print(f"{what}: {total:g}: {', '.join(f'{name} {count:g}' for name, count in sorted(each.items()))}")
    expect(total == expected, f"{what} takes {expected} calls an entry, not {total:g}", str(each))


def main():
    if not shutil.which("strace") or os.geteuid() != 0:
        print("skipped: needs strace, and root for files of others")
        sys.exit(77)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        place = pathlib.Path(name)
        source, target = place / "source", place / "target"
        os.environ["XDG_CACHE_HOME"] = str(place / "cache")
        for make, expected in COPY.items():
            counts = []
            for count in (FEW, MANY):
                shutil.rmtree(target, ignore_errors=True)
                counts.append(counted(place, "copy", made(source, make, count), target, "--no-sync"))
            check(f"copy of {make.__name__}", *counts, expected)
        for words, expected, make in OTHERS:
            counts = []
            again = words.startswith("sync") and expected == 2 and "--quick" not in words
            for count in (FEW, MANY):
                shutil.rmtree(target, ignore_errors=True)
                made(source, make, count)
                if "--quick" in words:  # trusts what is newer than the source by more than clocks differ
                    time.sleep(3.5)
                run(FOREBAY, "copy", source, target, "--no-sync")
                if again:  # what is older than the last look at all attributes need not be looked at
                    time.sleep(0.2)
                    run(FOREBAY, *words.format(source=source, target=target).split())
                counts.append(counted(place, *words.format(source=source, target=target).split()))
            check(f"{words.format(source='SOURCE', target='TARGET')} of {make.__name__}", *counts, expected)


main()
