"""Goal: a verb of trees changes nothing that its words do not mean, and says so where its words mean nothing.

Method: restores and copies of a part into trees with directories of others; reports over files of others; a manifest beside
an older one, of runs that are killed or refused; syncs to the directory above a copy; a target that is partly closed to an
ordinary user; patterns that fit nothing.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from forebay_test import FOREBAY, all_of_forebay, check_each, expect, forebay, run

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
MANY = 3000  # entries, with more lines of a manifest than are written at once


def status(path):
    seen = path.stat()
    return seen.st_mode & 0o7777, seen.st_uid, seen.st_mtime_ns


def make(place):
    for folder in ("data/deep", "src/below", "other"):
        (place / folder).mkdir(parents=True)
    for name in ("data/a.h5", "data/deep/b.h5", "src/main.c", "src/below/x"):
        (place / name).write_text(name)
    return place


def others(place, copied):
    """Directories of others at the target, and what they have."""
    run("cp", "-a", place, copied)
    for number, name in enumerate(("src", "src/below", "other", "data", "data/deep")):
        os.chown(copied / name, 4321, -1)
        os.utime(copied / name, (10**9 + number, 10**9))
        (copied / name).chmod(0o700)
    shutil.rmtree(copied / "other")
    return {name: status(copied / name) for name in ("src", "src/below")}


def check_parts(place):
    source = make(place / "live")
    forebay("archive", source, place / "live.tar")
    run("tar", "--format=posix", "-cf", place / "plain.tar", "-C", source, ".")
    ways = {"copy": ("copy", source), "hosts": ("copy", source), "dry": ("copy", source), "ours": ("restore-archive", place / "live.tar"),
            "tar": ("restore-archive", place / "plain.tar")}
    more = {"hosts": ("--hosts", "localhost", "--threads", 1), "dry": ("--dry-run",)}
    for name, words in ways.items():
        target = place / f"part-{name}"
        before = others(source, target)
        was = status(target / "data")
        forebay(*words, target, "--include", "data/*", *more.get(name, ()))
        expect({path: status(target / path) for path in before} == before, f"{name}: what holds nothing that fits stays as it is")
        if name == "dry":
            expect(status(target / "data") == was, "a dry run changes nothing")
            continue
        for path in ("data", "data/deep", "other"):
            expect(status(target / path) == status(source / path), f"{name}: {path} is as its source", f"{status(target / path)} {status(source / path)}")
        for others_work in (("--hosts", "localhost", "--threads", 1), ()):
            forebay("compare", source, target, "--include", "data/*", *others_work)
            (target / "data/deep").chmod(0o711)
            said = forebay("compare", source, target, "--include", "data/*", *others_work, code=1)
            expect("data/deep  differs: mode" in said, f"{name}: compare looks at those in which something fits", said)
            (target / "data/deep").chmod(status(source / "data/deep")[0])
        forebay(*words, target, *more.get(name, ()))
        expect(status(target / "src") == status(source / "src"), f"{name}: without patterns each directory is")
    for words in (ways["copy"], ways["ours"]):
        # A killed run leaves this.
        target = place / f"killed-{words[0]}"
        (target / "src").mkdir(parents=True)
        (target / "src").chmod(0o1720)
        forebay(*words, target, "--include", "data/*")
        expect(status(target / "src") == status(source / "src"), f"{words[0]}: what a killed run has made is finished")
    closed = place / "closed"
    run("cp", "-a", source, closed)
    run("chown", "-R", "65534:65534", closed)
    (closed / "src").chmod(0o500)
    run("chmod", "-R", "a+rX", source)
    run(*NOBODY, FOREBAY, "copy", source, closed, "--include", "data/*", "--preserve", "permissions,times,attributes,hard-links")
    expect(status(closed / "src")[0] == 0o500, "a directory that its owner closed is closed again", oct(status(closed / "src")[0]))


def check_overwriting(place):
    source = make(place / "source")
    os.mkfifo(source / "fifo")
    precious = place / "precious"
    calls = {"--report": ("compare", source, source), "--list": ("walk", source), "--checksums": ("walk", source),
             "--manifest": ("copy", source, place / "made")}
    own = {}
    for option, words in calls.items():
        for content in (b"bytes of a user\n", b'{"kind":"else"}\n', b"\0" * 9000):
            precious.write_bytes(content)
            said = forebay(*words, option, precious, code=2)
            expect(precious.read_bytes() == content and f"not a file that {option} wrote" in said, f"{option} leaves a file of others", said)
        precious.write_bytes(b"")
        forebay(*words, option, precious, code=0 if option != "--report" else None)
        own[option] = place / f"own{option}"
    expect(not (place / ".fb-precious").exists(), "nothing is left")
    os.mkdir(place / "empty")
    long = source / ("\x01" * 200) / ("\x02" * 200)
    long.mkdir(parents=True)
    (long / "\udcff").write_text("a path of many bytes in JSON")
    for option, words in (("--report", ("compare", source, place / "empty")), ("--list", ("walk", source)), ("--checksums", ("walk", source))):
        for _ in range(2):  # its own is replaced
            run(FOREBAY, *words, option, own[option], code=1 if option == "--report" else 0)
        expect(own[option].read_bytes(), f"{option} has lines")
    run("sh", "-c", f"echo before > {place}/log; {FOREBAY} walk {source} --list /dev/stdout >> {place}/log")
    expect((place / "log").stat().st_size > 0, "what the shell has opened is not refused")
    shutil.rmtree(source / ("\x01" * 200))


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def check_manifest(place):
    source = place / "kept"
    source.mkdir()
    for number in range(5):
        (source / f"of-root-{number}").write_text("x")
    source.chmod(0o755)
    targets = place / "targets"
    targets.mkdir()
    os.chown(targets, 65534, 65534)
    manifest = targets / "manifest"
    words = [*NOBODY, FOREBAY, "copy", source, targets / "copy", "--manifest", manifest]
    run(*words)
    whole = manifest.read_text()
    expect(len(lines(manifest)) == 6, "a manifest has all that could not be kept", whole)
    run(*words, "--dry-run")
    expect(sorted(manifest.read_text().splitlines()) == sorted(whole.splitlines()), "a dry run replaces it by the same")
    manifest.write_text(whole)
    run(*words[:-4], source / "none", targets / "copy", "--manifest", manifest, code=3)
    run(*words[:-3], source / "copy", "--manifest", manifest, code=2)
    expect(manifest.read_text() == whole, "a run that is refused leaves it")
    (source / "large").write_bytes(os.urandom(20 << 20))
    (source / "many").mkdir()
    for number in range(MANY):
        (source / "many" / str(number)).touch()
    run("chmod", "-R", "a+rX", source)
    process = subprocess.Popen([str(word) for word in (*words, "--rate", "2M")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    copied = targets / "copy/many"
    while process.poll() is None and not (copied.exists() and len(os.listdir(copied)) == MANY):
        time.sleep(0.01)
    expect(process.poll() is None, "it is at the large file")
    process.send_signal(signal.SIGKILL)
    process.wait()
    expect(manifest.read_text() == whole, "a run that is killed leaves it", f"{manifest.stat().st_size} bytes")
    run(*words)
    expect(len(lines(manifest)) == 8 + MANY, "the next run replaces it", str(len(lines(manifest))))
    expect(not [path for path in targets.iterdir() if path.name.startswith(".fb-")], "and nothing is left beside it")


def check_at_once(place):
    """A list or report is whole or not there: two do not write one file, and a kill leaves what was there."""
    source, report = make(place / "source"), place / "report.jsonl"
    forebay("compare", source, place / "source/data", "--report", report, code=1)
    was = report.read_bytes()
    report.chmod(0o600)
    (source / "large").write_bytes(os.urandom(4 << 20))
    words = [FOREBAY, "copy", source, place / "copied", "--rate", "1M", "--report", report]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    while not (place / "copied/large").exists() and not list(place.glob("copied/.fb-*")):
        time.sleep(0.01)
    for other in (("walk", source, "--report"), ("compare", source, source, "--report")):
        said = forebay(*other, report, code=2)
        expect("another process writes" in said and "--report" in said, f"{other[0]}: the second is refused", said)
    process.kill()
    process.wait()
    expect(report.read_bytes() == was, "a kill leaves what was there")
    run(*words[:-4], "--report", report)
    expect(report.read_bytes() == b"" and not list(place.glob(".fb-*")), "and the next run replaces it")
    expect(report.stat().st_mode & 0o777 == 0o600, "for those who could read it")
    report.unlink()
    report.touch()
    mounted = 'mount --bind "$1" "$1" && "$2" compare "$3" "$3/data" --report "$1" --preserve none'
    done = run("unshare", "--mount", "--propagation", "private", "bash", "-c", mounted, "bash", report, FOREBAY, source, code=None)
    left = place / ".fb-report.jsonl"
    expect(done.returncode not in (0, 1) and f"all lines are in {left}" in done.stderr and lines(left), "what gets no name is told", done.stderr)
    for words, code in ((("walk", source, "--list", source / "own.list"), 0), (("compare", source, place / "copied", "--report", source / "own.list"), 1)):
        forebay(*words, "--exclude", "own.list", code=code)
        expect("own.list" not in (source / "own.list").read_text(), f"{words[0]}: a file in the tree that is left out is so until it is whole")
        (source / "own.list").unlink()
        (source / "differs").touch()


def check_unlike(place):
    source, above = make(place / "case"), place / "archive"
    for name in ("case", "year-1", "year-2"):
        run("cp", "-a", source, above / name if above.exists() else (above.mkdir() or above / name))
    for more in ((), ("--dry-run",), ("--hosts", "localhost")):
        said = forebay("sync", source, above, "--delete", *more, code=2)
        expect("no entry in common" in said and "remove all 3 entries" in said and f"{above}/case" in said and "--allow-unlike" in said,
               f"{more}: a target of which nothing is the source's is another place", said)
    expect(sorted(os.listdir(above)) == ["case", "year-1", "year-2"], "and stays as it is")
    forebay("sync", source, above / "case", "--delete")
    forebay("sync", source, above / "none", "--delete")
    (above / "none2").mkdir()
    forebay("sync", source, above / "none2", "--delete")
    forebay("sync", source, above, "--delete", "--exclude", "case", "--exclude", "year-*", "--exclude", "none*")
    forebay("sync", source, above, "--delete")
    expect(sorted(os.listdir(above)) == sorted(os.listdir(source)), "with one name alike it goes on")
    for path in source.iterdir():
        path.rename(source / f"new-{path.name}")
    forebay("sync", source, above, "--delete", code=2)
    forebay("sync", source, above, "--delete", "--allow-unlike")
    expect(sorted(os.listdir(above)) == sorted(os.listdir(source)), "and where it is wished")


def check_max_delete(place):
    """More than a number of entries does not go, and of these none: 4 that the target alone has, and 2 in the way of a file."""
    source, target = make(place / "most"), place / "most-target"
    for more in ((), ("--hosts", "localhost")):
        shutil.rmtree(target, ignore_errors=True)
        run("cp", "-a", source, target)
        (target / "more/deep").mkdir(parents=True)
        for name in ("x", "more/deep/y"):
            (target / name).write_text(name)
        before = sorted(target.rglob("*"))
        for dry, said in (((), "nothing was removed: "), (("--dry-run",), "nothing would be removed: ")):
            told = forebay("sync", source, target, "--delete", "--max-delete", 3, *dry, *more, code=1)
            expect(said + "4 entries would be removed, more than the 3 of --max-delete" in told, f"{dry}: more than are allowed", told)
            expect(sorted(target.rglob("*")) == before, "all stay")
        (target / "way").mkdir()
        (target / "way/z").write_text("z")
        (source / "way").write_text("a file")
        told = json.loads(forebay("sync", source, target, "--delete", "--max-delete", 1, "--json", *more, code=1))
        expect(told["exit_code"] == 1 and told["not_removed"].startswith("6 entries") and (target / "way/z").exists(), "nor do those in the way", str(told))
        expect(told["first"][0]["path"] == "way" and told["removed"] == 0, "which is named", str(told))
        told = forebay("sync", source, target, "--delete", "--max-delete", 5, "--dry-run", *more, code=1)
        expect("6 entries would be removed" in told, "a dry run counts both", told)
        told = forebay("sync", source, target, "--delete", "--max-delete", 5, *more, code=1)
        expect("nothing was removed: 6 entries would be removed" in told and (target / "way/z").exists() and (target / "x").exists(), "both together", told)
        told = json.loads(forebay("sync", source, target, "--delete", "--max-delete", 6, "--json", *more))
        expect(told["removed"] == 6 and (target / "way").is_file() and "not_removed" not in told and not (target / "x").exists(), "as many as are allowed go", str(told))
        (source / "way").unlink()
    for words in (("--max-delete", 3), ("--delete", "--max-delete", -1), ("--delete", "--max-delete", "x")):
        forebay("sync", source, target, *words, code=2)


def check_closed_target(place):
    source, target = make(place / "own"), place / "own-target"
    for where, closed in (("extra", "more/closed"), ("both", "src")):
        shutil.rmtree(target, ignore_errors=True)
        run("cp", "-a", source, target)
        (target / "extra").write_text("not at the source")
        (target / closed).mkdir(parents=True, exist_ok=True)
        run("chown", "-R", "65534:65534", source, target)
        os.chown(target / closed, 0, 0)
        (target / closed).chmod(0o700)
        words = [*NOBODY, FOREBAY, "sync", source, target, "--delete"]
        dry, done = (run(*words, *more, code=1) for more in (("--dry-run",), ()))
        for one in (dry, done):
            told = "removed: some of the target could not be read" in one.stdout
            expect(told == (where == "both"), f"{where}: why nothing is removed", one.stdout)
        expect((target / "extra").exists() == (where == "both"), f"{where}: what is extra", done.stdout)
        for one in (dry, done):
            expect(closed in one.stdout and "more  " not in one.stdout, f"{where}: the directory that is closed is named", one.stdout)
        if where == "extra":
            expect("1 (17 B) removed" in dry.stdout and " 1 removed" in done.stdout, "a dry run counts what goes", dry.stdout + done.stdout)
    (source / "shut").mkdir()
    (source / "shut").chmod(0)
    said = run(*NOBODY, FOREBAY, "sync", source, target, "--delete", "--dry-run", code=1).stdout
    expect("some of the source and of the target could not be read" in said, "both sides are named", said)


def check_patterns(place):
    source, target = make(place / "proj"), place / "inc"
    said = all_of_forebay("copy", source, target, "--include", "src", code=1)
    expect("no entry matches --include 'src': to take the contents of a directory, write 'src/*'" in said, "a pattern that fits nothing is named", said)
    forebay("copy", source, target)
    said = all_of_forebay("copy", source, target, "--include", "*.h5", "--include", "a.*", "--include", "*.{c,h}", "--exclude", "*.tmp", "--exclude", "deep")
    expect("--include '*.{c,h}': brackets and braces have no special meaning" in said and "--exclude '*.tmp'" in said, "each of several", said)
    expect("'*.h5'" not in said and "'a.*'" not in said and "'deep'" not in said, "those that fit are not", said)
    forebay("walk", source, "--checksums", place / "sums")
    forebay("archive", source, place / "proj.tar")
    for words, code in ((("compare", source, target), 1), (("compare", place / "sums", target), 1), (("walk", source), 0),
                        (("sync", source, target, "--dry-run"), 1), (("restore-archive", "--check", place / "proj.tar"), 1),
                        (("compare", source, target, "--hosts", "localhost", "--threads", 1), 1)):
        said = all_of_forebay(*words, "--include", "*.H5", code=code)
        expect("no entry matches --include '*.H5'" in said, f"{words[0]} names it, and ends with {code}", said)
        said = all_of_forebay(*words, "--include", "b.h5")
        expect("no entry matches" not in said, f"{words[0]}: one that fits", said)
    (place / "nothing").write_text("\n")
    said = all_of_forebay("copy", source, target, "--files-from", place / "nothing")
    expect("contains no path" in said, "a list without a path is told", said)


def main():
    if os.geteuid() != 0:
        print("skipped: needs root, for owners")
        sys.exit(77)
    check_each("guards", (check_parts, check_overwriting, check_manifest, check_at_once, check_unlike, check_max_delete,
                          check_closed_target, check_patterns))


main()
