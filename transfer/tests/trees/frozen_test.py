"""Goal: a worker that stood still for so long that others did its work, and then goes on, changes nothing of what lies in the
trees by then: no rename of its older copies, no bytes of a piece, no removal. It ends by itself. A rank of MPI that stands
still for ever is named, and its job ends when the other ranks have done all. Where all processes stood still, none is lost.
Where the first process, or rank 0, stood still for so long that the others ended, it does all that they were at: nothing is
missing, uncounted or untold. A sync of theirs that fails is told all the same.

Method: a stand-in for ssh whose network is cut without a word: the worker lives on in a session of its own, its input stays
open, and what it says goes nowhere, so that nothing but its own clock tells it. It is stopped by SIGSTOP in the middle of a
copy, until that has ended, and of a removal whose first process is killed. Then all files are written anew, by a rename or
in place, the worker goes on, and every inode, time and byte must stay. Then a rank is stopped in the middle of a copy. The
first process is stopped until its worker has ended, in a sync, in a walk, a comparison and a removal by a slow worker, and
when it waits for the last sync of a worker, which fails after it has given up.
"""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time

import conformance
import team
from forebay_test import BUILD, expect

SEED = int(os.environ.get("FOREBAY_SEED", str(time.time_ns() % 1_000_000)))
PATIENCE = 2
LARGE = 160 << 20
FOLDERS, FILES, BYTES = 20, 200, 30_000  # no more names in a folder than a process does at a time
FOLDERS_REMOVED, FILES_REMOVED = 8, 6_000
IO_ERRORS = BUILD / "tests/libio_errors.so"
OWN = re.compile(rb"-1-[0-9a-f]{8}$")  # how temporary names of the first worker end


def make_source(source):
    for number in range(FOLDERS * FILES):
        path = source / "small" / f"d{number % FOLDERS}" / f"file-{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(number.to_bytes(4, "little") * (BYTES // 4))
    (source / "large").mkdir()
    with open(source / "large" / "file", "wb") as file:
        for number in range(LARGE >> 20):
            file.write(number.to_bytes(8, "little") * (1 << 17))


def entries_of(tree):
    """Everything that a change would show in; bytes are told by the time of the change."""
    seen = {}
    for path in sorted([tree, *tree.rglob("*")]):
        status = path.lstat()
        seen[path] = (status.st_ino, status.st_mode, status.st_nlink, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return seen


def go_on(host, tree, what):
    """What stood still goes on, and changes nothing."""
    before = entries_of(tree)
    host.signal("far", signal.SIGCONT)
    ended = team.gone_within(PATIENCE + 20, host.process("far"))
    after = entries_of(tree)
    other = [str(path) for path in {*before, *after} if before.get(path) != after.get(path)]
    expect(not other, f"{what}: what goes on changes nothing; FOREBAY_SEED={SEED}", f"{len(other)}: {sorted(other)[:5]}")
    expect(ended, f"{what}: it ends")


def stop_at_work(process, host, is_at_work, pause):
    number = host.process("far")
    end = time.monotonic() + 300
    while not is_at_work(number):
        expect(process.poll() is None and time.monotonic() < end, "the worker has a part of the work", str(process.poll()))
    time.sleep(pause)
    os.kill(number, signal.SIGSTOP)


def has_own_temporary(target):
    return target.exists() and any(OWN.search(name) for name in team.temporaries(target))


def has_open_below(number, tree):
    """Whether a process has a directory of `tree` open."""
    for opened in pathlib.Path(f"/proc/{number}/fd").iterdir():
        try:
            if os.readlink(opened).startswith(f"{tree}/"):
                return True
        except FileNotFoundError:
            pass
    return False


def check_copy(place, source, chance):
    target, host = place / "copy", team.FarHost(place / "host-copy")
    process = team.start("copy", source, target, "--rate", "80M", "--threads", 4, "--patience", PATIENCE, "--json", *host.options())
    stop_at_work(process, host, lambda number: has_own_temporary(target), chance.uniform(0, 0.1))
    report, errors = team.ended(process)
    expect([one["host"] for one in report["processes"] if one["lost"]] == ["far"], "it is lost", errors)
    team.expect_equal(source, target, "a worker stands still")
    for path in [path for path in target.rglob("*") if path.is_file()]:
        if path.stat().st_size == LARGE:  # in place: a piece of the worker would be seen
            with open(path, "r+b") as file:
                file.write(b"anew" * (LARGE // 4))
            continue
        new = path.with_name("new")
        new.write_bytes(b"anew")
        new.rename(path)
    go_on(host, target, "copy")
    conformance.removed(target)


def check_removal(place, chance):
    """The command has ended, by a kill, and others write into the directories that are left."""
    tree, host = place / "removed", team.FarHost(place / "host-delete")
    for folder in range(FOLDERS_REMOVED):
        (tree / f"d{folder}").mkdir(parents=True)
        for number in range(FILES_REMOVED):
            (tree / f"d{folder}" / f"file-{number}").touch()
    process = team.start("delete", tree, "--threads", 1, "--patience", PATIENCE, *host.options())
    stop_at_work(process, host, lambda number: has_open_below(number, tree), chance.uniform(0, 0.01))
    team.kill(process)
    time.sleep(PATIENCE)
    left = [folder for folder in tree.iterdir() if folder.is_dir()]
    for folder in left:
        for number in range(FILES_REMOVED):
            new = folder / "new"
            new.write_bytes(b"anew")
            new.rename(folder / f"file-{number}")
    expect(left, "the removal is not done")
    go_on(host, tree, "delete")


def check_suspended(place, source):
    """A batch system stops all processes of a job, and lets them go on."""
    target, hosts = place / "copy-suspended", team.Hosts(place / "hosts-suspended", "near")
    process = team.start("copy", source, target, "--rate", "60M", "--threads", 2, "--patience", PATIENCE, "--json", *hosts.options())
    while not has_own_temporary(target):
        expect(process.poll() is None, "the worker has a part of the work")
    for number in (signal.SIGSTOP, signal.SIGCONT):
        hosts.signal("near", number)
        process.send_signal(number)
        time.sleep(2 * PATIENCE)
    report, errors = team.ended(process)
    expect(not any(one["lost"] for one in report["processes"]), "nobody is lost", errors)
    expect(report["processes"][1]["bytes"] > 0, "the worker goes on", str(report["processes"]))
    team.expect_equal(source, target, "all stood still")
    conformance.removed(target)


def expect_lost(report, errors, what):
    expect([bool(one["lost"]) for one in report["processes"]] == [False, True], f"{what}: the worker is lost", errors)


def let_worker_give_up(process, hosts):
    """The first process stands still until its worker has ended."""
    process.send_signal(signal.SIGSTOP)
    expect(team.gone_within(PATIENCE + 20, hosts.process("near")), "the worker ends")
    process.send_signal(signal.SIGCONT)


def begun_with(place, is_at_work, *words, before=""):
    """A verb whose worker has a part of the work."""
    hosts = team.Hosts(place / f"hosts-first-{words[0]}", "near", before=before)
    process = team.start(*words, "--patience", PATIENCE, "--json", *hosts.options())
    number = hosts.process("near")
    while not is_at_work(number):
        expect(process.poll() is None, f"{words[0]}: the worker has a part of the work")
    return process, hosts


def check_first(place, source, chance):
    source = source / "small"
    target = place / "synced"
    (target / "d1").mkdir(parents=True)
    for number in range(10):
        (target / "d1" / f"extra-{number}").touch()
    process, hosts = begun_with(place, lambda _: has_own_temporary(target), "sync", source, target, "--delete", "--rate", "30M", "--threads", 2)
    time.sleep(chance.uniform(0, 0.1))
    let_worker_give_up(process, hosts)
    report, errors = team.ended(process)
    expect_lost(report, errors, "sync")
    team.expect_equal(source, target, f"the first process stood still; FOREBAY_SEED={SEED}")

    sums = place / "sums"
    for words in (("walk", target, "--checksums", sums), ("delete", target)):
        process, hosts = begun_with(place, lambda number: has_open_below(number, target), *words, "--threads", 1,
                                    before=f"env LD_PRELOAD={IO_ERRORS} FOREBAY_SLOW={target}")
        let_worker_give_up(process, hosts)
        report, errors = team.ended(process)
        expect_lost(report, errors, words[0])
        if words[0] == "walk":
            lines = len(sums.read_bytes().splitlines())
            expect((report["file"], lines) == (FOLDERS * FILES, FOLDERS * FILES + 1), "walk: all is counted and read", f"{report} {lines}")
    expect(not target.exists(), "delete: all of it is gone")


def check_first_of_comparison(place, source):
    """Each file differs."""
    target, told = place / "differing", place / "differences"
    shutil.copytree(source, target, copy_function=lambda one, other: shutil.copystat(one, shutil.copyfile(one, other)))
    for path in target.rglob("file*"):
        times = path.stat()
        with open(path, "r+b") as file:
            file.write(b"other")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    process, hosts = begun_with(place, lambda number: has_open_below(number, target), "compare", source, target, "--threads", 1, "--report", told,
                                before=f"env LD_PRELOAD={IO_ERRORS} FOREBAY_SLOW={source}")
    let_worker_give_up(process, hosts)
    report, errors = team.ended(process, 1)
    expect_lost(report, errors, "compare")
    paths = {line["path"] for line in map(json.loads, told.read_text().splitlines()) if line["kind"] == "differs"}
    expected = {str(path.relative_to(target)) for path in target.rglob("file*")}
    expect(expected <= paths, "compare: each difference is told", f"{len(expected - paths)}: {sorted(expected - paths)[:5]}")
    conformance.removed(target)


def check_last_sync(place, source):
    """The first process stands still while a worker syncs, which gives up, and then cannot."""
    target = place / "not-synced"

    def is_copied(_):  # the time of the directory comes last
        return target.exists() and target.stat().st_mtime_ns == source.stat().st_mtime_ns

    process, hosts = begun_with(place, is_copied, "copy", source, target, "--threads", 2,
                                before=f"env LD_PRELOAD={IO_ERRORS} FOREBAY_BAD_SYNC={PATIENCE + 3}")
    time.sleep(0.5)
    let_worker_give_up(process, hosts)
    out, errors = process.communicate(timeout=60)
    expect(process.returncode not in (0, 1), "a last sync of a worker that fails is told", f"{process.returncode} {out} {errors}")
    conformance.removed(target)


def rank_of(launcher, rank):
    """The process that works as this rank of a launcher."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = (process / "stat").read_text().rsplit(")", 1)[1].split()[1]
            if int(parent) == launcher and f"OMPI_COMM_WORLD_RANK={rank}\0".encode() in (process / "environ").read_bytes():
                return int(process.name)
        except (FileNotFoundError, ProcessLookupError):
            pass
    raise AssertionError(f"rank {rank} is not there")


def started_ranks(place, source, chance):
    """A copy by three ranks, once rank 1 has a part of the work."""
    target = place / "copy-by-ranks"
    words = ["mpiexec", "-n", "3", team.FOREBAY, "copy", source, target, "--rate", "80M", "--threads", "2", "--patience", PATIENCE, "--json"]
    process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=dict(os.environ, **team.RANKS_ENVIRONMENT))
    while not has_own_temporary(target):
        expect(process.poll() is None, "rank 1 has a part of the work")
    time.sleep(chance.uniform(0, 0.1))
    return target, process, [rank_of(process.pid, rank) for rank in range(3)]


def ended_job(process):
    """The report of a job that lost a rank, and its standard error."""
    try:
        out, errors = process.communicate(timeout=10)
        expect(process.returncode in (0, -signal.SIGSEGV), "mpiexec says that all was done", f"{process.returncode}: {errors}")
    except subprocess.TimeoutExpired:  # a fault of the launcher of Open MPI 4.1, after any MPI_Abort()
        print("mpiexec itself does not end, though all of its processes have")
        process.kill()
        out, errors = process.communicate()
    return json.loads(out), errors


def check_rank(place, source, chance):
    target, process, ranks = started_ranks(place, source, chance)
    os.kill(ranks[1], signal.SIGSTOP)
    expect(all(team.gone_within(300, rank) for rank in ranks), "the job ends without the rank that stands still")
    report, errors = ended_job(process)
    lost = [one["host"] for one in report["processes"] if one["lost"]]
    expect(len(lost) == 1 and lost[0].startswith("rank 1 on ") and f"{lost[0]} is lost" in errors, "rank and host are named", f"{lost} {errors}")
    team.expect_equal(source, target, "a rank stands still")
    conformance.removed(target)


def check_first_rank(place, source, chance):
    """The other ranks give up, and wait for rank 0."""
    target, process, ranks = started_ranks(place, source, chance)
    os.kill(ranks[0], signal.SIGSTOP)
    time.sleep(3 * PATIENCE)
    os.kill(ranks[0], signal.SIGCONT)
    expect(all(team.gone_within(300, rank) for rank in ranks), "the job ends")
    report, errors = ended_job(process)
    expect(any(one["lost"] for one in report["processes"]), "ranks that have given up are lost", errors)
    team.expect_equal(source, target, f"rank 0 stood still; FOREBAY_SEED={SEED}")
    conformance.removed(target)


def main():
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="forebay-frozen-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        source = place / "source"
        make_source(source)
        check_copy(place, source, chance)
        check_removal(place, chance)
        check_suspended(place, source)
        check_first(place, source, chance)
        check_first_of_comparison(place, source)
        check_last_sync(place, source)
        if shutil.which("mpiexec") and (team.FOREBAY.parent / "forebay-mpi").exists():
            check_rank(place, source, chance)
            check_first_rank(place, source, chance)
        else:
            print("not under MPI: there is no mpiexec, or this build has none")
        conformance.removed(place)
        place.mkdir()


main()
