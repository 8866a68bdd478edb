"""Goal: an ordinary user's sync removes in directories of his own that are closed to him on both sides (0555), and replaces
directories in them; each of the target is closed again, also after errors, and where there is no room.

Method: trees with such directories, of which the source loses entries, or has a file in the place of a directory; entries of
root that cannot go; patterns; a target that is full. Runs in a mount namespace of its own, as root.
"""

import os
import shutil

import special
from forebay_test import FOREBAY, check_each, expect, run
from own_mounts import AS_USER, USER, mover, own_mounts, skip, user_may_run

CLOSED = 0o555


def make(place, closed=("ro",)):
    """The source has lost what the target still has in `ro`, and has a file for the directory `ro/sub`."""
    source, target = place / "source", place / "target"
    shutil.rmtree(source, ignore_errors=True)
    for top in (source, target):
        (top / "ro").mkdir(parents=True)
        (top / "ro/a").write_text("a")
        os.utime(top / "ro/a", (10**9, 10**9))
    (source / "ro/sub").write_text("a file")
    for name in ("gone", "only/deep/x", "sub/y"):
        (target / "ro" / name).parent.mkdir(parents=True, exist_ok=True)
        (target / "ro" / name).write_text(name)
    for top in (source, target):
        for path in (top, *top.rglob("*")):
            os.chown(path, USER, USER)
    for path in (source / "ro", target / "ro", *(target / name for name in closed)):
        path.chmod(CLOSED)
        os.utime(path, (10**9, 10**9))
    return source, target


def of_root(folder):
    """An entry that this user cannot remove."""
    (folder / "of-root").mkdir()
    (folder / "of-root/x").write_text("x")
    (folder / "of-root").chmod(0o700)


def sync(source, target, *words, code=0):
    return mover("sync", source, target, "--delete", *words, before=AS_USER, code=(code,))


def mode(path):
    return path.stat().st_mode & 0o7777


def expect_closed(target, what, *names):
    for name in ("ro", *names):
        expect(mode(target / name) == CLOSED, f"{what}: {name} is closed again", oct(mode(target / name)))


def check_removed(place):
    deep = ("ro/only", "ro/only/deep", "ro/sub")
    for number, words in enumerate(((), ("--hosts", "localhost"), ("--preserve", "times"), ("--include", "*"))):
        source, target = make(place / str(number), deep)
        before = sorted(target.rglob("*"))
        for more in (("--dry-run",), ("--max-delete", 1)):
            sync(source, target, *words, *more, code=0 if more[0] == "--dry-run" else 1)
            expect(sorted(target.rglob("*")) == before, f"{words} {more}: nothing goes")
            expect_closed(target, more, *deep)
        _, report = sync(source, target, *words, "--max-delete", 6)
        expect(report["removed"] == 6 and sorted(os.listdir(target / "ro")) == ["a", "sub"], f"{words}: what the source has not goes", str(report))
        expect((target / "ro/sub").read_text() == "a file", f"{words}: and a file is in the place of a directory")
        expect_closed(target, words)
        expect((target / "ro").stat().st_mtime_ns == (source / "ro").stat().st_mtime_ns, f"{words}: it has its time")


def check_open_source(place):
    """Without permissions a directory of the target keeps its own."""
    source, target = make(place)
    (source / "ro").chmod(0o755)
    sync(source, target, "--preserve", "times")
    expect_closed(target, "without permissions")


def check_errors(place):
    source, target = make(place / "replaced")
    of_root(target / "ro/sub")
    (target / "ro/sub").chmod(CLOSED)
    done = run(*AS_USER, FOREBAY, "sync", source, target, "--delete", code=1)
    expect("nothing more was removed: some of the target could not be read and changed" in done.stdout, "the target refused it", done.stdout)
    expect("ro/sub/of-root  failed: at the target: " in done.stdout and "ro/sub  failed: at the target, " in done.stdout, "it is named", done.stdout)
    expect_closed(target, "not replaced", "ro/sub")
    source, target = make(place / "removed")
    shutil.rmtree(target / "ro/sub")
    of_root(target / "ro/only")
    (target / "ro/only").chmod(CLOSED)
    _, report = sync(source, target, code=1)
    expect(report["removed"] == 3 and report["first"][0]["why"].startswith("at the target: "), "the rest goes", str(report))
    expect_closed(target, "not removed", "ro/only")


def check_patterns(place):
    source, target = make(place)
    (target / "ro/only/kept").write_text("left out")
    (target / "ro/only").chmod(CLOSED)
    sync(source, target, "--exclude", "kept")
    expect(os.listdir(target / "ro/only") == ["kept"], "what patterns leave out stays")
    expect_closed(target, "patterns", "ro/only")


def check_uncounted(place):
    """What is closed to him is not counted, and then nothing goes by --max-delete, of what is in the way neither."""
    source, target = make(place)
    for closed, bits in (("ro/only", 0o444), ("ro/only/deep", 0)):
        (target / closed).chmod(bits)
        _, report = sync(source, target, "--max-delete", 100, code=1)
        expect(report["removed"] == 0 and "cannot be counted" in report["not_removed"], f"{closed}: nothing is removed", str(report))
        (target / closed).chmod(0o755)
        expect((target / "ro/only/deep/x").exists() and (target / "ro/sub/y").exists() and (target / "ro/gone").exists(), f"{closed}: all is there")


def check_acl(place):
    """An ACL that came has the last word over permissions that were lent."""
    source, target = make(place)
    for mask in (7, 5):
        os.setxattr(source / "ro", special.ACCESS, special.some_acl(1000, mask))
        (source / "ro").chmod(0o755 | mask << 3)
        sync(source, target, "--preserve", "attributes")
        expect(os.getxattr(source / "ro", special.ACCESS) == os.getxattr(target / "ro", special.ACCESS), "it is as its source's")


def check_full_report(place):
    """A directory is closed again, too, where no line of the report could be written any more."""
    source, target = make(place)
    for number in range(1000):
        (target / "ro/sub" / f"{number:060}").touch()
    (target / "ro/sub").chmod(CLOSED)
    (target / "ro/only/deep").chmod(CLOSED)
    (place / "of-user").mkdir()
    os.chown(place / "of-user", USER, USER)
    limited = ["bash", "-c", 'ulimit -f 8; exec "$@"', "-", *AS_USER, FOREBAY]
    (source / "ro/sub").unlink()
    run(*limited, "sync", source, target, "--delete", "--report", place / "of-user/r", code=2)
    expect((target / "ro/sub").exists(), "the directory is there still")
    expect_closed(target, "full report", "ro/sub")


def check_full(place):
    (place / "target").mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=1M", "none", place / "target")
    try:
        source, target = make(place)
        (source / "ro/sub").write_bytes(os.urandom(4 << 20))
        done = run(*AS_USER, FOREBAY, "sync", source, target, "--delete", code=None)
        expect(done.returncode not in (0, 1) and "No space left" in done.stderr, "the target is full", done.stderr)
        expect_closed(target, "full")
    finally:
        run("umount", place / "target")


own_mounts()
if not user_may_run():
    skip(f"an ordinary user may not run {FOREBAY}")
check_each("lent", (check_removed, check_open_source, check_errors, check_patterns, check_uncounted, check_acl, check_full_report,
                    check_full))
