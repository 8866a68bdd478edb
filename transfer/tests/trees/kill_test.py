"""Goal: kill -9 at any moment of `forebay copy` and `forebay sync` leaves no wrong file under a final name; the second run is
correct, keeps what was finished, goes on within large files, and leaves nothing of its own.

Method: small files and large ones, some large enough to be copied in pieces, and a tree of every kind of entry. The program
is killed at random moments of the time that it takes undisturbed, by turns of a new copy of each, and of a sync over an
older one of the same sizes, in memory, and of a copy to a disk, where names come in batches. After each kill every file is compared with the source, or with what was there before, byte by
byte by no code of ours. Then, every other time, a byte of each large file that is not there yet is changed, without its
size and time of modification; the program runs again, and the judge compares all. FOREBAY_KILLS says how often (10), FOREBAY_SEED repeats a
run.
"""

import json
import os
import pathlib
import random
import stat
import subprocess
import tempfile
import time

import conformance
import judge
import make_tree
import pairs
from forebay_test import FOREBAY, SECONDS_MAX, expect, run

KILLS = int(os.environ.get("FOREBAY_KILLS", "10"))
SEED = int(os.environ.get("FOREBAY_SEED", str(time.time_ns() % 1_000_000)))
FACTOR = 0.3  # 600 small files and 4 of 77 MiB: those of 64 MiB and more are copied in pieces
TEMPORARY = b".fb-"  # how names begin that are no final ones


class Case:
    """A verb, what is at the target before it, and how it is run."""

    def __init__(self, verb, source, old=None, beside=None):
        self.verb, self.source, self.old = verb, source, old
        self.target = (beside or source.parent) / f"{source.name}-{verb}"
        self.seconds = None

    def command(self):
        return [str(word) for word in (FOREBAY, self.verb, self.source, self.target, "--threads", 2, "--json")]

    def prepare(self):
        conformance.removed(self.target)
        if self.old:
            run("cp", "-a", self.old, self.target)

    def whole_run(self):
        begin = time.monotonic()
        done = run(*self.command(), code=None)
        expect(done.returncode == 0, f"forebay {self.verb} exits with 0, not {done.returncode}", done.stdout + done.stderr)
        self.seconds = self.seconds or time.monotonic() - begin
        verdict = judge.judge(self.source, self.target)
        expect(verdict.equal, f"forebay {self.verb} is faithful, not without {verdict.failed()}", judge.text(verdict))
        return json.loads(done.stdout)

    def kill_after(self, seconds):
        process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
        return process.wait(SECONDS_MAX) != 0

    def finals(self):
        """What lies at the target under final names: (path, status) of each that is no directory."""
        if not self.target.exists():
            return {}
        return {pair.path: pair.right.stat for pair in pairs.walk(self.source, self.target)
                if pair.right and pair.right.kind != stat.S_IFDIR and not pair.path.rsplit(b"/", 1)[-1].startswith(TEMPORARY)}

    def finished(self):
        """The inodes of what is there already; of names of one inode another may come first in the second run."""
        sources = {path: os.lstat(os.path.join(os.fsencode(self.source), path)) for path in self.finals()}
        return {path: found.st_ino for path, found in self.finals().items()
                if found.st_mtime_ns == sources[path].st_mtime_ns and sources[path].st_nlink == 1}

    def wrong(self):
        """Files under a final name that are neither the source's nor those of before, and names that nobody knows."""
        if not self.target.exists():
            return []
        before = {pair.path for pair in pairs.walk(self.old, self.target) if is_same(pair)} if self.old else set()
        return [pair.path for pair in pairs.walk(self.source, self.target)
                if pair.right and pair.right.kind != stat.S_IFDIR and not is_same(pair) and pair.path not in before and
                not pair.path.rsplit(b"/", 1)[-1].startswith(TEMPORARY)]


def is_same(pair):
    """An entry of the same bytes, time, permissions and owner, by the same target or number."""
    if not pair.left or not pair.right or pair.equal_bytes is False:
        return False
    left, right = ((one.kind, one.target, one.stat.st_rdev, one.stat.st_mtime_ns, one.stat.st_mode, one.stat.st_uid, one.stat.st_gid)
                   for one in (pair.left, pair.right))
    return left == right


def older(source, place):
    """A tree of the same names and sizes with other bytes and times."""
    make_tree.make("kill", place, FACTOR, seed=make_tree.SEED + 1)
    for path in place.rglob("*"):
        if path.is_file():
            other = source / path.relative_to(place)
            if other.exists():
                os.truncate(path, other.stat().st_size)
    return place


def change_unfinished(case, chance, finished):
    """What was copied of these files is of an older version now."""
    for name in (b"large-0", b"large-1", b"large-2", b"large-3"):
        path = os.path.join(os.fsencode(case.source), name)
        if name in finished or not os.path.exists(path):
            continue
        found = os.stat(path)
        with open(path, "r+b") as file:
            file.seek(chance.randrange(found.st_size))
            file.write(chance.randbytes(1))
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def check_kill(case, chance, number):
    case.prepare()
    seconds = case.seconds * chance.uniform(0, 1.05)
    killed = case.kill_after(seconds)
    where = f"kill {number} of forebay {case.verb} after {seconds:.3f} s of {case.seconds:.3f}; FOREBAY_SEED={SEED}"
    wrong = case.wrong()
    expect(not wrong, f"no wrong file under a final name, {where}", "\n".join(map(repr, wrong[:20])))
    finished = case.finished()
    if chance.random() < 0.5:
        change_unfinished(case, chance, finished)
    report = case.whole_run()
    now = {path: found.st_ino for path, found in case.finals().items()}
    again = [path for path, inode in finished.items() if now[path] != inode]
    expect(not again, f"what was finished is kept, {where}", "\n".join(map(repr, again[:20])))
    return killed, len(finished), report


def main():
    chance = random.Random(SEED)
    with (tempfile.TemporaryDirectory(prefix="forebay-kill-", dir="/dev/shm") as scratch,
          tempfile.TemporaryDirectory(prefix="forebay-kill-", dir=os.environ.get("TMPDIR") or "/var/tmp") as disk):
        place = pathlib.Path(scratch)
        source, mixed = place / "source", place / "mixed"
        make_tree.make("kill", source, FACTOR)
        make_tree.make("TS", mixed, FACTOR)
        cases = [Case("copy", source), Case("sync", source, older(source, place / "older")), Case("copy", mixed),
                 Case("copy", mixed, beside=pathlib.Path(disk))]
        for case in cases:
            case.prepare()
            case.whole_run()
        outcomes = [check_kill(cases[number % len(cases)], chance, number) for number in range(KILLS)]
        for each in (place, pathlib.Path(disk)):
            conformance.removed(each)
            each.mkdir()
    killed = [finished for was_killed, finished, _ in outcomes if was_killed]
    # The first whole run of a case says how long it takes. Later runs are quicker if the machine was busy then.
    expect(len(killed) >= KILLS // 4, f"a quarter of {KILLS} runs are killed before their end, not {len(killed)}; FOREBAY_SEED={SEED}")
    resumed = sum(report.get("resumed_bytes", 0) > 0 for _, _, report in outcomes)
    print(f"kill: {len(killed)} of {KILLS} runs killed, {sum(killed)} files kept, {resumed} runs went on within a file; seed {SEED}")


main()
