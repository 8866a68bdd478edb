"""Goal: an archive has all that its tree has, other programs read it, and archives of others are restored; what is damaged,
changed or hostile is told, by name and by the exit code, and makes no wrong file.

Method: a small TS and the tree of what few tools keep, through `forebay archive` and back, judged by no code of ours; through
GNU tar and bsdtar, in both directions. Every byte of the heads of an archive is flipped, and it is cut at many places.
Archives are written by hand whose names lead out of the target. Sources change while they are archived.
"""

import io
import json
import os
import pathlib
import random
import shutil
import signal
import stat
import subprocess
import tarfile
import tempfile
import time

import conformance
import judge
import make_tree
import pairs
from changers import Changers, check_versions, told
from forebay_test import FOREBAY, expect, forebay, run

FACTOR = 0.1  # of 5,000 entries
SMALL_HOLE = 1 / 80  # of 5 GiB
BLOCK = 512
ALL_OF_TAR = ["--xattrs", "--xattrs-include=*", "--acls"]
# No other tar keeps sockets. libarchive 3.6 adds the fraction to times before 1970.
ONLY_OURS = {"entries", "socket", "hard links"}
TIMES = {"file mtime ns", "dir mtime ns", "symlink mtime ns"}


def expect_equal(source, target, what, but=()):
    verdict = judge.judge(source, target)
    lost = set(verdict.failed()) - set(but)
    expect(not lost, f"{what}, not without {lost}", judge.text(verdict))


def archived(source, path, *words):
    forebay("archive", source, path, *words)
    return path


def restored(path, target, *words, code=0):
    forebay("restore-archive", path, target, *words, code=code)
    return target


def check_round_trips(place, trees):
    for name, source in trees.items():
        for threads in (1, 4):
            path = archived(source, place / f"{name}-{threads}.tar", "--threads", threads, "--verify")
            forebay("restore-archive", "--check", path)
            target = restored(path, place / f"{name}-{threads}", "--threads", threads)
            expect_equal(source, target, f"{name} comes back from an archive, with {threads} threads")
            restored(path, target, "--threads", threads)
            expect_equal(source, target, f"{name} is restored where it is already")
            conformance.removed(target)
            path.unlink()


def check_others_read(place, trees):
    for name, source in trees.items():
        path = archived(source, place / "for-others.tar", "--threads", 4)
        sockets = any(pair.left and pair.left.kind == stat.S_IFSOCK for pair in pairs.walk(source, source))
        for program, words, lost in (("tar", ALL_OF_TAR, set()), ("bsdtar", [], TIMES if name == "special" else set())):
            if not shutil.which(program):
                print(f"left out: no {program}")
                continue
            target = place / f"by-{program}"
            target.mkdir()
            run(program, "-C", target, *words, "-xpf", path, code=0)
            expect_equal(source, target, f"{program} extracts {name}", (ONLY_OURS if sockets else set()) | lost)
            expect(not [pair for pair in pairs.walk(source, target) if not pair.right and pair.left.kind != stat.S_IFSOCK],
                   f"{program} extracts all of {name} but sockets")
            conformance.removed(target)
        path.unlink()


def check_others_written(place, trees):
    cases = [("tar", ["--format=posix", *ALL_OF_TAR, "-S"], "TS", ONLY_OURS), ("tar", ["--format=posix", *ALL_OF_TAR, "-S"], "special", ONLY_OURS),
             ("tar", ["--format=gnu", "-S"], "TS", ONLY_OURS | TIMES | {"xattr", "special mtime ns"}),
             ("tar", ["--format=posix", "-S", "--sparse-version=0.1"], "TS", ONLY_OURS | {"xattr"}),
             ("tar", ["--format=posix", "-S", "--sparse-version=0.0"], "TS", ONLY_OURS | {"xattr"}),
             ("tar", ["--format=ustar"], "plain", TIMES), ("tar", ["--format=v7"], "plain", TIMES),
             ("bsdtar", ["--format=pax"], "TS", ONLY_OURS), ("bsdtar", ["--format=ustar"], "plain", TIMES),
             ("bsdtar", ["--format=gnutar"], "plain", TIMES)]
    for program, words, name, lost in cases:
        if not shutil.which(program):
            continue
        path = place / "of-others.tar"
        run(program, *words, "-C", trees[name], "-cf", path, ".", code=None, env=dict(os.environ, LC_ALL="C.UTF-8"))
        target = restored(path, place / "of-others", "--threads", 3)
        expect_equal(trees[name], target, f"what {program} {' '.join(words)} made of {name} is restored", lost)
        conformance.removed(target)
        path.unlink()


def small(place):
    """A tree whose archive is short enough to be damaged at each byte."""
    (place / "below").mkdir(parents=True)
    (place / "file").write_text("some bytes")
    (place / "below/other").write_bytes(bytes(range(256)) * 5)
    os.link(place / "file", place / "below/same")
    (place / "link").symlink_to("below")
    with open(place / "hole", "wb") as file:
        file.truncate(1 << 20)
        file.seek(512 << 10)
        file.write(b"in the middle")
    os.setxattr(place / "file", "user.note", b"noted")
    os.utime(place / "below/other", ns=(5, 1_234_567_890_123_456_789))
    os.utime(place / "below", ns=(5, 1_234_567_890_123_456_789))
    return place


def wrong_files(source, target):
    """Entries that are not as they were, under their final names; folders that are not finished do not count."""
    return [pair.path for pair in pairs.walk(source, target)
            if pair.right and not stat.S_ISDIR(pair.right.kind) and pair.right.kind != stat.S_IFDIR and
            not (pair.left and pair.left.kind == pair.right.kind and pair.equal_bytes in (True, None) and
                 pair.left.target == pair.right.target and pair.left.stat.st_mtime_ns == pair.right.stat.st_mtime_ns and
                 pair.left.stat.st_mode == pair.right.stat.st_mode and pair.left.xattrs == pair.right.xattrs)]


def check_damaged(place):
    source = small(place / "small")
    path = archived(source, place / "small.tar")
    whole = path.read_bytes()
    damaged, target = place / "damaged.tar", place / "from-damaged"
    chance = random.Random(21)
    seen = 0
    for at in range(0, len(whole), 17):
        flipped = bytearray(whole)
        flipped[at] ^= 1 << chance.randrange(8)
        damaged.write_bytes(flipped)
        done = run(FOREBAY, "restore-archive", damaged, target, "--no-sync", "--threads", 1, code=None)
        where = f"byte {at} of {len(whole)} was flipped"
        expect(done.returncode in (0, 1, 4, 6), f"it ends with an exit code, not {done.returncode}: {where}", done.stderr)
        wrong = wrong_files(source, target)
        expect(not wrong, f"nothing wrong is restored: {where}", f"{wrong}\n{done.stdout}{done.stderr}")
        if done.returncode:
            seen += 1
            expect("byte " in done.stderr + done.stdout or "version" in done.stderr, f"the place is told: {where}", done.stderr)
        else:
            expect_equal(source, target, f"what is not told does not matter: {where}")
        conformance.removed(target)
    expect(seen > 400, f"damage is seen, {seen} times")
    for size in [*range(0, len(whole), 509), len(whole) - 1, len(whole) - 512, len(whole) - 1024]:
        damaged.write_bytes(whole[:size])
        done = run(FOREBAY, "restore-archive", damaged, target, "--no-sync", code=4)
        expect("was cut" in done.stderr and str(size) in done.stderr, f"a cut at {size} is told", done.stderr)
        expect(not target.exists() or not wrong_files(source, target), f"nothing wrong is restored after a cut at {size}")
        shutil.rmtree(target, ignore_errors=True)
    forebay("restore-archive", "--check", damaged, code=4)
    path.unlink()
    return seen


def check_flipped_data(place):
    """Also of a file that is restored in pieces."""
    source, target = place / "data", place / "from-data"
    source.mkdir()
    (source / "large").write_bytes(random.Random(1).randbytes(40 << 20))
    (source / "small").write_bytes(b"unmistakable" * 20)
    path = archived(source, place / "data.tar")
    for name, text in (("large", (source / "large").read_bytes()[30 << 20:][:64]), ("small", b"unmistakable" * 2)):
        whole = bytearray(path.read_bytes())
        at = whole.index(text)
        whole[at] ^= 4
        (place / "flipped.tar").write_bytes(whole)
        for words in (["--check"], [target]):
            done = run(FOREBAY, "restore-archive", place / "flipped.tar", *words, "--json", code=1)
            first = json.loads(done.stdout)["first"]
            expect([one["path"] for one in first] == [name] and "checksum" in first[0]["why"], f"the flipped bit in {name} is named", str(first))
        expect(sorted(os.listdir(target)) == sorted({"large", "small"} - {name}), "and it alone is missing", str(os.listdir(target)))
        shutil.rmtree(target)


def tar_of(path, entries):
    """`entries` are (name, type, link or bytes)."""
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        for name, kind, more in entries:
            info = tarfile.TarInfo(name)
            info.type, info.mode = kind, 0o755
            if kind == tarfile.REGTYPE:
                info.size = len(more)
                tar.addfile(info, io.BytesIO(more))
            else:
                info.linkname = more
                tar.addfile(info)
    return path


def check_attacks(place):
    outside = place / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    file, link, hard, folder = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE
    attacks = {"absolute": [(str(outside / "made"), file, b"x")], "upwards": [("../outside/made", file, b"x")],
               "hidden upwards": [("a/../../outside/made", file, b"x")],
               "through a link": [("way", link, str(outside)), ("way/made", file, b"x")],
               "through a relative link": [("a/", folder, ""), ("a/way", link, "../../outside"), ("a/way/made", file, b"x")],
               "link to a file": [("name", link, str(outside / "kept")), ("name", file, b"x")],
               "hard link outside": [("name", hard, "../outside/kept"), ("name", file, b"x")],
               "hard link through a link": [("way", link, str(outside)), ("name", hard, "way/kept"), ("name", file, b"changed")],
               "folder through a link": [("way", link, str(outside)), ("way/", folder, "")]}
    for what, entries in attacks.items():
        path, target = tar_of(place / "attack.tar", [*entries, ("good", file, b"good")]), place / "attacked"
        before = os.stat(outside).st_ctime_ns  # to list it here changes the time of its access
        done = run(FOREBAY, "restore-archive", path, target, code=None)
        expect(done.returncode in (0, 1), f"{what}: an exit code, not {done.returncode}", done.stderr)
        expect(os.listdir(outside) == ["kept"] and (outside / "kept").read_text() == "kept" and (outside / "kept").stat().st_nlink == 1 and
               os.stat(outside).st_ctime_ns == before, f"{what}: nothing outside is touched")
        expect((target / "good").read_text() == "good", f"{what}: the others are restored")
        expect(done.returncode == 1 or what in ("absolute", "link to a file"), f"{what} is told", done.stdout)
        expect(what != "absolute" or (target / str(outside / "made")[1:]).read_text() == "x", "an absolute name lies below the target")
        conformance.removed(target)


def check_again(place):
    """Later entries of a path take the place of earlier ones, as tar -r makes them; folders without an entry are open."""
    entries = [(f"many/{number}", tarfile.REGTYPE, b"old") for number in range(500)] + [("name", tarfile.LNKTYPE, "many/7")] + \
              [(f"many/{number}", tarfile.REGTYPE, b"newer") for number in range(0, 500, 2)] + [("many/7", tarfile.REGTYPE, b"x" * (5 << 20))]
    target = restored(tar_of(place / "again.tar", entries), place / "again", "--threads", 4)
    for number in range(500):
        text = (target / f"many/{number}").read_bytes()
        expect(text == (b"newer" if number % 2 == 0 else b"x" * (5 << 20) if number == 7 else b"old"), f"many/{number} is the last one")
    expect((target / "name").read_bytes() == b"old", "a link is to what was there before it")
    expect(stat.S_IMODE((target / "many").stat().st_mode) == 0o777 & ~current_umask(), "a folder that has no entry is open as usual")


def current_umask():
    umask = os.umask(0)
    os.umask(umask)
    return umask


def check_options(place, source):
    path = archived(source, place / "options.tar", "--exclude", "file-*")
    before = path.read_bytes()
    forebay("archive", source, path, code=2)
    expect(path.read_bytes() == before, "an archive that is there is left alone")
    archived(source, path, "--force")
    forebay("archive", source, place, code=2)
    forebay("archive", place / "none", place / "none.tar", code=3)
    forebay("restore-archive", place / "none.tar", place / "t", code=3)
    forebay("restore-archive", path, code=2)
    forebay("restore-archive", path, place / "t", "--preserve", "owner", code=2)
    listed = place / "list"
    said = json.loads(forebay("restore-archive", "--dry-run", "--list", listed, path, "--json"))
    lines = [json.loads(line) for line in listed.read_text().splitlines()]
    expect(len(lines) == said["entries"] + 1 and "." in {line["path"] for line in lines} and not (place / "t").exists(), "a dry run lists, and makes nothing")
    expect({"file", "folder", "fifo", "socket", "link", "hard_link"} <= {line["kind"] for line in lines}, "kinds are listed")
    some = restored(path, place / "some", "--include", "fifo-*", "--exclude", "d0000")
    kinds = {stat.S_IFMT(os.lstat(os.path.join(where, name)).st_mode) for where, _, names in os.walk(some) for name in names}
    expect(kinds == {stat.S_IFIFO} and not (some / "d0000").exists(), "patterns choose entries", str(kinds))
    expect(said["would_copy"]["entries"] == said["entries"], "and sums what would be restored", str(said))
    dry = json.loads(forebay("archive", source, place / "dry.tar", "--dry-run", "--json"))
    expect(dry["remarks"]["would_copy"] == dry["entries"] and not (place / "dry.tar").exists(), "a dry run says what would be done", str(dry))
    inner = place / "inner"
    inner.mkdir()
    (inner / "file").write_text("x")
    archived(inner, inner / "self.tar", "--json")
    said = json.loads(forebay("archive", inner, inner / "self.tar", "--force", "--json"))
    expect(said["remarks"]["passed_over"] >= 1 and said["copied"] == 1, "an archive is not in itself", str(said))


def check_changes(place):
    """What the archive has of a file is one of its versions, whole; and it can be read to its end."""
    source, target = place / "changing", place / "changed"
    make_tree.make("change", source, FACTOR)
    first_log = (source / "growing.log").read_bytes()
    with Changers(source) as changers:
        path = place / "changing.tar"
        done = run(FOREBAY, "archive", source, path, "--threads", 2, "--rate", "20M", "--json", code=None)
    remarks = told(json.loads(done.stdout))
    expect(done.returncode == (1 if remarks else 0), f"exit code {done.returncode}", done.stdout + done.stderr)
    forebay("restore-archive", "--check", path)
    restored(path, target)
    if shutil.which("bsdtar"):
        run("bsdtar", "-tf", path)
    run("tar", "-tf", path)
    check_versions(changers, source, target, remarks, first_log)
    return len(remarks)


def check_kills(place, source):
    """Neither a killed archive nor a killed restore leaves something wrong under a final name; the next run makes all right."""
    path, target = place / "killed.tar", place / "killed"
    begin = time.monotonic()
    archived(source, path)
    seconds = time.monotonic() - begin
    kept = path.read_bytes()
    chance, killed = random.Random(21), 0
    for _ in range(8):
        killed += kill_after(seconds * chance.uniform(0.2, 1), "archive", source, path, "--force")
        if path.read_bytes() != kept:
            forebay("restore-archive", "--check", path)
            kept = path.read_bytes()
    archived(source, path, "--force")
    expect(not [name for name in os.listdir(place) if name.startswith(".fb-")], "no temporary name is left", str(os.listdir(place)))
    for _ in range(8):
        killed += kill_after(seconds * chance.uniform(0.2, 1), "restore-archive", path, target)
        if target.exists():
            wrong = [name for name in wrong_files(source, target) if not name.rsplit(b"/", 1)[-1].startswith(b".fb-")]
            expect(not wrong, "nothing half restored has a final name", str(wrong[:10]))
    restored(path, target)
    expect_equal(source, target, "the next restore ends what killed ones began")
    expect(killed >= 4, f"some runs were killed before their end: {killed}")
    return killed


def kill_after(seconds, *words):
    process = subprocess.Popen([FOREBAY, *words, "--no-sync"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(seconds)
        return False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True


def check_full(place, source):
    if os.geteuid() != 0:
        print("left out, full file systems: needs root")
        return
    full = place / "full"
    full.mkdir()
    script = ('mount -t tmpfs -o size=2m none "$1" || exit 77; "$2" archive "$3" "$1/a.tar"; a=$?; ls -A "$1" | wc -l; '
              '"$2" restore-archive "$4" "$1/t"; echo codes $a $?; find "$1/t" -name ".fb-*" | wc -l; '
              'mount -o remount,size=200m "$1"; "$2" restore-archive "$4" "$1/t" && "$5" "$6" "$3" "$1/t"')
    path = archived(source, place / "whole.tar")
    judged = pathlib.Path(judge.__file__)
    done = run("unshare", "--mount", "--propagation", "private", "bash", "-c", script, "bash", full, FOREBAY, source, path, shutil.which("python3"),
               judged, code=None)
    if done.returncode == 77:
        print("left out, full file systems: this machine allows no mounts")
        return
    expect(done.stdout.startswith("0\n") or "\n0\n" in done.stdout, "a full disk leaves no part of an archive", done.stdout + done.stderr)
    expect("codes 5 5" in done.stdout and "o space" in done.stderr, "a full disk is told", done.stdout + done.stderr)
    expect(done.returncode == 0, "with room the same command restores all", done.stdout + done.stderr)


def check_deep(place):
    source, target = place / "deep", place / "deep-again"
    make_tree.make("deep", source)
    path = archived(source, place / "deep.tar")
    restored(path, target)
    expect_equal(source, target, "4,000 folders in one another come back")
    for one in (source, target):
        conformance.removed(one)


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-archive-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        trees = {name: place / f"tree-{name}" for name in ("TS", "special", "plain")}
        make_tree.make("TS", trees["TS"], FACTOR)
        make_tree.make("special", trees["special"], SMALL_HOLE)
        make_tree.make("TP", trees["plain"], FACTOR / 100)
        check_round_trips(place, {name: trees[name] for name in ("TS", "special")})
        check_others_read(place, {name: trees[name] for name in ("TS", "special")})
        check_others_written(place, trees)
        check_options(place, trees["TS"])
        check_attacks(place)
        check_again(place)
        check_flipped_data(place)
        check_deep(place)
        check_full(place, trees["TS"])
        changed, killed, damaged = check_changes(place), check_kills(place, trees["TS"]), check_damaged(place)
        conformance.removed(place)
        place.mkdir()
    print(f"archive: {damaged} damaged ones told, {changed} changed entries told, {killed} runs killed")


main()
