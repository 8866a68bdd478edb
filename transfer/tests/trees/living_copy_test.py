"""Goal: a copy of a run changes nothing in a run that a session or another copy is writing, and removes nothing that a
session has saved at the target. No session begins there while it works.

Method: claims as sessions make them, with locks that this test holds; a copy that is slowed down, and killed.
"""

import fcntl
import json
import os
import pathlib
import signal
import struct
import subprocess
import tempfile
import time

from forebay_test import BUILD, FOREBAY, SECONDS_MAX, expect, run
from small_runs import ALL, IDENTITY, copy, entries, make, save, snapshots, whole


def claim(place, number, lock=None):
    """As session `number` on this machine; it lives as long as somebody holds `lock`, and without one it has ended."""
    session = place / f"forebay/sessions/{number:06}"
    session.mkdir(parents=True)
    about = os.lstat(lock) if lock else None
    text = {"forebay": "claim", "version": 1, "host": "here", "user": "me", "lock": str(lock or ""),
            "boot": pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
            "lock_id": f"{about.st_dev}:{about.st_ino}" if lock else "", "key": f"{number:016x}", "process": 7}
    (session / "claim.json").write_text(json.dumps(text) + "\n")
    if not lock:
        (session / "ended").write_text("")


class Lives:
    """Holds a lock as a session does."""

    def __init__(self, path):
        self.file = open(path, "w")
        fcntl.fcntl(self.file, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))  # F_OFD_SETLK

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()


def living(place):
    source, target = make(place / "run"), place / "copy"
    copy(source, target)
    run("rm", "-rf", source / "restart/step-000100")
    save(source, "restart", 180, "b4")
    lock = place / "lock"
    with Lives(lock):
        claim(target, 2, lock)
        before = entries(target)
        for verb, words in (("copy", ()), ("sync", ()), ("sync", ("--delete",)), ("sync", ("--delete", "--dry-run")),
                            ("copy", ("--as-files",))):
            said = copy(source, target, *words, code=2, verb=verb)
            expect("session 2 of me on here" in said, f"{verb} {words}: it says who writes there", said)
        said = copy(source / "restart", target / "restart", code=2)
        expect("session 2" in said, "a stream of it likewise", said)
        run(FOREBAY, "archive", source, place / "a.tar")
        done = run(FOREBAY, "restore-archive", place / "a.tar", target, code=2)
        expect("session 2" in done.stderr, "nor is an archive restored into it", done.stderr)
        expect(entries(target) == before, "nothing is changed")
        copy(source, place / "other")
        copy(target, place / "third")  # what lives is copied as ever
    copy(source, target)
    expect("restart/step-000180" in whole(target), "a session that is dead keeps no copy out")


def own_lines(place):
    """Whatever numbers its lines have: what a session saved at the target stays."""
    source, target = make(place / "run"), place / "copy"
    copy(source, target)
    claim(target, 2)
    copy(source, target, "--delete", verb="sync")
    expect(whole(target) == ALL, "a session that has saved nothing is in nobody's way")
    save(target, "restart", 200, "c8")
    before = entries(target)
    for words in (("--delete",), ("--delete", "--dry-run")):
        said = copy(source, target, *words, code=2, verb="sync")
        expect("restart/step-000200" in said and "session 2 of me" in said and "prune" in said, "it is refused", said)
        expect(entries(target) == before, "nothing is changed")
    copy(source, target, verb="sync")
    expect("restart/step-000200" in whole(target), "without --delete it goes on")
    run(FOREBAY, "prune", target, "--above", "140")
    copy(source, target, "--delete", verb="sync")
    expect(whole(target) == ALL, "what was given up is in nobody's way either", str(snapshots(target)))
    run("cp", "-a", source, place / "files")
    claim(source, 3)
    run("cp", "-a", source / "forebay", place / "files/")
    run("rm", "-rf", source / "restart/step-000100")
    copy(source, place / "files", "--delete", verb="sync")
    expect(snapshots(place / "files") == ALL[:1] + ALL[2:], "claims that were copied are no sessions of the target")


def renamed(place):
    """A snapshot that the source has set aside is set aside at the target, not brought anew."""
    source, target = make(place / "run"), place / "copy"
    copy(source, target)
    inode = (target / "restart/step-000140/node-00000.h5").stat().st_ino
    (source / "restart/step-000140").rename(source / "restart/line-1.step-000140")
    save(source, "restart", 140, "beef")
    copy(source, target)
    expect((target / "restart/line-1.step-000140/node-00000.h5").stat().st_ino == inode, "it has its name of the line")
    expect("000000000000beef" in (target / "restart/step-000140/manifest.json").read_text(), "and the new one its own")


def set_aside(place):
    """So it is without another save of the step, which only makes the target's one extra. Each save is there once."""
    source, target = make(place / "run"), place / "copy"
    copy(source, target)
    (source / "restart/step-000140").rename(source / "restart/line-1.step-000140")
    aside = snapshots(source)
    save(source, "restart", 130, "c0")
    run("truncate", "-s", "0", source / "restart/step-000130/manifest.json")  # may be that of any save
    for verb in ("copy", "sync"):
        copy(source, target, verb=verb, code=1)
        expect(snapshots(target) == aside, f"{verb}: it has its name of the line alone", str(snapshots(target)))
    run("rm", "-r", source / "restart/step-000130")
    copy(source, target, verb="sync")
    run("cp", "-a", target / "restart/line-1.step-000140", target / "restart/step-000140")  # as copies were once
    copy(source, target, verb="sync")
    expect(snapshots(target) == aside, "what is there twice is there once", str(snapshots(target)))
    (target / "restart/line-1.step-000140").rename(target / "restart/step-000140")
    save(place / "other", "restart", 140, "c1")
    run("mv", place / "other/restart/step-000140", target / "restart/line-1.step-000140")
    before = entries(target / "restart")
    said = copy(source, target, code=1)
    expect("restart/line-1.step-000140" in said and entries(target / "restart") == before, "no other save is replaced", said)


def closed_directory(place):
    """A snapshot at the target that cannot be read now is not replaced."""
    if os.geteuid() == 0:
        return
    source, target = make(place / "run"), place / "copy"
    copy(source, target)
    closed = target / "restart/step-000140"
    for verb, words in (("copy", ()), ("sync", ("--delete",))):
        closed.chmod(0)
        said = copy(source, target, *words, code=1, verb=verb)
        closed.chmod(0o755)
        expect("restart/step-000140" in said and whole(target) == ALL, f"{verb}: it stays, and is named", said)


def unowned(place):
    """Of another user's run what cannot be copied is named for what it is: nothing of it is damaged."""
    if os.geteuid() != 0:
        return
    source, target = make(place / "run"), place / "open/copy"
    (source / "restart/step-000140").rename(source / "restart/line-1.step-000140")
    place.chmod(0o755)
    (place / "open").mkdir()
    os.chown(place / "open", 65534, 65534)
    done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", FOREBAY, "copy", source, target],
                          env=os.environ | {"XDG_CACHE_HOME": str(place / "open/cache")}, capture_output=True, text=True,
                          timeout=SECONDS_MAX, check=False)
    said = done.stdout + done.stderr
    expect(done.returncode == 1 and "not_kept" in said and "--cannot-keep drop" in said, "owners are what is missing", said)
    expect("damaged" not in said and not list(target.glob("*/*step*")), "nothing is half there, or called damaged", said)


def held(place):
    """While a copy works no session begins at its target; after its kill one does, and its claim is no session's."""
    source, target = make(place / "run"), place / "copy"
    copy(source, target)
    claim(target, 2)
    save(source, "restart", 180, "b4")
    process = subprocess.Popen([FOREBAY, "copy", source, target, "--rate", "20000", "--threads", "1"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    own = target / "forebay/sessions/000003"
    end = time.monotonic() + SECONDS_MAX
    while not (own / "claim.json").exists() and time.monotonic() < end and process.poll() is None:
        time.sleep(0.01)
    done = run(FOREBAY, "prune", target, "--above", "140", code=2)  # which claims the run as a session does
    expect("a copy by" in done.stderr, "it is refused", done.stderr)
    expect((target / "forebay/sessions/000002").exists(), "the claim of the last session stays")
    process.send_signal(signal.SIGKILL)
    process.wait(SECONDS_MAX)
    copy(source, target)
    left = sorted(path.name for path in (target / "forebay/sessions").iterdir())
    expect("000002" in left and not any((target / "forebay/sessions" / name / "alive").exists() for name in left if name > "000003"),
           "the next copy goes on, and withdraws its own", str(left))
    run(FOREBAY, "prune", target, "--above", "140")
    expect((target / IDENTITY).exists() and snapshots(target) == ALL, "then it may be claimed", str(snapshots(target)))


def later(place):
    """A session at the target counts more than those whose snapshots a copy brought, whatever step they are of."""
    source, target = make(place / "run"), place / "copy"
    copy(source, target)
    claim(target, 2)
    run(BUILD / "tests/make_small_run", target, "restart", "500", "2", "b5", "0", "2")
    run(BUILD / "tests/make_small_run", source, "restart", "150", "2", "b6", "0", "7")
    for verb in ("sync", "copy"):
        copy(source, target, verb=verb)
        left = sorted(path.name for path in (target / "forebay/sessions").iterdir())
        expect(left == ["000002", "000008"], f"{verb}: one claim stays that is above session 7", str(left))
        expect((target / "forebay/sessions/000008/ended").exists(), "it keeps nobody out")
    run(FOREBAY, "prune", target, "--above", "140")
    expect((target / "forebay/sessions/000009").exists(), "the next one has a number above it")


def main():
    for case in (living, own_lines, renamed, closed_directory, unowned, held, later, set_aside):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
            os.environ["XDG_CACHE_HOME"] = scratch + "/cache"
            case(pathlib.Path(scratch))
            print(f"ok: {case.__name__}", flush=True)


main()
