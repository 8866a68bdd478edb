"""Goal: a sync that does not look at extended attributes of entries which nobody has changed since the last one misses no
change: of an attribute or an ACL on either side, of entries that other names or folders with other attributes stand for,
after the clock was set anew, for another source or target, and after any damage of what is kept.

Method: a tree whose files all have one size and time, so that attributes alone tell them apart; two syncs, 0.2 s after
all that was made, the second of which must look at no attributes at all; then one change, and a sync that must heal it,
judged by no code of ours. What is kept is changed in each of its fields, cut and spoiled, always with a
change at the target that it would hide.
"""

import os
import pathlib
import shutil
import sys
import tempfile
import time

import judge
import special
from forebay_test import FOREBAY, expect, run

TIME = 10**18
OLD_ENOUGH = 0.2  # seconds: changes in the last 50 ms are always looked at


def make(place):
    for folder in ("one", "two", "one/deep", "two/deep"):
        (place / folder).mkdir(parents=True)
        for number in range(3):
            file = place / folder / f"file{number}"
            file.write_bytes(b"all alike")
            os.setxattr(file, "user.is", f"{folder}/{number}".encode())
    for path in sorted(place.rglob("*"), reverse=True):
        os.utime(path, ns=(TIME, TIME))
    os.utime(place, ns=(TIME, TIME))


def sync(source, target, *words):
    done = run(FOREBAY, "sync", source, target, "--threads", "1", "--no-sync", *words, code=None)
    expect(done.returncode == 0, "the sync ends", done.stdout + done.stderr)


def looks(place, source, target):
    """How many lists of extended attributes of files a sync asks for."""
    trace = place / "trace"
    run("strace", "-f", "-o", trace, FOREBAY, "sync", source, target, "--threads", "1", "--no-sync")
    lines = trace.read_text(errors="replace").splitlines()
    return sum("syscall_0x1d1" in line or "listxattrat(" in line or "llistxattr(" in line for line in lines)


def check_healed(source, target, what):
    sync(source, target)
    verdict = judge.judge(source, target)
    expect(verdict.equal, f"{what}: healed, not without {verdict.failed()}", judge.text(verdict))


def swap(one, other):
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def changes(source, target):
    """(what, how) of changes that an attribute alone tells."""
    def of(file, value=b"another"):
        return lambda: os.setxattr(file, "user.is", value)

    yield "an attribute of the target", of(target / "one/file0")
    yield "an attribute of the source", of(source / "two/deep/file1")
    yield "an attribute more at the target", lambda: os.setxattr(target / "one/file1", "user.more", b"")
    yield "an attribute less at the target", lambda: os.removexattr(target / "one/file2", "user.is")
    yield "an ACL of the source", lambda: os.setxattr(source / "one/file0", special.ACCESS, special.some_acl(1000, 6))
    yield "two files of the target that changed names", lambda: swap(target / "one/file0", target / "one/file1")
    yield "two folders of the target that changed names", lambda: swap(target / "one/deep", target / "two/deep")
    yield "two trees of the source that changed names", lambda: swap(source / "one", source / "two")


def check_other_disk(place):
    """Two file systems in turn at one place, whose devices and roots have the same numbers."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("mkfs.ext4", "losetup", "unshare"))):
        print("left out, two disks at one place: needs root, mkfs.ext4, losetup and unshare")
        return
    script = f"""set -e
cd {place}; mkdir disks source disk; echo data > source/file; setfattr -n user.x -v old source/file 2>/dev/null ||
    {sys.executable} -c 'import os; os.setxattr("source/file", "user.x", b"old")'
for i in 1 2; do truncate -s 16M disks/$i; mkfs.ext4 -q disks/$i; done
loop=$(losetup -f)
use() {{ losetup $loop disks/$1; mount $loop disk; }}
off() {{ umount disk; losetup -d $loop; }}
for i in 1 2; do use $i; {FOREBAY} sync source disk > said; sleep .2; off; done
{sys.executable} -c 'import os; os.setxattr("source/file", "user.x", b"new")'
sleep .2
use 1; {FOREBAY} sync source disk > said; sleep .2; {FOREBAY} sync source disk > said; off
use 2; {FOREBAY} sync source disk > said
{sys.executable} -c 'import os; print(os.getxattr("disk/file", "user.x"))'
off
"""
    done = run("unshare", "--mount", "sh", "-c", script, code=None)
    if done.returncode:
        print(f"left out, two disks at one place: {done.stderr[-300:]}")
        return
    expect("new" in done.stdout, "what is known of one disk does not count for the other", done.stdout)


def spoiled(kept):
    """Texts of which none may be trusted, for a change that the kept one would miss."""
    first, second = kept.split("\n")[:2]
    fields = second.split(" ")
    later = "99999999999.000000000"
    wrong = [first + "0", first.replace(":", ";", 1), "x" + first]
    for one in wrong:
        yield f"{one}\n{fields[0]} {later} {later} {later} end\n"
    for base in (int(fields[0]) - 20_000_000, int(fields[0]) + 20_000_000):  # the clock was set by 20 ms
        yield f"{first}\n{base} {later} {later} {later} end\n"
    for text in (f"{first}\n", f"{first}\n{fields[0]}\n", f"{first}\n{fields[0]} {later} {later} {later}\n", "", "\0" * 200, "\n\n",
                 f"{first}\n{fields[0]} {later} - {later} end\n", f"{first}\n{fields[0]} {later} {later} end\n"):
        yield text


def check_home_in_tree(place):
    """What is kept would be in the source alone, or in the target alone: nothing is kept then."""
    for where in ("source", "target"):
        source, target = place / where / "source", place / where / "target"
        make(source)
        sync(source, target)
        for name, value in (("XDG_CACHE_HOME", ""), ("HOME", str(place / where / where))):
            os.environ[name] = value
        sync(source, target, "--delete")
        sync(source, target, "--delete")
        expect(judge.judge(source, target).equal, f"a home in the {where} is as any folder")
        (place / where / where / ".cache").mkdir()
        os.environ["XDG_CACHE_HOME"] = str(place / where / where / ".cache/not/there")
        sync(source, target, "--delete")
        run(FOREBAY, "compare", source, target)


def check_own_folder(place):
    """Where too much is kept, what is ours goes and nothing else; what others have planted there is not used."""
    source, target, cache = place / "source", place / "target", place / "cache"
    source.mkdir(parents=True)
    (source / "file").write_text("1")
    os.environ["XDG_CACHE_HOME"] = str(cache)
    sync(source, target)
    folder = cache / "forebay/copies"
    expect(folder.stat().st_mode & 0o77 == 0, "it is closed to others")
    others = {"notes": "n", "0123456789abcdeg": "n", "0123456789ABCDEF": "n", "0123456789abcdef0": "n", "0123456789abcdef.old": "n"}
    for name, text in others.items():
        (folder / name).write_text(text)
    for number in range(1001):
        (folder / f"{number:016x}").write_text("")
    (folder / "0123456789abcdef.new").write_text("")
    (folder / "f000000000000000").mkdir()
    (folder / "f000000000000001").symlink_to(source / "file")
    left = {*others, "f000000000000000", "f000000000000001"}
    if os.geteuid() == 0:
        (folder / "f000000000000002").write_text("another user's")
        os.chown(folder / "f000000000000002", 65533, 65533)
        left.add("f000000000000002")
    sync(source, target)
    names = {path.name for path in folder.iterdir()}
    expect(left < names and len(names) == len(left) + 1, "of what lies there ours is gone but for this copy's, and nothing else", str(names))

    precious = place / "precious"
    precious.mkdir()
    for number in range(1001):
        (precious / f"{number:016x}").write_text("")
    shutil.rmtree(folder)
    folder.symlink_to(precious)
    sync(source, target)
    expect(len(list(precious.iterdir())) == 1001, "no link is followed to what is kept")
    folder.unlink()
    if os.geteuid() != 0:
        return
    for at, users in ((folder, "the folder"), (folder.parent, "the one above"), (cache, "the cache")):
        folder.mkdir(exist_ok=True)
        os.chown(at, 65533, 65533)
        sync(source, target)
        expect(not list(folder.iterdir()), f"nothing is kept where {users} is another user's")
        os.chown(at, 0, 0)
    home = place / "home"
    home.mkdir()
    os.chown(home, 65533, 65533)
    del os.environ["XDG_CACHE_HOME"]
    os.environ["HOME"] = str(home)
    sync(source, target)
    expect(not list(home.iterdir()), "nothing is made in another user's home")


def main():
    if not shutil.which("strace"):
        print("skipped: needs strace")
        sys.exit(77)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        place = pathlib.Path(name)
        os.environ["XDG_CACHE_HOME"] = str(place / "cache")
        source, target = place / "source", place / "target"
        make(source)
        sync(source, target)
        files = 2 * 12
        expect(looks(place, source, target) == files, "what has just been copied is looked at")
        for what, change in changes(source, target):
            time.sleep(OLD_ENOUGH)
            sync(source, target)
            expect(looks(place, source, target) == 0, f"before {what}: nothing is looked at that nobody has changed")
            change()
            check_healed(source, target, what)
        time.sleep(OLD_ENOUGH)
        sync(source, target)
        [kept] = (place / "cache/forebay/copies").iterdir()
        text = kept.read_text()
        for number, wrong in enumerate(spoiled(text)):
            os.setxattr(target / "one/file0", "user.is", str(number).encode())
            kept.write_text(wrong)
            check_healed(source, target, f"what is kept is spoiled, way {number}")
        for where in ("no home", "a home that takes nothing"):
            os.environ["XDG_CACHE_HOME"] = "" if where == "no home" else "/proc"
            os.environ["HOME"] = "" if where == "no home" else "/proc"
            os.setxattr(target / "one/file0", "user.is", where.encode())
            check_healed(source, target, where)
        os.environ["XDG_CACHE_HOME"] = str(place / "cache")
        check_home_in_tree(place / "homes")
        os.environ["XDG_CACHE_HOME"] = str(place / "cache")
        (place / "two").mkdir()
        check_other_disk(place / "two")
        check_own_folder(place / "three")
    print("last_copy: all changes seen")


main()
