"""Goal: what movers tell is true, short, and the same for people and scripts: one line for one cause, however many entries it has
befallen; what differed of what was adjusted; where there is no room; one thing is not "1 things"; a JSON object at each exit code.

Method: small trees of which each verb has something to tell; a file that is written to all the time; a tmpfs of 1 MiB.
"""

import json
import os
import pathlib
import re
import shutil
import tempfile
import threading

from forebay_test import FOREBAY, all_of_forebay, expect, run
from own_mounts import AS_USER, mover, user_may_run

KEYS = {"kind", "text", "what", "safe", "next"}


def make(place, count):
    place.mkdir(parents=True)
    for number in range(count):
        (place / f"file-{number}").write_text(str(number))
    return place


def lines_with(said, part):
    return [line for line in said.splitlines() if part in line]


def check_causes(place):
    source = make(place / "source", 40)
    for path in source.iterdir():
        path.chmod(0)
    done = run(*AS_USER, FOREBAY, "walk", source, "--checksums", "/dev/null", code=None)
    said = done.stdout + done.stderr
    found = lines_with(said, "Permission denied")
    expect(done.returncode == 1 and len(found) == 1, "one line has all of one cause", said)
    expect(re.fullmatch(r"file-\d+, file-\d+, file-\d+ and 37 more  failed: open: \*: Permission denied", found[0]), "with the first of them", said)
    expect(not lines_with(said, "--report FILE"), "and none is left", said)
    report = json.loads(run(*AS_USER, FOREBAY, "walk", source, "--checksums", "/dev/null", "--json", code=1).stdout)
    expect(len({line["path"] for line in report["first"]}) == 40 == report["remarks"]["failed"], "the object names each", str(report))


def check_adjusted(place):
    source, target = make(place / "source", 9), place / "target"
    all_of_forebay("copy", source, target)
    for number in range(6):
        (source / f"file-{number}").chmod(0o640)
        (target / f"file-{number}").chmod(0o604)
    os.utime(target / "file-7", (1, 1))
    os.utime(target / "file-7", ns=(os.stat(source / "file-7").st_atime_ns, os.stat(source / "file-7").st_mtime_ns))
    os.setxattr(source / "file-8", "user.a", b"1")
    for words, kind in ((("--dry-run",), "would_adjust"), ((), "adjusted")):
        said = all_of_forebay("sync", source, target, *words)
        expect(len(lines_with(said, f"and 3 more  {kind}: mode 0640 and 0604")) == 1, "what differs is told, once", said)
        expect_line(said, f"file-8  {kind}: user.a", "and extended attributes")
    report = json.loads(run(FOREBAY, "sync", source, target, "--json").stdout)
    expect(report["adjusted"] == report["remarks"]["adjusted"] == 0 and report["equal"] == 9, "then all is equal", str(report))


def check_adjusted_beside(place):
    """What is as it should be takes no room of what is not."""
    source, target = make(place / "source", 1_200), place / "target"
    mover("copy", source, target)
    for number in range(1_200):
        (target / f"file-{number}").chmod(0o600)
    for number in range(0, 1_200, 150):
        (target / f"file-{number}").unlink()
        (target / f"file-{number}").mkdir()
    _, report = mover("copy", source, target, code=(1,))
    failed = [one["path"] for one in report["first"] if one["kind"] == "failed"]
    expect(len(failed) == 8 and report["remarks"]["adjusted"] == 1_192, "all that failed is among the first", str(failed))


def expect_line(said, line, what):
    expect(line in said.splitlines(), f"{what}: \"{line}\"", said)


def check_changed(place):
    """The sentence is true with an older copy at the target, and without one."""
    source, target = make(place / "source", 1), place / "target"
    all_of_forebay("copy", source, target)
    (source / "file-0").write_bytes(b"x" * (48 << 20))  # is copied for longer than nothing is written
    ends = threading.Event()

    def write():
        with (source / "file-0").open("ab", buffering=0) as file:
            while not ends.wait(0.0005):
                file.write(b"more")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for place_of, has_old in ((target, True), (place / "new", False)):
            said = all_of_forebay("copy", source, place_of, code=1)
            expect_line(said, "file-0  changed: it changed during each copy and was left out. An older copy at the target stays", "why")
            expect((place_of / "file-0").exists() == has_old, "an older copy stays, and none comes")
    finally:
        ends.set()
        writer.join()
    expect((target / "file-0").read_text() == "0", "as it was")


def check_one(place):
    """Of each verb, what it says of one thing."""
    source, target, archive = make(place / "source", 1), place / "target", place / "a.tar"
    said = ""
    for words in (("copy", source, target, "--dry-run"), ("copy", source, target), ("sync", source, target), ("compare", source, target),
                  ("walk", source), ("walk", target / "file-0", "--bogus"), ("archive", source, archive), ("restore-archive", "--check", archive),
                  ("delete", target, "--dry-run"), ("delete", target)):
        done = run(FOREBAY, *words, code=None)
        said += done.stdout + done.stderr
    (source / "file-0").unlink()
    said += all_of_forebay("delete", source)
    wrong = re.findall(r"\b1 (?:entries|files|folders|runs|snapshots|inodes|hosts|days|scripts)\b.*", said)
    expect(not wrong and "1 entry: 1 copied" in said and "1 entry removed" in said and "1 file, 1 B, was compared" in said, "one is one", f"{wrong}\n{said}")


def check_patterns(place):
    """However many there are, each that fits nothing is named."""
    source = make(place / "source", 100)
    patterns = [word for number in range(100) for word in ("--include", f"file-{number}")] + ["--include", "none-1", "--exclude", "none-2"]
    for hosts in ((), ("--hosts", "localhost", "--threads", "1")):
        said = all_of_forebay("copy", source, place / f"target-{len(hosts)}", *patterns, *hosts)
        expect(re.findall("no entry matches (.*?)(?:: |$)", said, re.M) == ["--include 'none-1'", "--exclude 'none-2'"], f"{hosts}: the right ones", said)


def answer(*words, code, before=()):
    done = run(*before, FOREBAY, *words, "--json", code=None)
    expect(done.returncode == code, f"{words} ends with {code}, not {done.returncode}", done.stdout + done.stderr)
    told = json.loads(done.stdout)
    expect(told["exit_code"] == code and ("error" in told) == (code > 1), f"{words}: the object has the exit code", done.stdout)
    if code > 1:
        expect(set(told["error"]) == KEYS and told["error"]["text"].strip() in done.stderr, f"{words}: and the error that people get", done.stdout + done.stderr)
    return told


def check_answers(place):
    source, target, archive = make(place / "source", 3), place / "target", place / "a.tar"
    answer("copy", source, target, code=0)
    answer("archive", source, archive, code=0)
    for words in (("walk",), ("copy", source), ("sync", source), ("compare", source), ("delete",), ("archive", source), ("restore-archive", archive), ("migrate",)):
        for wrong in (("--bogus",), ("--threads", "-1"), ()):
            last = () if wrong == () and words[0] not in ("restore-archive",) else (place / "x",)
            if words[0] == "restore-archive" and wrong == ():
                last = ()
            answer(*words, *last, *wrong, code=2)
    (place / "plan.toml").write_text("state = 1\n")
    for words, code in ((("walk", place / "none"), 3), (("copy", place / "none", target), 3), (("sync", place / "none", target), 3),
                        (("compare", source, place / "none"), 3), (("delete", place / "none"), 3), (("archive", place / "none", place / "b.tar"), 3),
                        (("restore-archive", place / "none", target), 3), (("migrate", place / "none"), 3), (("migrate", place / "plan.toml"), 2),
                        (("copy", source, source / "in-it"), 2), (("walk", source / "file-0"), 2), (("archive", source, archive), 2),
                        (("sync", source, target, "--layout", "source"), 6), (("copy", source, target, "--rate", "fast"), 2)):
        answer(*words, code=code)
    (target / "file-1").write_text("other")
    expect(answer("compare", source, target, code=1)["remarks"]["differs"] == 1, "what differs is no error")
    data = bytearray(archive.read_bytes())
    data[len(data) // 2:] = b"x" * (len(data) - len(data) // 2)
    archive.write_bytes(data)
    told = answer("restore-archive", archive, place / "again", code=4)
    expect(told["entries"] > 0, "what was done before the error is counted", str(told))
    answer("restore-archive", "--check", archive, code=4)


def check_full(place):
    """The error names what is full, and how much room it has."""
    source, mount = make(place / "source", 1), place / "mount"
    mount.mkdir()
    for number in range(5):
        (source / f"large-{number}").write_bytes(b"x" * 400_000)
    for words in (("copy", source, mount / "target"), ("archive", source, mount / "a.tar")):
        script = f"mount -t tmpfs -o size=1m none {mount} && exec {FOREBAY} {' '.join(map(str, words))} --json"
        done = run("unshare", "--mount", "--propagation", "private", "sh", "-c", script, code=None)
        if "unshare" in done.stderr or "mount:" in done.stderr:
            return print("left out, a target without room: no mounts of its own here")
        told = json.loads(done.stdout)
        expect(done.returncode == told["exit_code"] == 5 and told["copied"] > 0, "it is an error of the room", done.stdout)
        expect(re.search(rf"TARGET {words[2]} is full \(tmpfs none on {mount} .*, [\d.]+ \w+ left for your user, and \d+ inodes\): ", told["error"]["what"]), "where", done.stderr)
        safe = "whole" if words[0] == "copy" else "a.tar was not made"
        expect(safe in told["error"]["safe"] and f"df {mount}" in told["error"]["next"], "what is safe, and what is to be done", done.stderr)
    return None


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-told-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        place.chmod(0o755)
        for check in (check_adjusted, check_adjusted_beside, check_changed, check_one, check_patterns, check_answers):
            check(place / check.__name__)
        if os.geteuid() == 0:
            check_full(place / "full")
        if os.geteuid() == 0 and shutil.which("setpriv") and user_may_run():
            check_causes(place / "causes")
        else:
            print("left out, what an ordinary user may not read")
    print("movers tell what is true, once")


main()
