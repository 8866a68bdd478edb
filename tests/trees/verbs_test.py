"""Goal: the verbs of trees end with the exit codes of the guide, and say in JSON and in reports what became of entries.

Method: small trees; an ordinary user stands for a target that cannot keep an owner or a device.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from forebay_test import FOREBAY, expect, forebay, run

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def make(place):
    (place / "below").mkdir(parents=True)
    (place / "file").write_text("bytes")
    os.link(place / "file", place / "below/same")
    os.mkfifo(place / "fifo")
    (place / b"\xff\n".decode("utf-8", "surrogateescape")).write_text("odd")
    return place


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def check_codes(place):
    source, target = make(place / "source"), place / "target"
    report = place / "report"
    forebay("copy", source, target)
    forebay("compare", source, target)
    (target / "more").touch()
    (target / "file").write_text("other")
    forebay("compare", source, target, "--report", report, code=1)
    kinds = {(line["kind"], line["path"]) for line in lines(report)}
    expect({("only_target", "more"), ("differs", "file")} <= kinds, "what differs is in the report", str(kinds))
    told = json.loads(forebay("sync", source, target, "--delete", "--dry-run", "--json"))
    expect((target / "more").exists(), "a dry run removes nothing")
    expect(told["remarks"]["would_remove"] == 1 and told["remarks"]["would_copy"] >= 1, "a dry run says what it would do", str(told))
    told = json.loads(forebay("sync", source, target, "--delete", "--json"))
    expect(told["removed"] == 1 and told["copied"] >= 1, "sync removes and copies", str(told))
    forebay("compare", source, target)
    told = json.loads(forebay("walk", source, "--json", "--list", place / "list", "--special"))
    expect((told["file"], told["folder"], told["fifo"], told["further_names"]) == (3, 2, 1, 1), "a walk counts", str(told))
    expect({line["path"] for line in lines(place / "list")} == {"file", "below/same", "fifo"}, "a walk lists what is special")
    forebay("copy", place / "none", target, code=3)
    forebay("copy", source, source / "below/copy", code=2)
    forebay("copy", source, target, "--cannot-keep", "some", code=2)
    forebay("copy", source, target, "--cannot-keep", "manifest", code=2)
    forebay("copy", source, target, "--preserve", "ownership", code=2)
    forebay("sync", source, target, "--delete", "--files-from", report, code=2)
    forebay("delete", target / "file", code=2)
    forebay("delete", target)
    expect(not target.exists(), "delete removes the directory itself")
    forebay("delete", target, code=3)


def check_permissions(place):
    source = place / "permissions"
    source.mkdir()
    (source / "file").touch()
    os.chmod(source / "file", 0o4777)
    os.chmod(source, 0o2775)
    os.umask(0o027)
    forebay("copy", source, place / "usual", "--preserve", "none")
    expect((place / "usual/file").stat().st_mode & 0o7777 == 0o750, "permissions that are not preserved are as the umask wants them")
    expect((place / "usual").stat().st_mode & 0o7777 == 0o750, "those of directories too")
    forebay("copy", source, place / "kept")
    expect((place / "kept/file").stat().st_mode & 0o7777 == 0o4777, "preserved permissions do not depend on the umask")
    os.umask(0o022)


def check_lists(place):
    source = place / "source"
    (place / "list").write_bytes(b"file\0\xff\n\0")
    forebay("copy", source, place / "listed", "--files-from", place / "list", "--null")
    expect({path.name.encode("utf-8", "surrogateescape") for path in (place / "listed").iterdir()} == {b"file", b"\xff\n"}, "a list with zero bytes")
    (place / "list").write_text("below/same\nnone\n")
    told = json.loads(forebay("copy", source, place / "listed-2", "--files-from", place / "list", "--json", code=1))
    expect(told["remarks"]["vanished"] == 1, "a listed path that is not there is said", str(told))
    expect((place / "listed-2/below/same").read_text() == "bytes", "a listed path is copied")


def as_nobody(*words, code):
    done = subprocess.run([*NOBODY, FOREBAY, *[str(word) for word in words]], capture_output=True, text=True, check=False)
    expect(done.returncode == code, f"as nobody {words} ends with {code}, not {done.returncode}", done.stdout + done.stderr)
    return done.stdout


def check_cannot_keep(place):
    """The copy of root's readable file by nobody: its owner cannot be kept."""
    source = place / "of-root"
    source.mkdir()
    (source / "file").write_text("of root")
    os.mknod(source / "null", 0o020600, os.makedev(1, 3))
    os.chmod(place, 0o755)
    targets = place / "targets"
    targets.mkdir()
    os.chmod(targets, 0o777)
    told = json.loads(as_nobody("copy", source, targets / "refused", "--json", code=1))
    expect(told["remarks"]["not_kept"] >= 2 and told["copied"] == 0, "by default what cannot be kept is not copied", str(told))
    expect(not (targets / "refused/file").exists(), "and is under no name")
    told = json.loads(as_nobody("copy", source, targets / "dropped", "--cannot-keep", "drop", "--json", code=1))
    expect((targets / "dropped/file").read_text() == "of root" and told["copied"] == 1, "dropped", str(told))
    as_nobody("copy", source, targets / "kept", "--cannot-keep", "manifest", "--manifest", targets / "manifest", code=0)
    kept = {(line["path"], line["part"]) for line in lines(targets / "manifest")}
    expect({("file", "owner 0:0"), ("null", "character device"), (".", "owner 0:0")} <= kept, "the manifest has it", str(kept))
    device = next(line for line in lines(targets / "manifest") if line["path"] == "null")
    expect((device["device_major"], device["device_minor"], device["permissions"]) == (1, 3, 0o600), "a device whole", str(device))
    as_nobody("copy", source, targets / "without", "--preserve", "permissions,times", "--exclude", "null", code=0)
    expect(run("find", targets, "-name", ".fb-*").stdout == "", "no temporary names stay")


def main():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        place = pathlib.Path(name)
        check_codes(place)
        check_lists(place)
        check_permissions(place)
        if os.geteuid() == 0 and shutil.which("setpriv"):
            check_cannot_keep(place)
    print("verbs: as the guide says")


if __name__ == "__main__":
    sys.exit(main())
