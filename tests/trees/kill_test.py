"""Goal: kill -9 at any moment of `forebay copy` and `forebay sync` leaves no wrong file under a final name; the second run is
correct, keeps what was finished, goes on within large files, and leaves nothing of its own.

Method: small files and large ones, some large enough to be copied in pieces. The program is killed at random moments of the
time that it takes undisturbed, by turns of a new copy and of a sync over an older one of the same sizes. After each kill
every file is compared with the source, or with what was there before, byte by byte by no code of ours; then the program
runs again and the judge compares all. FOREBAY_KILLS says how often (10), FOREBAY_SEED repeats a run.
"""

import json
import os
import pathlib
import random
import stat
import subprocess
import tempfile
import time

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

    def __init__(self, place, verb, source, old=None):
        self.place, self.verb, self.source, self.old = place, verb, source, old
        self.target = place / f"target-of-{verb}"
        self.seconds = None

    def command(self):
        return [str(word) for word in (FOREBAY, self.verb, self.source, self.target, "--threads", 2, "--json")]

    def prepare(self):
        run("rm", "-rf", self.target)
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

    def wrong(self):
        """Files under a final name that are neither the source's nor those of before, and names that nobody knows."""
        if not self.target.exists():
            return []
        before = {pair.path for pair in pairs.walk(self.old, self.target) if is_same(pair)} if self.old else set()
        return [pair.path for pair in pairs.walk(self.source, self.target)
                if pair.right and pair.right.kind != stat.S_IFDIR and not is_same(pair) and pair.path not in before and
                not pair.path.rsplit(b"/", 1)[-1].startswith(TEMPORARY)]


def is_same(pair):
    """A regular file of the same bytes, time and permissions."""
    if not pair.left or not pair.right or not pair.equal_bytes:
        return False
    left, right = pair.left.stat, pair.right.stat
    return (left.st_mtime_ns, left.st_mode) == (right.st_mtime_ns, right.st_mode)


def older(source, place):
    """A tree of the same names and sizes with other bytes and times."""
    make_tree.make("kill", place, FACTOR, seed=make_tree.SEED + 1)
    for path in place.rglob("*"):
        if path.is_file():
            other = source / path.relative_to(place)
            if other.exists():
                os.truncate(path, other.stat().st_size)
    return place


def check_kill(case, chance, number):
    case.prepare()
    seconds = case.seconds * chance.uniform(0, 1.05)
    killed = case.kill_after(seconds)
    where = f"kill {number} of forebay {case.verb} after {seconds:.3f} s of {case.seconds:.3f}; FOREBAY_SEED={SEED}"
    wrong = case.wrong()
    expect(not wrong, f"no wrong file under a final name, {where}", "\n".join(map(repr, wrong[:20])))
    finished = {path: found.st_ino for path, found in case.finals().items()
                if found.st_mtime_ns == os.lstat(os.path.join(os.fsencode(case.source), path)).st_mtime_ns}
    report = case.whole_run()
    now = {path: found.st_ino for path, found in case.finals().items()}
    again = [path for path, inode in finished.items() if now[path] != inode]
    expect(not again, f"what was finished is kept, {where}", "\n".join(map(repr, again[:20])))
    return killed, len(finished), report


def main():
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="forebay-kill-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        source = place / "source"
        make_tree.make("kill", source, FACTOR)
        cases = [Case(place, "copy", source), Case(place, "sync", source, older(source, place / "older"))]
        for case in cases:
            case.prepare()
            case.whole_run()
        outcomes = [check_kill(cases[number % len(cases)], chance, number) for number in range(KILLS)]
    killed = [finished for was_killed, finished, _ in outcomes if was_killed]
    expect(len(killed) >= KILLS // 2, f"half of {KILLS} runs are killed before their end, not {len(killed)}; FOREBAY_SEED={SEED}")
    resumed = sum(report.get("resumed_bytes", 0) > 0 for _, _, report in outcomes)
    print(f"kill: {len(killed)} of {KILLS} runs killed, {sum(killed)} files kept, {resumed} runs went on within a file; seed {SEED}")


main()
