"""Goal: a copy changes at the target what its words mean, and takes over nothing of others: no directory that was named by
mistake, nothing that patterns leave out, no name outside of the target.

Method: copies and syncs into directories of others, over what patterns leave out, beside snapshots by hard links, to a
target that is moved meanwhile; each with what was there before and what is there after.
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

from forebay_test import FOREBAY, check_each, expect, forebay, run

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def status(path):
    seen = path.lstat()
    return seen.st_mode & 0o7777, seen.st_uid, seen.st_mtime_ns


def make(place, files):
    for name in files:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(name)
    return place


def check_filled(place):
    source, above = make(place / "climate", ("a", "d/b")), make(place / "projects", ("one/x", "two/y"))
    os.chown(source, 5000, 5000)
    above.chmod(0o1777)
    (place / "list").write_text("a\n")
    was = status(above)
    for words in (("copy",), ("sync",), ("copy", "--dry-run"), ("copy", "--hosts", "localhost"), ("copy", "--files-from", place / "list"),
                  ("copy", "--include", "a"), ("sync", "--exclude", "one", "--exclude", "two")):
        said = forebay(words[0], source, above, *words[1:], code=2)
        expect("have no entry in common" in said and f"{above}/climate" in said and "--allow-unlike" in said, f"{words}: another place was meant", said)
    said = forebay("copy", ".", above, code=2, cwd=source)
    expect(f"{above}/climate, if you meant that" in said, "the place that may be meant has the directory's name", said)
    expect(sorted(os.listdir(above)) == ["one", "two"] and status(above) == was, "the target stays as it is")
    forebay("copy", source / "a", above / "a")
    (above / "a").rename(above / "three")
    for target in ("new", "empty", "disk"):
        if target != "new":
            (place / target).mkdir()
        if target == "disk":
            (place / target / "lost+found").mkdir()
        forebay("copy", source, place / target)
        forebay("copy", source, place / target, "--files-from", place / "list")
        forebay("sync", source, place / target)
    (place / "nothing").mkdir()
    forebay("copy", place / "nothing", above, code=2)
    forebay("sync", place / "nothing", above, "--allow-empty")
    forebay("copy", source, above, "--allow-unlike")
    expect(sorted(os.listdir(above)) == ["a", "d", "one", "three", "two"], "where it is wished, it is filled")
    forebay("copy", source, above)


def check_killed(place):
    source = place / "large"
    source.mkdir()
    (source / "file").write_bytes(os.urandom(80 << 20))
    target = place / "killed"
    process = subprocess.Popen([str(FOREBAY), "copy", source, target, "--rate", "20M"], stdout=subprocess.DEVNULL)
    while process.poll() is None and not list(target.glob(".fb-*")):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    expect(all(name.startswith(".fb-") for name in os.listdir(target)), "nothing but temporary names is there")
    forebay("copy", source, target)
    expect(os.listdir(target) == ["file"], "and the same copy goes on", str(os.listdir(target)))


def check_leftovers(place):
    """What killed movers have left is nobody's entry, whatever they copied."""
    source, target = make(place / "source", ("a",)), make(place / "target", (".fb-01234567-0123456789abcdef", ".fb-lock-89abcdef"))
    forebay("copy", source, target)
    expect((target / "a").exists(), "a directory that is empty but for these is filled")


def check_rights(place):
    """A copy that its own user may not open is a copy, and groups of directories go on to what lies in them."""
    place.chmod(0o755)
    source, above = make(place / "source", ("d/e/b.dat", "other")), place / "above"
    os.chown(source, 0, 65534)
    source.chmod(0o050)
    above.mkdir()
    os.chown(above, 65534, 65534)
    run(*NOBODY, FOREBAY, "copy", source, above / "closed", "--preserve", "permissions,times")
    project = place / "project"
    project.mkdir()
    os.chown(project, 0, 12345)
    project.chmod(0o2775)
    for words in ((), ("--include", "*.dat"), ("--include", "*.dat", "--hosts", "localhost")):
        target = project / f"t{len(words)}"
        forebay("copy", source, target, "--preserve", "none", *words)
        expect((target / "d/e/b.dat").stat().st_gid == 12345, f"{words}: new files have the group of the directory above")


def check_unmarked(place):
    """A run was killed right after it had made a directory in which nothing fits."""
    source = make(place / "source", ("src/main.c", "data/a.h5"))
    (source / "src").chmod(0o755)
    target = make(place / "target", ("data/a.h5",))
    (target / "src").mkdir(mode=0o700)
    (target / "src").chmod(0o1700)
    forebay("copy", source, target, "--include", "*.h5")
    expect(status(target / "src") == status(source / "src"), "it gets its attributes by the next one", str(status(target / "src")))


def check_fresh_disk(place):
    source, target = make(place / "source", ()), make(place / "target", ("p1/f", "p2/f"))
    (source / "lost+found").mkdir(parents=True)
    (target / "lost+found").mkdir()
    said = forebay("sync", source, target, "--delete", code=2)
    expect("is empty" in said and (target / "p1/f").exists(), "a source that is a fresh file system is empty", said)
    make(source, ("other",))
    said = forebay("sync", source, target, "--delete", code=2)
    expect("remove all 3 entries" in said and (target / "p1/f").exists(), "and lost+found makes no target alike", said)


def check_in_way(place):
    source = make(place / "source", ("notes/a.h5", "b.h5"))
    for words in (("copy",), ("sync",), ("sync", "--delete"), ("sync", "--dry-run")):
        target = make(place / "-".join(words), ("b.h5", "notes"))
        for fits in (True, False):
            pattern = "*.h5" if fits else "b.*"
            said = forebay(words[0], source, target, *words[1:], "--include", pattern, code=1)
            expect((target / "notes").read_text() == "notes", f"{words} {pattern}: a file that patterns leave out stays", said)
            expect("notes  failed: at the target: an entry that your patterns exclude is in its place" in said, "and is told", said)
        forebay(words[0], source, target, *words[1:])
        expect((target / "notes").is_dir() != ("--dry-run" in words), f"{words}: without patterns the directory is made")


def check_left_out(place):
    """Of the source a file is left out; the target has a directory of its name, with what fits and what does not."""
    source, target = make(place / "source", ("b", "k.h5")), make(place / "target", ("b/e.h5", "b/mine", "c/f.h5"))
    run("cp", "-p", source / "k.h5", target)
    said = forebay("compare", source, target, "--include", "*.h5", code=1)
    expect("b  only_target" in said, "compare names it", said)
    said = forebay("sync", source, target, "--delete", "--include", "*.h5", "--dry-run")
    expect("b/e.h5  would_remove" in said and "b/mine" not in said, "a dry run says what goes", said)
    forebay("sync", source, target, "--delete", "--include", "*.h5")
    expect(sorted(str(path.relative_to(target)) for path in target.rglob("*")) == ["b", "b/mine", "k.h5"], "what fits goes, the rest stays")


def check_names_outside(place):
    source, target, snapshot = (place / name for name in ("source", "target", "target.0"))
    make(source, ("one", "a"))
    os.link(source / "a", source / "b")
    forebay("copy", source, target)
    run("cp", "-al", target, snapshot)
    was = {name: status(snapshot / name) for name in ("one", "a", "b")}
    for name in ("one", "a"):
        os.chown(source / name, 77, 77)
        (source / name).chmod(0o600)
    for words in ((), ("--preserve", "owner,permissions,times,attributes")):
        forebay("sync", source, target, "--delete", *words)
        expect({name: status(snapshot / name) for name in was} == was, f"{words}: names outside of the target stay as they are")
        expect(status(target / "a") == status(source / "a"), f"{words}: and the copy is made anew")
        (source / "a").chmod(0o640)
        run("rm", "-rf", snapshot)
        run("cp", "-al", target, snapshot)
        was = {name: status(snapshot / name) for name in was}
    forebay("sync", source, target)
    run("rm", "-rf", snapshot)
    (source / "a").chmod(0o604)
    said = forebay("sync", source, target)
    expect("2 adjusted" in said or "1 adjusted" in said, "where all names are the copy's, they are adjusted", said)


def check_moved_target(place):
    source, target = place / "source", place / "target"
    source.mkdir()
    (source / "big").write_bytes(os.urandom(20 << 20))
    process = subprocess.Popen([str(FOREBAY), "copy", source, target, "--rate", "10M"], stdout=subprocess.PIPE, text=True)
    while process.poll() is None and not (target.exists() and os.listdir(target)):
        time.sleep(0.01)
    target.rename(place / "moved")
    target.mkdir()
    said = process.communicate()[0]
    expect(process.returncode == 1 and "at the target" in said and "was replaced during the copy" in said, "a target that was moved is told", said)
    expect(os.listdir(place / "moved") == ["big"] and not os.listdir(target), "the copy is where it was moved")


def check_closed(place):
    source = make(place / "source", ("src/main.c", "src/below/x", "data/a.h5"))
    (source / "src").chmod(0o755)
    forebay("archive", source, place / "tar")
    for words in (("copy", source), ("restore-archive", place / "tar")):
        target = make(place / words[0], ("src/mine",))
        (target / "src/below").mkdir()
        (target / "src").chmod(0o1700)
        os.utime(target / "src", (10**9, 10**9))
        was = status(target / "src")
        forebay(*words, target, "--include", "*.h5", *(["--allow-unlike"] if words[0] == "copy" else []))
        expect(status(target / "src") == was, f"{words[0]}: a closed directory with a sticky bit stays closed", str(status(target / "src")))
    (target / "src/below").rmdir()
    os.utime(target / "src", (10**9, 10**9))
    forebay("copy", source, target, "--include", "*.h5")
    expect((target / "src/below").is_dir() and status(target / "src") == was, "and has its time where an empty directory was made in it")


def check_who_failed(place):
    source, target = make(place / "mine", ("a", "b", "d/c")), place / "shared"
    (source / "d/big").touch()
    os.truncate(source / "d/big", 65 << 20)
    run("chown", "-R", "65534:65534", source)
    make(target, ("a", "k", "d/x"))
    target.chmod(0o1777)
    (target / "d").chmod(0o755)
    place.chmod(0o755)
    words = [*NOBODY, FOREBAY, "sync", source, target, "--delete", "--preserve", "times"]
    said = run(*words, code=1).stdout
    expect("nothing was removed: some of the target could not be read and changed" in said, "it was the target", said)
    expect("a  failed: at the target: rename" in said and "at the target: create" in said, "each says so", said)
    expect(all(name in said for name in ("d/c", "d/big")) and said.count("failed: create") == 0, "large files, too", said)


def main():
    if os.geteuid() != 0:
        print("skipped: needs root, for owners")
        sys.exit(77)
    check_each("taken-over", (check_filled, check_killed, check_leftovers, check_rights, check_unmarked, check_fresh_disk,
                              check_in_way, check_left_out, check_names_outside, check_moved_target, check_closed,
                              check_who_failed))


main()
