"""Goal: one file is copied, synced and compared as one of a tree is: with all that it has, whole or not at all, gone on with
after a kill; its target is the name that was given, and nothing beside it is touched.

Method: files with every attribute in folders with others; targets that are there, missing, links and directories; a kill in
the middle of a large file; two at once.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from forebay_test import FOREBAY, expect, forebay, run

MIB = 1 << 20


def told(*words, code=0):
    done = run(FOREBAY, *words, "--json", code=code)
    return json.loads(done.stdout)


def stat_of(path):
    found = path.lstat()
    return found.st_mode, found.st_uid, found.st_gid, found.st_mtime_ns, found.st_size


def make(place):
    (place / "from").mkdir()
    (place / "to").mkdir()
    file = place / "from/file"
    file.write_text("some bytes")
    (place / "from/beside").write_text("not meant")
    os.setxattr(file, "user.colour", b"blue")
    if os.geteuid() == 0:
        os.chown(file, 7, 8)
    file.chmod(0o4751)
    os.utime(file, ns=(10**18, 10**18 + 7))
    (place / "to/beside").write_text("stays")
    (place / "to/.fb-notours").write_text("stays")
    os.chmod(place / "to", 0o2711)
    os.utime(place / "to/beside", ns=(5, 5))
    return file, place / "to"


def check_copy(place):
    file, folder = make(place)
    said = forebay("copy", file, folder / "laid", "--layout", "1", code=6)
    expect("without a choice of storage targets" in said, "a layout without Lustre is refused with its reason", said)
    expect(not (folder / "laid").exists(), "and nothing is made")
    target, before = folder / "other-name", folder.lstat()
    report = told("copy", file, target)
    expect((report["copied"], report["entries"], report["bytes"]) == (1, 1, 10), "one is copied", str(report))
    expect(stat_of(target) == stat_of(file) and os.getxattr(target, "user.colour") == b"blue", "with all that it has")
    expect({path.name for path in folder.iterdir()} == {"other-name", "beside", ".fb-notours"}, "nothing else is made",
           str(list(folder.iterdir())))
    expect((folder.lstat().st_mode, folder.lstat().st_uid) == (before.st_mode, before.st_uid), "the folder keeps what it has")
    report = told("sync", file, target)
    expect((report["copied"], report["equal"]) == (0, 1), "again it is equal", str(report))
    target.chmod(0o600)
    expect(told("sync", file, target)["adjusted"] == 1, "attributes alone are adjusted")
    forebay("compare", file, target)
    os.setxattr(target, "user.colour", b"red")
    found = told("compare", file, target, code=1)
    expect(found["remarks"]["differs"] == 1, "compare sees an attribute", str(found))
    target.write_text("some bYtes")
    os.utime(target, ns=(10**18, 10**18 + 7))
    found = told("compare", file, target, "--preserve", "none", code=1)
    expect("bytes from 6" in found["first"][0]["why"], "and a byte", str(found))
    expect(told("copy", file, target, "--verify")["adjusted"] == 1, "a copy heals attributes")
    expect(told("sync", file, target, "--checksum", "--dry-run")["would_replace"] == {"entries": 1, "bytes": 10}, "a dry run")
    expect(told("sync", file, target, "--checksum")["copied"] == 1 and target.read_text() == "some bytes", "and --checksum bytes")
    link = folder / "link"
    link.symlink_to(folder / "beside")
    forebay("copy", file, link)
    expect(not link.is_symlink() and (folder / "beside").read_text() == "stays", "a link is replaced, and not followed")
    (place / "way").symlink_to(file)
    forebay("copy", place / "way", folder / "by-way")
    expect((folder / "by-way").read_text() == "some bytes" and not (folder / "by-way").is_symlink(), "a link to the source is followed")


def check_refusals(place):
    file, folder = place / "from/file", place / "to"
    names = {path.name for path in folder.iterdir()}
    for words in (("copy", file, folder), ("copy", file, f"{folder}/"), ("copy", file, f"{folder}/missing/")):
        said = forebay(*words, code=2)
        expect("is a directory" in said and "/file" in said, "the error says how to name it", said)
    for words in (("copy", file, file), ("copy", file, place / "from/../from/file"), ("sync", file, folder / "x", "--delete"),
                  ("copy", file, folder / "x", "--exclude", "a"), ("copy", file, folder / "x", "--hosts", "localhost"),
                  ("compare", file, folder / "beside", "--include", "a")):
        forebay(*words, code=2)
    forebay("copy", file, place / "none/x", code=3)
    forebay("copy", place / "from/none", folder / "x", code=3)
    forebay("compare", file, folder / "none", code=3)
    expect({path.name for path in folder.iterdir()} == names, "and makes nothing", str(list(folder.iterdir())))
    os.mkfifo(place / "from/fifo")
    done = run(FOREBAY, "copy", place / "from/fifo", folder / "x", code=None)
    expect(done.returncode not in (0, 1), "a fifo is no source", done.stdout + done.stderr)


def check_kill(place):
    file, target = place / "large", place / "to/large"
    with open(file, "wb") as out:
        for number in range(160):
            out.write(number.to_bytes(8, "little") * (MIB // 8))
    process = subprocess.Popen([FOREBAY, "copy", file, target, "--rate", "60M", "--threads", "1"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    for _ in range(6000):
        marks = [path for path in (place / "to").glob(".fb-*.parts") if path.stat().st_size]
        if marks:
            break
        time.sleep(0.01)
    time.sleep(0.05)
    said = forebay("copy", file, target, code=2)
    expect("the same copy" in said, "two at once: the second is refused", said)
    process.kill()
    process.wait()
    expect(not target.exists(), "a killed copy has no final name")
    report = told("copy", file, target)
    expect(report["resumed_bytes"] > 0 and report["copied"] == 1, "it is gone on with", str(report))
    expect(target.read_bytes() == file.read_bytes(), "and whole")
    expect(not [path.name for path in (place / "to").glob(".fb-*") if path.name != ".fb-notours"], "nothing of it stays")


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-file-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        check_copy(place)
        check_refusals(place)
        check_kill(place)
    print("single files: as files of trees")


if __name__ == "__main__":
    sys.exit(main())
