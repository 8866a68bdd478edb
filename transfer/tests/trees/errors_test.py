"""Goal: what cannot be read, written or given away is told, by name and by the exit code, spoils nothing else, and nothing is
removed after an error; once it is put right, the same command makes all equal.

Method: targets that are full, beyond a quota, not writable or of a limited file size; sources that are partly unreadable, of
which sectors fail (a preloaded library), that are missing, that contain a loop of mounts, or the target. Runs in a mount
namespace of its own, as root.
"""

import errno
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import conformance
import judge
import make_tree
from forebay_test import BUILD, FOREBAY, SECONDS_MAX, expect, run
from own_mounts import AS_USER, USER, expect_equal, mover, own_mounts, skip, told, torn, user_may_run

IO_ERRORS = BUILD / "tests/libio_errors.so"
MIB = 1 << 20


def mounted(place, options):
    place.mkdir()
    return subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", place], capture_output=True, text=True, check=False)


def full_target(place, source):
    target = place / "full"
    expect(mounted(target, "size=8m").returncode == 0, "a small file system is mounted")
    done, _ = mover("copy", source, target / "copy")
    expect(done.returncode not in (0, 1), f"a full target is an error, not exit code {done.returncode}", done.stdout)
    expect("space" in done.stderr or "full" in done.stderr, "the error says that there is no room", done.stderr)
    expect(not torn(source, target / "copy"), "a full target has no torn files", repr(torn(source, target / "copy")))
    run("mount", "-o", "remount,size=64m", target)
    mover("copy", source, target / "copy", code=(0,))
    expect_equal(source, target / "copy", "with room the same command ends the copy")


def no_inodes(place, source):
    target = place / "no-inodes"
    expect(mounted(target, "nr_inodes=20").returncode == 0, "a file system of 20 inodes is mounted")
    done, _ = mover("copy", source, target / "copy")
    expect(done.returncode not in (0, 1), f"without inodes it is an error, not exit code {done.returncode}", done.stdout)
    run("mount", "-o", "remount,nr_inodes=100000", target)
    mover("copy", source, target / "copy", code=(0,))
    expect_equal(source, target / "copy", "with inodes the same command ends the copy")


def beyond_quota(place, source):
    """Few kernels have quotas of what can be mounted here: a write fails as beyond one."""
    if not IO_ERRORS.exists():
        print(f"left out, quotas: no {IO_ERRORS}")
        return
    target = place / "quota"
    environment = {**os.environ, "LD_PRELOAD": str(IO_ERRORS), "FOREBAY_BAD_WRITE": "quota/", "FOREBAY_BAD_ERRNO": str(errno.EDQUOT)}
    done, _ = mover("copy", source, target, env=environment)
    expect(done.returncode not in (0, 1), f"a quota is an error, not exit code {done.returncode}", done.stdout)
    expect("quota" in done.stderr.lower(), "the error names the quota", done.stderr)
    expect(not torn(source, target), "a full quota leaves no torn files")
    mover("copy", source, target, code=(0,))
    expect_equal(source, target, "within the quota the same command ends the copy")


def failing_writes(place, source):
    if not IO_ERRORS.exists():
        print(f"left out, writes that fail: no {IO_ERRORS}")
        return
    target = place / "bad-writes"
    environment = {**os.environ, "LD_PRELOAD": str(IO_ERRORS), "FOREBAY_BAD_WRITE": "bad-writes/small"}
    done, report = mover("copy", source, target, env=environment)
    expect(done.returncode != 0 and "small/0000" in told(done, report), "files that cannot be written are told", told(done, report))
    expect(not torn(source, target), "writes that fail leave no torn files")
    mover("copy", source, target, code=(0,))
    expect_equal(source, target, "once it can be written, the same command ends the copy")


def file_size_limit(place, source):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, MIB))

    target = place / "limited"
    done = subprocess.run([FOREBAY, "copy", source, target, "--json"], capture_output=True, text=True, check=False, timeout=SECONDS_MAX,
                          preexec_fn=limit)
    expect(0 < done.returncode < 10, f"a limit of file sizes is an error, not exit code {done.returncode}", done.stderr)
    expect(not torn(source, target), "a limit of file sizes leaves no torn files")


def not_writable(place, source):
    target = place / "read-only"
    target.mkdir()
    run("mount", "--bind", "-o", "ro", target, target)
    run("mount", "-o", "remount,ro,bind", target)
    done, _ = mover("copy", source, target / "copy")
    expect(done.returncode not in (0, 1) and "ead-only" in done.stderr, "a read-only target is an error that says so", done.stderr)
    private = place / "private"
    private.mkdir(mode=0o700)
    done, _ = mover("copy", source, private / "copy", before=AS_USER)
    expect(done.returncode not in (0, 1) and "denied" in done.stderr, "a target of others is an error that says so", done.stderr)


def unreadable(place, source):
    """An ordinary user copies a tree of his own, of which a file and a directory are closed to him."""
    mine, target, copied = place / "mine", place / "of-user", place / "copied"
    run("cp", "-a", source, mine)
    run("chown", "-R", f"{USER}:{USER}", mine)
    run("cp", "-a", mine, target)
    os.chown(target, USER, USER)
    (mine / "small/0000").chmod(0)
    (mine / "closed").mkdir(mode=0)
    os.chown(mine / "closed", USER, USER)
    copied.mkdir()
    os.chown(copied, USER, USER)
    done, report = mover("copy", mine, copied / "copy", before=AS_USER)
    expect(done.returncode != 0, "what cannot be read is no success", done.stdout)
    expect("small/0000" in told(done, report) and "closed" in told(done, report), "what cannot be read is named", told(done, report))
    there = sum(1 for _ in (copied / "copy/small").iterdir())
    expect(there == len(list((mine / "small").iterdir())) - 1, f"all others are copied, not {there} files")
    (target / "extra").write_text("not at the source")
    done, report = mover("sync", mine, target, "--delete", before=AS_USER)
    expect(done.returncode != 0, "a sync of what cannot be read is no success", done.stdout)
    expect((target / "extra").exists(), "after an error of reading nothing is removed", told(done, report))
    (mine / "small/0000").chmod(0o644)
    (mine / "closed").chmod(0o755)
    mover("sync", mine, target, "--delete", before=AS_USER, code=(0,))
    expect(not (target / "extra").exists(), "once all is read, what is extra is removed")
    expect_equal(mine, target, "once all is read, all is equal")


def given_away(place, source):
    """An ordinary user cannot keep owners: refused unless he says otherwise."""
    target = place / "owners"
    target.mkdir()
    os.chown(target, USER, USER)
    run("chmod", "-R", "a+rX", source)
    done, report = mover("copy", source, target / "copy", before=AS_USER)
    expect(done.returncode != 0 and "owner" in told(done, report), "owners that are not kept are told", told(done, report))
    done, report = mover("copy", source, target / "dropped", "--cannot-keep", "drop", before=AS_USER)
    verdict = judge.judge(source, target / "dropped")
    expect(set(verdict.failed()) <= {"owner"}, f"with drop all else is kept, not without {verdict.failed()}", judge.text(verdict))


def bad_sectors(place, source):
    if not IO_ERRORS.exists():
        print(f"left out, sectors that fail: no {IO_ERRORS}")
        return
    target = place / "bad"
    environment = {**os.environ, "LD_PRELOAD": str(IO_ERRORS), "FOREBAY_BAD_READ": "large-1"}
    done, report = mover("copy", source, target, env=environment)
    expect(done.returncode != 0, "a file that cannot be read is no success", done.stdout)
    expect("large-1" in told(done, report), "the file that cannot be read is named", told(done, report))
    expect(not (target / "large-1").exists(), "what cannot be read is not at the target")
    verdict = judge.judge(source, target)
    missing = [path for column, path, *_ in verdict.differences if column == "entries"]
    expect(missing == [b"large-1"], f"all else is copied, not without {missing}", judge.text(verdict))
    mover("copy", source, target, code=(0,))
    expect_equal(source, target, "once it can be read, the same command ends the copy")
    done, _ = mover("compare", source, target, env=environment)
    expect(done.returncode != 0, "a comparison of what cannot be read is no success", done.stdout)


def not_to_be_copied(place, source):
    done, _ = mover("copy", place / "nothing", place / "of-nothing")
    nothing = not (place / "of-nothing").exists()
    expect(done.returncode not in (0, 1) and nothing, "a missing source is an error, and makes nothing", done.stderr)
    done, _ = mover("copy", source, place / "missing/parent/copy")
    expect(done.returncode != 0 or (place / "missing/parent/copy").exists(), "a missing parent is made, or an error", done.stderr)
    inside = source / "inside"
    done, _ = mover("copy", source, inside)
    expect(done.returncode not in (0, 1) and not inside.exists(), "a target in the source is refused", done.stderr)
    done, _ = mover("copy", source, source)
    expect(done.returncode not in (0, 1), "a tree is not copied onto itself", done.stderr)
    done, _ = mover("delete", place / "nothing")
    expect(done.returncode != 0, "what is not there is not removed", done.stderr)


def two_at_once(place, source):
    """Both copies are right, or one is refused because of the other."""
    target = place / "of-two"
    command = [str(word) for word in (FOREBAY, "copy", source, target, "--rate", "40M", "--json")]
    both = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [one.communicate(timeout=SECONDS_MAX)[1] for one in both]
    codes = [one.returncode for one in both]
    expect(0 in codes and all(0 <= code < 10 for code in codes), f"one of two ends well: {codes}", "".join(said))
    expect_equal(source, target, f"two copies at once, which end with {codes}, make one that is equal")


def killed_delete(place, source):
    """What was killed while it removed leaves less; the second run leaves nothing, and neither touches what is beside."""
    victim, beside = place / "victim", place / "beside"
    run("cp", "-a", source, beside)
    for number in range(5):
        make_tree.make("TS", victim, 0.2)
        process = subprocess.Popen([FOREBAY, "delete", victim], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.02 + 0.004 * number)
        process.kill()
        process.wait()
        if victim.exists():
            mover("delete", victim, code=(0,))
        expect(not victim.exists(), "the second delete removes the rest")
    expect_equal(source, beside, "what is beside a tree that is removed stays")


def loop_of_mounts(place, source):
    looped, target = place / "looped", place / "of-looped"
    run("cp", "-a", source, looped)
    (looped / "small/again").mkdir()
    run("mount", "--bind", looped, looped / "small/again")
    done, report = mover("copy", looped, target, seconds_max=60)
    run("umount", looped / "small/again")
    expect(done.returncode != 0 and "small/again" in told(done, report), "a loop of mounts is told", told(done, report))
    expect(not (target / "small/again/small/again").exists(), "a loop of mounts is not followed")


def other_file_system(place, source):
    """What is mounted in the source is another file system."""
    whole = place / "with-mount"
    expect(mover("copy", source, whole)[0].returncode == 0, "the source is copied")
    inner = whole / "mounted"
    expect(mounted(inner, "size=1m").returncode == 0, "a small file system is mounted")
    (inner / "inside").write_text("of another file system")
    for word, seen in (((), True), (("--one-file-system",), False)):
        target = place / f"one-{len(word)}"
        mover("copy", whole, target, *word, code=(0, 1))
        expect((target / "mounted").is_dir() and (target / "mounted/inside").exists() == seen, f"{word}: what is mounted is copied: {seen}")
    expect(mover("sync", whole, place / "one-0", "--one-file-system", "--delete", code=(0, 1))[0], "a sync ends")
    expect((place / "one-0/mounted/inside").exists(), "what was not looked into at the source is not removed at the target")
    run("umount", inner)


def read_back(place, source):
    """--verify reads what was written: a target whose bytes cannot be read is seen by it alone."""
    if not IO_ERRORS.exists():
        print(f"left out, reading back: no {IO_ERRORS}")
        return
    environment = {**os.environ, "LD_PRELOAD": str(IO_ERRORS), "FOREBAY_BAD_READ": "read-back/"}
    (place / "read-back").mkdir()
    mover("copy", source, place / "read-back/plain", env=environment, code=(0,))
    done, report = mover("copy", source, place / "read-back/verified", "--verify", env=environment)
    expect(done.returncode != 0 and "large-1" in told(done, report), "what cannot be read back is named", told(done, report))
    expect(not (place / "read-back/verified/large-1").exists(), "and has not got its name")


def ended_early(place, source):
    """A file that ends before the size that its file system tells, as stale sizes of network file systems make it."""
    if not shutil.which("strace"):
        print("left out, what ends early: no strace")
        return
    for name, calls, code in (("by-kernel", ["copy_file_range:retval=0"], 0),
                              ("by-none", ["copy_file_range:retval=0", "pread64:retval=0"], 1)):
        target = place / f"early-{name}"
        injected = [word for call in calls for word in ("-e", f"inject={call}")]
        done, report = mover("copy", source, target, code=(code,), before=["strace", "-f", "-qq", "-o", place / "calls", "-P", source / "large-1", *injected])
        expect(not torn(source, target), f"{name}: nothing has its name that is not whole", told(done, report))
        expect(code == 0 or "it ends at byte" in told(done, report), "what ended early is named", told(done, report))
    mover("sync", source, target, code=(0,))
    expect_equal(source, target, "once it is told whole, all is equal")
    early = place / "early"
    early.mkdir()
    (early / "large").write_bytes(os.urandom(MIB) * 6)
    done, report = mover("archive", early, place / "early.tar", code=(1,),
                         before=["strace", "-f", "-qq", "-o", place / "calls", "-P", early / "large", "-e", "inject=pread64:retval=0:when=5+"])
    expect("it ends at byte" in told(done, report), "an archive names it, too", told(done, report))
    mover("restore-archive", place / "early.tar", place / "of-early", code=(0,))
    expect(not (place / "of-early/large").exists(), "and holds nothing of it")


def without_size(place, _):
    """A file of procfs has bytes, and no size: no verb takes it for an empty one."""
    source, target = place / "without-size", place / "of-none"
    source.mkdir()
    for name in ("version", "empty"):
        (source / name).touch()
    run("mount", "--bind", "/proc/version", source / "version")
    run("cp", "-a", source, target)
    (target / "version").write_bytes(b"")
    for words in (("copy", source, place / "none-copied"), ("compare", source, target, "--preserve", "none"), ("compare", target, source, "--preserve", "none"),
                  ("archive", source, place / "none.tar"), ("walk", source, "--checksums", place / "none.crc32c"),
                  ("sync", source, target, "--checksum", "--preserve", "none")):
        done, report = mover(*words, code=(1,))
        expect("it has bytes, but its file system reports none" in told(done, report), f"{words[0]} names it", told(done, report))
    run("umount", source / "version")
    expect(os.listdir(place / "none-copied") == ["empty"], "and an empty file is copied")


def few_descriptors(place, source):
    done = subprocess.run([FOREBAY, "copy", source, place / "few"], capture_output=True, text=True, check=False, timeout=SECONDS_MAX,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (7, 7)))
    expect(done.returncode == 5 and "ulimit -n" in done.stderr, "the limit of open files is named", f"{done.returncode} {done.stdout}{done.stderr}")
    mover("copy", source, place / "few", code=(0,))
    expect_equal(source, place / "few", "with more of them the same command ends the copy")


def synced_first(_, source):
    """On a disk names come after a sync of what they stand for, and the end after one of all; one sync for many names."""
    if not shutil.which("strace"):
        print("left out, what is synced: no strace")
        return
    with tempfile.TemporaryDirectory(prefix="forebay-synced-", dir=os.environ.get("TMPDIR") or "/var/tmp") as disk:
        for words, wanted in (((), 2), (("--no-sync",), 0)):
            log, target = pathlib.Path(disk) / f"calls-{wanted}", pathlib.Path(disk) / f"target-{wanted}"
            begin = time.monotonic()
            done = subprocess.run(["strace", "-f", "-qq", "-e", "trace=syncfs,fsync,fdatasync,renameat,renameat2", "-o", log, FOREBAY, "copy",
                                   source, target, "--threads", "1", *words], capture_output=True, text=True, check=False,
                                  env=os.environ | {"HOME": "", "XDG_CACHE_HOME": ""})  # where the copy would be remembered
            seconds = time.monotonic() - begin
            expect(done.returncode == 0, "the copy ends", done.stderr)
            calls = [line.split("(")[0].split()[-1] for line in log.read_text().splitlines() if "(" in line]
            syncs, names = calls.count("syncfs"), sum(call.startswith("rename") for call in calls)
            # A slow machine may make more calls, because names wait for 5 s.
            expect(syncs == wanted or (wanted and seconds > 5), f"{words}: {syncs} syncs of the file system")
            expect(names > 30 and len(calls) == syncs + names, f"{words}: names by renames, and no sync of single files", str(calls))
            if wanted:
                expect(calls[0] == calls[-1] == "syncfs", "a sync comes before the first name, and after the last", str(calls))


def deep(place, _):
    source, target = place / "deep", place / "of-deep"
    make_tree.make("deep", source)
    mover("copy", source, target, code=(0,))
    expect_equal(source, target, "a depth of 4,000 is copied")
    mover("compare", source, target, code=(0,))
    mover("sync", source, target, "--delete", code=(0,))
    mover("delete", target, code=(0,))
    expect(not target.exists(), "a depth of 4,000 is removed")
    conformance.removed(source)


def names_like_ours(place, source):
    """A killed copy shows how temporary names begin; such a name at the source is a name as any other, or is told."""
    other, target = place / "names", place / "of-names"
    run("cp", "-a", source, other)
    traced = run("strace", "-f", "-e", "trace=openat", FOREBAY, "copy", other, target, code=None)
    names = {word for word in traced.stderr.split('"') if word.startswith(".fb-")}
    expect(names, "temporary names are seen", traced.stderr[-2000:])
    name = min(names)[:13] + "0" * (len(min(names)) - 13)
    (other / name).write_text("a file of the user")
    done, report = mover("copy", other, target)
    there = (target / name).exists() and (target / name).read_text() == "a file of the user"
    expect(there or done.returncode != 0 and name in told(done, report), "such a name is kept, or told", told(done, report))


AS_ORDINARY_USER = [not_writable, unreadable, given_away]
CASES = [full_target, no_inodes, beyond_quota, file_size_limit, bad_sectors, failing_writes, not_to_be_copied,
         two_at_once, killed_delete, loop_of_mounts, other_file_system, read_back, ended_early, without_size, few_descriptors, synced_first, deep, names_like_ours]


def main():
    own_mounts()
    failed, cases = [], CASES
    if user_may_run():
        cases = CASES + AS_ORDINARY_USER
    else:
        print(f"left out, what an ordinary user sees: he may not run {FOREBAY}")
    with tempfile.TemporaryDirectory(prefix="forebay-errors-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        place.chmod(0o755)
        source = place / "source"
        make_tree.make("kill", source, 0.02)
        try:
            for case in cases:
                try:
                    case(place, source)
                    print(f"ok: {case.__name__}", flush=True)
                except AssertionError as problem:
                    failed.append(case.__name__)
                    print(f"FAILED: {case.__name__}: {problem}", flush=True)
        finally:
            for mount in ("full", "no-inodes", "read-only", "looped/small/again", "with-mount/mounted", "without-size/version"):
                subprocess.run(["umount", "--lazy", place / mount], check=False, stderr=subprocess.DEVNULL)
            conformance.removed(place)
            place.mkdir()
    sys.exit(f"errors: {', '.join(failed)} failed" if failed else 0)


main()
