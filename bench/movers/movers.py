#!/usr/bin/env python3
"""Walk, copy, sync, compare, delete and archive beside programs of others that do as much. Run by `bench/run movers`.

    bench/movers/movers.py [--json] [--repeats 5] [--factor 1] [--only NAME] [--memory DIR] [--disk DIR]

Method: tree T1 of tests/trees, in memory, and TP for archives. In each turn every program does its work once, one after
the other, each with a target of its own that never was there before; so what changes on the machine changes for all.
What is removed is removed outside of the time, and on the disk only afterwards, by a process that may stay for minutes:
ext4 without a journal makes files several times slower for minutes after many deletes. Copies to the disk are timed
with syncfs of the target's file system. All run before other work of the machine, where root runs them. A ratio is our
seconds over those of the other; its quartiles are those of the turns. Beside the seconds: calls of the system an entry,
by strace of tree TS, and the memory an entry, of the process that is started, beyond what it needs for an empty tree.
"""

import argparse
import copy
import ctypes
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import ways

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
CHANGED = 0.01
SECONDS_MAX = 300
sys.path.insert(0, str(ROOT / "transfer/tests/trees"))

import make_tree  # pylint: disable=wrong-import-position
import peak  # pylint: disable=wrong-import-position


class PeerFailed(Exception):
    """A program of others that did not do its work here."""

    def __init__(self, way, why):
        super().__init__(why)
        self.program = way.name.split()[0]


class Run:
    """What a program did, and its seconds."""

    def __init__(self, way, source, target="", sync=False):
        command = way.command(source, target)
        with tempfile.TemporaryFile(dir="/dev/shm") as said:
            begin = time.perf_counter()
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=ENVIRONMENT)
            process.wait()
            if sync:
                sync_file_system(target)
            self.seconds = time.perf_counter() - begin
            said.seek(0)
            self.said = said.read()[-1000:].decode("utf-8", "backslashreplace")
        if process.returncode not in way.codes:
            why = f"bench/movers: {way.name} exits with {process.returncode}: {' '.join(map(str, command))}\n{self.said}"
            raise SystemExit(why) if way.name in (ways.FOREBAY, ways.FLOOR) else PeerFailed(way, why)


def sync_file_system(place):
    fd = os.open(place, os.O_RDONLY)
    if ctypes.CDLL(None, use_errno=True).syncfs(fd):
        raise OSError(ctypes.get_errno(), "syncfs")
    os.close(fd)


def go_first():
    """Before other work on this machine, as far as it lets us: what several threads do suffers most from company. The
    scheduler weighs sessions, so `nice` alone does nothing."""
    try:
        if os.getpgid(0) != os.getpid():
            os.setsid()
        pathlib.Path("/proc/self/autogroup").write_text("-20")
        return True
    except OSError:
        return False


def removed(place):
    subprocess.run(["rm", "-rf", place], check=True)


def leave_to_be_removed(place):
    """Minutes for millions of files where each removal waits for a disk's discard: a process of its own goes on."""
    subprocess.Popen(["rm", "-rf", place], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                     start_new_session=True)


class Bench:
    """The samples of each operation and way, in seconds."""

    def __init__(self, memory, disk, factor, repeats):
        self.memory, self.disk, self.factor, self.repeats = memory, disk, factor, repeats
        self.samples = {}
        self.measured = {}
        self.copies = 0
        self.trees = {}

    def tree(self, name):
        if name not in self.trees:
            self.trees[name] = self.memory / name
            if name == "one":
                make_tree.Maker(self.trees[name]).file("file", round((2 << 30) * self.factor))
            else:
                make_tree.make(name, self.trees[name], self.factor)
        return self.trees[name]

    def fresh(self, place):
        self.copies += 1
        return place / f"copy-{self.copies}"

    def note(self, operation, way, seconds):
        self.samples.setdefault(operation, {}).setdefault(way.name, []).append(seconds)

    def walk(self, operation="walk"):
        for way in ways.there(ways.WALK):
            self.note(operation, way, Run(way, self.tree("T1")).seconds)

    def copy(self, operation="copy", tree="T1", chosen=None):
        for way in ways.there(chosen or ways.COPY):
            target = self.fresh(self.memory)
            self.note(operation, way, Run(way, self.tree(tree), target).seconds)
            removed(target)

    def copy_one(self):
        self.copy("copy one file of 2 GiB", "one", ways.ONE_FILE)

    def copy_large(self):
        self.copy("copy T2", "T2", ways.ONE_FILE)

    def archive(self):
        """Each program makes one of TP, and extracts its own."""
        extracting = {way.name.replace(" -xf", " -cf"): way for way in ways.there(ways.EXTRACT)}
        for way in ways.there(ways.ARCHIVE):
            path, target = self.fresh(self.memory).with_suffix(".tar"), self.fresh(self.memory)
            self.note("archive TP, create", way, Run(way, self.tree("TP"), path).seconds)
            self.note("archive TP, extract", extracting[way.name], Run(extracting[way.name], path, target).seconds)
            path.unlink()
            removed(target)

    def copy_to_disk(self):
        for way in ways.there(ways.COPY):
            target = self.fresh(self.disk)
            sync_file_system(self.disk)
            self.note("copy to disk, with sync", way, Run(way, self.tree("T1"), target, sync=True).seconds)

    def own_target(self, way):
        """One copy for each program, which it keeps up to date in all turns."""
        target = self.memory / f"kept-by-{ways.there(ways.SYNC).index(way)}"
        if not target.exists():
            subprocess.run(["cp", "-a", self.tree("T1"), target], check=True)
            Run(way, self.tree("T1"), target)
        return target

    def sync(self):
        for way in ways.there(ways.SYNC):
            self.note("sync, nothing changed", way, Run(way, self.tree("T1"), self.own_target(way)).seconds)

    def sync_changed(self):
        targets = [(way, self.own_target(way)) for way in ways.there(ways.SYNC)]
        change(self.tree("T1"), seed=len(self.samples.get("sync, 1 % changed", {}).get(ways.FOREBAY, [])))
        for way, target in targets:
            self.note("sync, 1 % changed", way, Run(way, self.tree("T1"), target).seconds)

    def compare(self):
        target = self.memory / "equal"
        if not target.exists():
            subprocess.run(["cp", "-a", self.tree("T1"), target], check=True)
        for way in ways.there(ways.COMPARE):
            self.note("compare", way, Run(way, self.tree("T1"), target).seconds)
        removed(target)  # else a sync that follows changes what is equal

    def delete(self):
        for way in ways.there(ways.DELETE):
            target = self.fresh(self.memory)
            subprocess.run(["cp", "-a", self.tree("T1"), target], check=True)
            self.note("delete", way, Run(way, "", target).seconds)
            if target.exists():
                raise SystemExit(f"bench/movers: {way.name} has not removed {target}")

    def calls(self):
        """System calls an entry, of all threads and processes."""
        source = self.memory / "TS"
        make_tree.make("TS", source)
        entries = sum(len(folders) + len(files) for _, folders, files in os.walk(source)) + 1
        for operation, chosen in (("walk", ways.WALK), ("copy", ways.COPY), ("sync, nothing changed", ways.SYNC)):
            for way in ways.there(chosen):
                target = self.fresh(self.memory)
                if operation.startswith("sync"):
                    subprocess.run(["cp", "-a", source, target], check=True)
                with tempfile.NamedTemporaryFile("r") as table:
                    command = ["strace", "-f", "-c", "-o", table.name, *way.command(source, target)]
                    subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=ENVIRONMENT, timeout=SECONDS_MAX)
                    total = re.search(r"^100\.00\s+\S+\s+(?:\d+\s+)?(\d+)\s.*total$", table.read(), re.MULTILINE)
                if total:
                    self.single(f"{operation}, {way.name}: calls an entry", int(total.group(1)) / entries, "")
                if target.exists():
                    removed(target)

    def memory_used(self):
        """Of the process that is started, which of rsync is one of three, beyond an empty tree, by entry."""
        empty = self.memory / "nothing"
        empty.mkdir()
        entries = 102_000 * self.factor
        chosen = {"walk": ways.WALK, "copy": ways.COPY, "sync, nothing changed": ways.SYNC, "compare": ways.COMPARE}
        for operation, each in chosen.items():
            for way in ways.there(each):
                if ways.RANKS[0] in way.words:
                    continue  # the largest process is mpiexec itself
                used = []
                for source in (empty, self.tree("T1")):
                    target = self.fresh(self.memory)
                    if operation not in ("walk", "copy"):
                        subprocess.run(["cp", "-a", source, target], check=True)
                    used.append(peak.run(way.command(source, target), env=ENVIRONMENT)[1])
                    if target.exists():
                        removed(target)
                self.single(f"{operation}, {way.name}: memory an entry", (used[1] - used[0]) / entries, "B")
                self.single(f"{operation}, {way.name}: memory", used[1] / 1e6, "MB")

    def single(self, label, value, unit):
        self.measured[label] = {"unit": unit, "median": value, "lower_quartile": value, "upper_quartile": value}


def change(tree, seed):
    """1 % of the regular files get other bytes, half of them of the same size, and a new time."""
    chance = make_tree.Maker(tree.parent / "chance", seed).chance
    paths = sorted(path for path in tree.rglob("*") if path.is_file() and not path.is_symlink())
    for number, path in enumerate(chance.sample(paths, round(len(paths) * CHANGED))):
        size = path.stat().st_size
        with open(path, "r+b" if number % 2 else "ab") as file:
            file.write(chance.randbytes(min(size, 512) if number % 2 else 100))


def spread(values):
    quartiles = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    return {"median": statistics.median(values), "lower_quartile": quartiles[0], "upper_quartile": quartiles[2]}


def ratios_of(operation, samples):
    """Label and ratio of each goal whose program is here."""
    own = samples.get(ways.FOREBAY)
    peers = {name: values for name, values in samples.items() if name not in (ways.FOREBAY, ways.FLOOR)}
    if not own or not peers:
        return
    for goal in ways.GOALS[operation]:
        peer = goal.peer or min(peers, key=lambda name: statistics.median(peers[name]))
        if peer in peers:
            turns = spread([one / other for one, other in zip(own, peers[peer])])
            yield f"{operation}: forebay / {peer}", {"value": statistics.median(own) / statistics.median(peers[peer]),
                                                     "lower_quartile": turns["lower_quartile"],
                                                     "upper_quartile": turns["upper_quartile"], "goal": f"{goal.ratio:.3g}"}


def result(bench):
    measured = {f"{operation}, {name}": {"unit": "s", **spread(values)}
                for operation, samples in bench.samples.items() for name, values in samples.items()}
    ratios = dict(pair for operation, samples in bench.samples.items() for pair in ratios_of(operation, samples))
    words = {f"{label}_is": "at most that" for label in ratios}
    return {"bench": "movers", "ratios": ratios, "measured": measured | bench.measured, **words}


TURNS = {"walk": Bench.walk, "copy": Bench.copy, "sync": Bench.sync, "change": Bench.sync_changed, "compare": Bench.compare,
         "delete": Bench.delete, "one": Bench.copy_one, "large": Bench.copy_large, "archive": Bench.archive, "disk": Bench.copy_to_disk}
ONCE = {"calls": Bench.calls, "memory": Bench.memory_used}


def once(bench, work):
    """A turn without the programs that fail in it, which are named."""
    while True:
        before = copy.deepcopy(bench.samples)
        try:
            return work(bench)
        except PeerFailed as failed:
            print(f"{failed}\nbench/movers: {failed.program} is left out", file=sys.stderr)
            ways.LEFT_OUT.add(failed.program)
            bench.samples = before


def measure(bench, chosen):
    for name in chosen:
        for _ in range(1 if name in ONCE else bench.repeats):
            once(bench, ONCE[name] if name in ONCE else TURNS[name])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--factor", type=float, default=1.0, help="of the trees")
    parser.add_argument("--only", action="append", choices=[*TURNS, *ONCE], help="this operation; as often as one likes")
    parser.add_argument("--memory", default="/dev/shm", help="where trees and targets are")
    parser.add_argument("--disk", default=os.environ.get("TMPDIR", "/var/tmp"), help="where copies to a disk go")
    parser.add_argument("--json", action="store_true", help="print one object, for bench/run")
    given = parser.parse_args()
    if not go_first():
        print("bench/movers: other work on this machine has as good a place as this", file=sys.stderr)
    memory, disk = (pathlib.Path(tempfile.mkdtemp(prefix="forebay-movers-", dir=place)) for place in (given.memory, given.disk))
    bench = Bench(memory, disk, given.factor, given.repeats)
    try:
        measure(bench, given.only or [*TURNS, *ONCE])
    finally:
        removed(memory)
        leave_to_be_removed(disk)
    found = result(bench)
    if given.json:
        print(json.dumps(found))
        return
    for label, one in found["measured"].items():
        print(f"{label:50} {one['median']:10.4g} {one['unit']}")
    for label, one in found["ratios"].items():
        print(f"{label:50} {one['value']:10.3f}  goal {one['goal']}")


main()
