"""Goal: what a verb writes beside trees takes nothing from others and shows nothing to them, and says what was done.

Method: planted links, fifos and files under the name that a manifest has until it is whole; modes of what is replaced;
archives of nothing over archives of all, under names of compressed files, on a disk that is too small, and with owners that
no system has; patterns that nothing fits; reports of copies, syncs, restores and removals by one process and two, also where they cannot be
written to their end.
"""

import io
import json
import os
import pathlib
import subprocess
import tarfile
import tempfile

from forebay_test import FOREBAY, all_of_forebay, expect, forebay, run
from small_runs import make, save, snapshots

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def mode(path):
    return path.stat().st_mode & 0o7777


def check_planted(place):
    """Nothing of others is written to, and no file of others becomes the manifest."""
    source, shared, precious = place / "source", place / "shared", place / "precious"
    source.mkdir()
    (source / "a").write_text("a")
    os.chown(source / "a", 5, 5)
    shared.mkdir()
    shared.chmod(0o777)
    precious.write_text("of root")
    (shared / ".fb-link").symlink_to(precious)
    os.mkfifo(shared / ".fb-fifo")
    (shared / ".fb-own").write_text("notes")
    (shared / ".fb-foreign").touch()
    os.chown(shared / ".fb-foreign", 65534, 65534)
    for name in ("link", "fifo", "own", "foreign"):
        said = forebay("copy", source, place / f"copy-{name}", "--manifest", shared / name, code=2)
        expect("--manifest" in said and not (shared / name).exists(), f"{name}: refused, and named", said)
    expect(precious.read_text() == "of root" and (shared / ".fb-own").read_text() == "notes", "and all of it is as it was")
    (shared / ".fb-left").write_text('{"path":"a","part":"owner 5:5"}\n{"pa')
    forebay("copy", source, place / "copy-left", "--report", shared / "left", code=2)
    (place / "user").mkdir()
    os.chown(place / "user", 65534, 65534)
    kept = place / "user/kept"
    (place / "user/.fb-kept").write_text('{"path":"a","part":"owner 5:5"}\n{"pa')
    os.chown(place / "user/.fb-kept", 65534, 65534)
    run("chmod", "-R", "a+rX", source)
    words = [*NOBODY, FOREBAY, "copy", source, place / "user/copy", "--manifest", kept]
    run(*words)
    expect(len(lines(kept)) == 2 and not (place / "user/.fb-kept").exists(), "what a killed run left is made anew", kept.read_text())
    for permissions in (0o600, 0o644):
        kept.chmod(permissions)
        run(*words)
        expect(mode(kept) == permissions, f"a manifest of {permissions:o} is replaced by one", f"{mode(kept):o}")
    forebay("copy", source, place / "by-root", "--report", kept.with_name("r"), code=0)
    os.chown(kept.with_name("r"), 65534, 65534)
    kept.with_name("r").chmod(0o600)
    forebay("copy", source, place / "by-root", "--report", kept.with_name("r"), code=0)
    expect(kept.with_name("r").stat().st_uid == 65534 and mode(kept.with_name("r")) == 0o600, "its owner has it still")


def check_archives(place):
    source, empty, archive = place / "source", place / "empty", place / "a.tar"
    empty.mkdir()
    forebay("archive", source, archive)
    archive.chmod(0o600)
    forebay("archive", source, archive, "--force")
    expect(mode(archive) == 0o600, "an archive that is closed to others is replaced by one that is", f"{mode(archive):o}")
    was = archive.read_bytes()
    for words in ((empty,), (source, "--include", "*.none")):
        said = forebay("archive", *words, archive, "--force", code=2)
        expect(archive.read_bytes() == was and "the source is empty" in said, "nothing does not replace all", said)
    forebay("archive", empty, place / "empty.tar")
    for name in ("b.tgz", "b.tar.gz", "b.tar.zst", "b.zip", "-"):
        said = forebay("archive", source, place / name if name != "-" else name, code=2)
        expect(not (place / name).exists() and "b.tar" in said or name == "-", f"{name} is refused", said)
    (source / "large").write_bytes(os.urandom(3 << 20))
    script = 'ulimit -f 100; exec "$@"'
    small = subprocess.run(["bash", "-c", script, "-", FOREBAY, "archive", source, place / "c.tar"], capture_output=True, text=True)
    said = small.stdout + small.stderr
    expect(small.returncode == 5 and "c.tar was not made" in said and "copied" not in said, "a full disk leaves no archive", said)
    (source / "large").unlink()
    said = forebay("compare", source, archive, code=2)
    expect("restore-archive --check" in said, "an archive is no copy of a directory, and can be checked", said)


def check_owners(place):
    """Numbers that no system has become nobody's, and root's least of all."""
    for name, form in (("gnu", tarfile.GNU_FORMAT), ("pax", tarfile.PAX_FORMAT)):
        archive = place / f"{name}.tar"
        with tarfile.open(archive, "w", format=form) as tar:
            for file, owner in (("large", 2**32), ("unset", 2**32 - 1), ("fits", 7)):
                member = tarfile.TarInfo(file)
                member.uid, member.gid, member.mode, member.size = owner, owner, 0o4755, 1
                tar.addfile(member, io.BytesIO(b"x"))
        target = place / f"{name}-refused"
        said = all_of_forebay("restore-archive", archive, target, code=1)
        expect(os.listdir(target) == ["fits"] and 'user "4294967296"' in said, f"{name}: refused, and named", said)
        forebay("restore-archive", archive, place / f"{name}-dropped", "--cannot-keep", "drop", code=1)
        for file in ("large", "unset"):
            seen = (place / f"{name}-dropped" / file).stat()
            expect((seen.st_uid, seen.st_gid, seen.st_mode & 0o7777) == (65534, 65534, 0o755), f"{name}: {file} is nobody's", str(seen))


def check_nothing_fits(place):
    source = place / "source"
    forebay("archive", source, place / "fits.tar", "--force")
    none = ("--include", "*.none")
    for words in (("copy", source, place / "n1"), ("sync", source, place / "n2"), ("archive", source, place / "n3.tar"),
                  ("restore-archive", place / "fits.tar", place / "n4"), ("restore-archive", "--check", place / "fits.tar"),
                  ("copy", source, place / "n5", "--hosts", "localhost")):
        said = all_of_forebay(*words, *none, code=1)
        expect("no entry matches --include" in said, f"{words[0]}: where nothing fits that is told", said)
        if words[0] != "archive":  # which is there now
            forebay(*words, "--include", "*")


def records(path):
    return sorted((line["kind"], line["path"]) for line in lines(path))


def check_records(place):
    """A report has what was removed and replaced; with --report-all what was new, too. Counts and exit codes are the same."""
    report = place / "done.jsonl"
    for name, more in (("alone", ()), ("hosts", ("--hosts", "localhost,localhost", "--threads", 1))):
        source, target = place / f"{name}-source", place / f"{name}-target"
        for path in ("d/one", "d/two", "e/three"):
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            (source / path).write_text(path)
        os.link(source / "d/one", source / "e/name")
        forebay("copy", source, target, "--report", report, *more)
        expect(lines(report) == [], f"{name}: a copy to a new target takes nothing away")
        run("rm", "-r", target)
        forebay("copy", source, target, "--report", report, "--report-all", *more)
        kinds = records(report)
        expect([path for kind, path in kinds if kind in ("copied", "linked")] and len(kinds) == 6 and
               sorted(path for _, path in kinds) == ["d", "d/one", "d/two", "e", "e/name", "e/three"] and
               [kind for kind, _ in kinds].count("linked") == 1, f"{name}: with --report-all each entry is there", str(kinds))
        (source / "d/two").write_text("changed")
        (target / "gone/below").mkdir(parents=True)
        (target / "gone/below/file").touch()
        (target / "d/extra").touch()
        done = run(FOREBAY, "sync", source, target, "--delete", "--report", report, "--json", *more)
        wanted = [("removed", "d/extra"), ("removed", "gone"), ("removed", "gone/below"), ("removed", "gone/below/file"), ("replaced", "d/two")]
        expect(records(report) == wanted, f"{name}: a sync says what went", str(records(report)))
        answer = json.loads(done.stdout)
        expect(answer["first"] == [] and sum(answer["remarks"].values()) == 0 and answer["removed"] == 4, f"{name}: counts are as ever", done.stdout)
        said = forebay("delete", target, "--report", report, *more)
        expect(len(records(report)) == 7 and {kind for kind, _ in records(report)} == {"removed"} and "removed" in said,
               f"{name}: a removal, too", str(records(report)))
    source = place / "alone-source"
    forebay("archive", source, place / "done.tar")
    forebay("restore-archive", place / "done.tar", place / "restored", "--report", report, "--report-all")
    expect(sorted(path for kind, path in records(report) if kind in ("copied", "linked")) ==
           ["d", "d/one", "d/two", "e", "e/name", "e/three"], "a restore", str(records(report)))
    forebay("restore-archive", place / "done.tar", place / "restored", "--report", report)
    expect({kind for kind, _ in records(report)} == {"replaced"} and len(records(report)) >= 3, "what was there is replaced", str(records(report)))
    forebay("copy", source, place / "none", "--report-all", code=2)


def check_full(place):
    """Once a line of the report cannot be written nothing more is removed, and the lines until then stay and are named."""
    source, target, report = place / "full-source", place / "full-target", place / "full.jsonl"
    left, limited = place / ".fb-full.jsonl", ["bash", "-c", 'ulimit -f 32; exec "$@"', "-"]  # 32 KiB: some 600 lines
    team = ("--hosts", "localhost", "--threads", 1)
    for name, words, many in (("sync", ("sync", source, target, "--delete", "--threads", 2), 3000), ("delete", ("delete", target, "--threads", 2), 3000),
                              ("all", ("sync", source, target, "--delete", "--threads", 2, "--report-all"), 3000),
                              ("team", ("delete", target, *team), 40_000)):
        run("rm", "-rf", source, target, report)
        source.mkdir()
        (source / "both").touch()
        run("cp", "-a", source, target)
        for number in range(many):
            folder = target / f"d{number % 20}" / f"e{number % 3}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number:08}").touch()
        if name == "all":
            for number in range(2000):
                (source / f"new-{number}").touch()
        before = sum(1 for _ in target.rglob("*"))
        done = run(*limited, FOREBAY, *words, "--report", report, code=2)
        gone = before - sum(1 for path in target.rglob("*") if not path.name.startswith("new-"))
        told = [json.loads(line) for line in left.read_text().split("\n")[:-1]]
        losses = [line for line in told if line["kind"] == "removed"]
        expect(f"--report {report} cannot be written" in done.stderr and f"its lines until then are in {left}" in done.stderr and
               "Next: keep" in done.stderr and not report.exists(), f"{name}: the error names what there is", done.stderr)
        most = len(losses) + (many // 8 if name == "team" else 2)  # of each thread one; other processes hear of it later
        expect(len(losses) <= gone <= most, f"{name}: what went is told, and then nothing goes", f"{gone} went, {len(losses)} lines")
        expect(bool(losses) != (name == "all"), f"{name}: lines that were there before count", str(len(losses)))
        if words[0] == "sync":
            expect("nothing more was removed: the report of removals cannot be written" in done.stdout, f"{name}: the last line says so", done.stdout)
        left.rename(place / "kept.jsonl")
        forebay(*words, "--report", report)
        rest = [line for line in lines(report) if line["kind"] == "removed"]
        expect(len(rest) == before - gone - (words[0] == "sync") + (words[0] == "delete"), f"{name}: the next run tells of the others", f"{len(rest)} {before - gone}")
    for number in range(2000):
        (source / f"{number}").touch()
    done = run(*limited, FOREBAY, "walk", source, "--list", report.with_name("list"), code=2)
    expect(f"its lines until then are in {place / '.fb-list'}" in done.stderr, "a list, too", done.stderr)
    forebay("walk", source, "--list", report.with_name("list"))
    expect(len(lines(place / "list")) == 2001 and not (place / ".fb-list").exists(), "and the next run makes it whole")


def check_full_of_replaced(place):
    """Nor is anything replaced that cannot be told; and a reader of lines that goes ends the verb."""
    source, target, report = place / "new", place / "old", place / "replaced.jsonl"
    for top in (source, target):
        top.mkdir()
        for number in range(3000):
            (top / f"{number:040}").write_text(f"{top.name} {number}")
    done = run("bash", "-c", 'ulimit -f 32; exec "$@"', "-", FOREBAY, "sync", source, target, "--threads", 2, "--report", report, code=2)
    told = [json.loads(line) for line in (place / ".fb-replaced.jsonl").read_text().split("\n")[:-1]]
    gone = sum(1 for path in target.iterdir() if path.read_text().startswith("new"))
    expect(0 < len(told) <= gone <= len(told) + 2, "what is replaced is told, and then nothing is", f"{gone} {len(told)}")
    expect("cannot be written" in done.stderr and not list(target.glob(".fb-*")), "that is said", done.stderr)
    piped = '"$@" | head -1'
    done = run("bash", "-c", piped, "-", FOREBAY, "delete", target, "--report", "/dev/stdout", seconds_max=60)
    expect('"removed"' in done.stdout and target.exists(), "a reader that goes is noticed", done.stdout)


def check_full_of_runs(place):
    """Snapshots, too."""
    source, target = make(place / "run"), place / "run-target"
    forebay("copy", source, target)
    for step in (500, 510, 520):
        save(target, "restart", step, "beef")
    said = forebay("sync", source, target, "--delete", "--report", "/dev/full", code=5)
    expect("--report /dev/full cannot be written" in said and "/.fb" not in said, "the error names it", said)
    left = [name for name in snapshots(target) if "/step-0005" in name]
    expect(len(left) == 2, "one was gone when that was seen", str(left))


def check_words(place):
    source = place / "source"
    said = forebay("copy", source, place / "w", "--report", place / "none/r", code=2)
    expect("--report" in said and "existing directory" in said, "the option is named, and what to do", said)
    (place / "list").write_text("source/a\n")
    said = all_of_forebay("copy", source, place / "w", "--files-from", place / "list", code=1)
    expect("Give paths relative to SOURCE" in said, "paths that begin with the source are told", said)
    forebay("archive", source, place / "piped.tar")
    for words in (("--check", "/dev/stdin"), ("/dev/stdin", place / "w2")):
        with subprocess.Popen(["cat", place / "piped.tar"], stdout=subprocess.PIPE) as piped:
            said = forebay("restore-archive", *words, code=2, stdin=piped.stdout)
        expect("is a pipe" in said, "a pipe is no archive", said)
    source.chmod(0o755)
    said = run(*NOBODY, FOREBAY, "copy", source, place / "closed", code=2).stderr
    expect(f"{place / 'closed'} cannot be made" in said and "may write to" in said, "the whole path, and what to do", said)
    for list_of in ("-", "/dev/stdin"):
        said = forebay("copy", source, place / "w", "--files-from", list_of, code=2)
        expect("is not a file" in said and "find" in said, f"{list_of} is refused with a way", said)


def main():
    if os.geteuid() != 0:
        print("left out: not root")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        place.chmod(0o755)
        for check in (check_planted, check_archives, check_owners, check_nothing_fits, check_records, check_full, check_full_of_replaced, check_full_of_runs, check_words):
            check(place)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
