"""Goal: the verbs of trees end with the exit codes of the guide, and say in JSON and in reports what became of entries.

Method: small trees; an ordinary user stands for a target that cannot keep an owner or a device.
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

from forebay_test import FOREBAY, all_of_forebay, expect, forebay, run

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


def check_lists_of_nothing(place):
    """Each path of a list that nothing can be copied of is named, and what it leads through is not copied for it."""
    source = place / "source-listed"
    (source / "folder/deep").mkdir(parents=True)
    (source / "folder/deep/file").write_text("1")
    (source / "file").write_text("2")
    (source / "also").write_text("3")
    (source / "link").symlink_to("folder")
    absent = ["file/x", "also/y/z", "link/deep/file", "folder/none", "folder/deep/none", "folder/deep/file/x"]
    there = ["folder", "folder/deep", "folder/deep/file", "also"]
    for whole, words in ((False, ()), (True, ()), (False, ("--hosts", "localhost", "--threads", 1))):
        (place / "list").write_text("".join(path + "\n" for path in [*absent, *there, *(["."] if whole else [])]))
        target = place / "listed-nothing"
        report = json.loads(forebay("copy", source, target, "--files-from", place / "list", "--json", *words, code=1))
        named = {(one["path"], one["kind"]) for one in report["first"]}
        expect(named == {("file/x", "failed"), ("also/y", "failed"), ("link/deep", "failed"), ("folder/deep/file/x", "failed"),
                         ("folder/none", "vanished"), ("folder/deep/none", "vanished")}, f"all that is not there is named, {whole} {words}", str(named))
        copied = {str(path.relative_to(target)) for path in target.rglob("*")}
        expect(copied == {*there, *(["file", "link"] if whole else [])}, f"what the list has is copied, and no more, {whole} {words}", str(copied))
        shutil.rmtree(target)


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


def check_one_line_for_owners(place):
    """All entries are somebody else's: one line says so, with what may be done, and the report has each."""
    source, targets = place / "of-others", place / "for-others"
    source.mkdir()
    targets.mkdir()
    os.chmod(targets, 0o777)
    for number in range(30):
        (source / f"file-{number}").write_text("of root")
    os.chmod(place, 0o755)
    (source / "closed").write_text("of root")
    os.chmod(source / "closed", 0)
    said = as_nobody("copy", source, targets / "refused", "--report", targets / "report", code=1)
    owners = [line for line in said.splitlines() if "31 entries have owners that your user may not set" in line]
    expect(len(owners) == 1 and "--cannot-keep drop" in owners[0], "one line for all owners, with the option", said)
    expect("file-7" not in said and "closed  failed" in said, "and what is another error is not hidden behind them", said)
    expect(sum("owner" in line["why"] for line in lines(targets / "report")) == 31, "the report has each")
    said = as_nobody("copy", source, targets / "dropped", "--exclude", "closed", "--cannot-keep", "drop", code=1)
    expect("your user owns them at the target" in said, "what was dropped is said so", said)
    said = as_nobody("copy", source, targets / "kept", "--exclude", "closed", "--manifest", targets / "beside", code=0)
    expect("the manifest has their owners" in said and len(lines(targets / "beside")) == 31, "a manifest alone means that policy", said)


def refused(*words, code=2, parts=()):
    said = forebay(*words, code=code)
    for part in (*parts, "Next: "):
        expect(part in said, f"{words}: the error has \"{part}\"", said)


def check_words(place):
    """What is no option, verb or number is named, with what may be meant."""
    source, target = place / "source", place / "of-words"
    for word, meant in (("--delet", "--delete,"), ("--dryrun", "--dry-run,"), ("--thread=5", "--threads,"),
                        ("--exlude", "--exclude,")):
        refused("sync", source, target, word, parts=(f"has no option {word.split('=')[0]}", meant))
        refused("sync", word, source, parts=("has no option", meant))  # TARGET is missing, too
    refused("sync", source, target, "--zzz", parts=("has no option --zzz", "forebay sync --help"))
    refused("copy", source, target, "more", parts=('"more" is one argument too many', "forebay copy SOURCE TARGET"))
    refused("synk", source, parts=('there is no verb "synk"', "forebay sync,"))
    refused("export", "open", parts=('there is no verb "open" of forebay export', "forebay export openpmd,"))
    for number in ("-1", "1025", "99999999999999999999"):
        refused("copy", source, target, "--threads", number, parts=(f"--threads: {number} is out of range: 0 to 1024",))
    refused("copy", source, target, "--threads", "two", parts=('--threads: "two" is not an integer',))
    for words, meant in ((("copy", "-r", source, target), "leave it out: the command takes the whole tree"), (("copy", "-a", source, target), "leave it out"),
                         (("copy", "-R", source, target), "leave it out"), (("copy", source, target, "--delete"), "forebay sync SOURCE TARGET --delete"),
                         (("sync", "-n", source, target), "Next: --dry-run"), (("sync", "-av", source, target), "leave it out"),
                         (("delete", "-rf", source), "leave it out: delete removes all"), (("walk", "-v", source), "--report FILE")):
        refused(*words, parts=(f"has no option {next(word for word in words if str(word).startswith('-'))}", meant))
    expect(source.exists() and not target.exists(), "nothing was made or removed")


def check_empty(place):
    """A word that is empty, as of a variable that is not set, is no place, and no list of hosts."""
    source, target = place / "source", place / "of-empty"
    before = sorted(place.rglob("*"))
    for verb in ("copy", "sync", "compare", "archive", "restore-archive", "pack"):
        refused(verb, "", target, parts=("it is empty",))
        refused(verb, place / "ours.tar" if verb == "restore-archive" else source, "", parts=("empty",))
    for verb in ("walk", "delete", "migrate"):
        refused(verb, "", parts=("it is empty",))
    for option in ("--hosts", "--files-from", "--report", "--manifest", "--exclude-targets", "--rate-group", "--cannot-keep"):
        refused("copy", source, target, option, "", parts=(option, "it is empty"))
    expect(sorted(place.rglob("*")) == before, "nothing was done")


def check_places(place):
    """What is no tree is named as what it is, before anything is made."""
    source, target = place / "source", place / "of-places"
    os.mkfifo(place / "pipe")
    (place / "dangling").symlink_to("nowhere")
    (place / "list").write_text("file\n")
    for verb in ("copy", "sync", "compare"):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(place / "socket"))
            refused(verb, place / "socket", source, parts=("SOURCE", "is a socket", f"give the directory above it: {place}"))
        os.remove(place / "socket")
        refused(verb, place / "pipe", source, parts=("SOURCE", "is a fifo"))
        refused(verb, "/dev/null", source, parts=("is a device",))
        refused(verb, place / "no/thing/here", source, code=3, parts=(f"does not exist: {place} has no no", f"ls {place}"))
        refused(verb, place / "dangling", source, code=3, parts=("is a symbolic link to nowhere, which does not exist",))
    for verb in ("walk", "archive"):
        more = [target] if verb == "archive" else []
        refused(verb, place / "pipe", *more, parts=("is a fifo, and must be a directory",))
        refused(verb, place / "list", *more, parts=("is a file, and must be a directory",))
        refused(verb, place / "none", *more, code=3, parts=(f"{place} has no none",))
    refused("delete", place / "none", code=3, parts=(f"{place} has no none",))
    refused("copy", source, place / "dangling", parts=("TARGET", "is a symbolic link to nowhere", "make the directory of the link"))
    refused("copy", source, place / "list", parts=("TARGET", "is a file"))
    swapped = f"forebay copy {source} {target} --files-from {place}/list"
    refused("copy", place / "list", target, "--files-from", source, parts=(swapped,))
    refused("compare", place / "list", source, parts=("not a list of checksums", f"{source}/list"))
    refused("compare", source, place / "list", parts=("is a directory, and TARGET", f"forebay compare {place}/list {source}"))
    expect(not target.exists(), "nothing was made")


def check_own_files(place):
    """A list or a report that lies in a tree of the verb would be one of its entries."""
    source, target = make(place / "own-source"), place / "own-target"
    forebay("copy", source, target)
    before = {path.name for path in source.rglob("*")}
    (place / "way").symlink_to(source)
    for words in (("walk", source, "--list", source / "below/l"), ("walk", source, "--checksums", place / "way/l"),
                  ("walk", source, "--report", source / "l"), ("sync", source, target, "--delete", "--report", target / "l"),
                  ("copy", source, target, "--report", source / "l"), ("copy", source, target, "--manifest", target / "l"),
                  ("compare", source, target, "--report", source / "l"), ("delete", target, "--report", target / "l"),
                  ("archive", source, place / "own.tar", "--report", source / "l")):
        refused(*words, parts=("lies in", "a path outside of it"))
    refused("copy", source / "file", place / "own-copy", "--report", source / "file", parts=("is the source or target of the command",))
    refused("walk", source, "--list", place / "l", "--report", place / "l", parts=("--list", "--report", "are the same file"))
    expect({path.name for path in source.rglob("*")} == before and {path.name for path in target.rglob("*")} == before, "nothing was made")
    forebay("walk", source, "--checksums", source / "sums", "--exclude", "sums")
    refused("compare", source / "sums", source, parts=("the list", "lies in"))
    forebay("compare", source / "sums", source, "--exclude", "sums")
    forebay("sync", source, target, "--delete", "--exclude", "log", "--exclude", "sums", "--report", target / "log")
    expect((target / "log").exists(), "what --exclude leaves out stays")
    for words in (("walk", source, "--list", "/dev/stdout"), ("copy", source, place / "own-piped", "--exclude", "*", "--report", "/dev/stdout")):
        forebay(*words)  # a pipe has no size and no sync
    listed = run("bash", "-c", '"$1" walk "$2" --list /dev/fd/3 3>&1 >&2 | cat', "bash", FOREBAY, source)
    paths = {json.loads(line)["path"] for line in listed.stdout.splitlines()}
    expect(len(paths) == len(list(source.rglob("*"))) and "below/same" in paths, "a list in a pipe is whole", listed.stdout)
    (source / "paths").write_text("file\npaths\n")
    forebay("copy", source, place / "own-listed", "--files-from", source / "paths")
    expect((place / "own-listed/paths").exists(), "a list of paths is a file as others")


def check_manifest_alone(place):
    source = place / "source"
    for word in ("refuse", "drop"):
        refused("copy", source, place / "no", "--manifest", place / "m", "--cannot-keep", word, parts=(f"--cannot-keep {word} writes no manifest",))
    forebay("copy", source, place / "with-manifest", "--manifest", place / "m")
    expect((place / "m").read_text() == "", "a manifest that nothing was written to")


def check_line_ends(place):
    """A list of Windows: the cause is named. A name may end with a carriage return."""
    source, listed = place / "source", place / "windows.txt"
    listed.write_bytes(b"file\r\nbelow/same\r\n")
    said = all_of_forebay("copy", source, place / "of-windows", "--files-from", listed, code=1)
    expect("end with a carriage return" in said and f"tr -d '\\r' < {listed}" in said, "the cause is named", said)
    (source / "file\r").write_text("its name ends so")
    said = all_of_forebay("copy", source, place / "of-name", "--files-from", listed, code=1)
    expect((place / "of-name/file\r").exists(), "a name with one is found", said)
    os.remove(source / "file\r")
    sums = place / "windows.crc32c"
    forebay("walk", source, "--checksums", sums)
    good = sums.read_bytes()
    for changed in (good.replace(b"\n", b"\r\n"), good.replace(b"\n", b"\r\n", 2), good[:-1] + b"\r\n"):
        sums.write_bytes(changed)
        refused("compare", sums, source, parts=(str(sums), "end with a carriage return", f"tr -d '\\r' < {sums} > LIST"))
    run("sh", "-c", f"tr -d '\\r' < {sums} > {place}/LIST")
    forebay("compare", place / "LIST", source)


def check_archives(place):
    """A check says whether an archive is whole, and what it could compare; another file is none."""
    source, ours, tars = place / "source", place / "ours.tar", place / "tars.tar"
    forebay("archive", source, ours)
    run("tar", "-C", place, "-cf", tars, "source/file", "source/fifo")
    said = forebay("restore-archive", "--check", ours)
    expect(said.startswith("whole: ") and "2 files, 8 B, were compared with the checksums" in said, "an archive of ours", said)
    said = forebay("restore-archive", "--check", tars)
    expect(said.startswith("its structure is whole: 2 entries") and "1 file, 5 B, without a checksum" in said, "one of tar", said)
    told = json.loads(forebay("restore-archive", "--check", tars, "--json"))
    expect((told["compared_files"], told["uncompared_files"], told["uncompared_bytes"]) == (0, 1, 5), "the same in JSON", str(told))
    data = bytearray(ours.read_bytes())
    data[data.index(b"bytes\0")] ^= 1
    (place / "flipped.tar").write_bytes(data)
    said = forebay("restore-archive", "--check", place / "flipped.tar", code=1)
    expect("not whole: " in said, "a damaged one", said)
    (place / "cut.tar").write_bytes(data[:300])
    forebay("restore-archive", "--check", place / "cut.tar", code=4)
    for bytes_of, what in ((b"text\n", 'begins with "text'), (b"\x89HDF\r\n\x1a\n" + bytes(600), "an HDF5 file"),
                           (b"\x1f\x8b" + bytes(600), "compressed by gzip"), (b"\x7fELF" + bytes(600), "a program")):
        (place / "other").write_bytes(bytes_of)
        refused("restore-archive", place / "other", place / "of-other", parts=(what,))
        refused("restore-archive", "--check", place / "other", parts=(what,))
    refused("restore-archive", source, ours, parts=("TARGET", "is a file"))
    refused("restore-archive", source, place / "of-other", parts=("is a directory, not an archive", "give the archive first"))
    expect(not (place / "of-other").exists(), "nothing was made")


def main():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        place = pathlib.Path(name)
        check_codes(place)
        check_lists(place)
        check_lists_of_nothing(place)
        check_permissions(place)
        for check in (check_words, check_empty, check_places, check_own_files, check_manifest_alone, check_line_ends, check_archives):
            check(place)
        if os.geteuid() == 0 and shutil.which("setpriv"):
            check_cannot_keep(place)
            check_one_line_for_owners(place)
    print("verbs: as the guide says")


if __name__ == "__main__":
    sys.exit(main())
