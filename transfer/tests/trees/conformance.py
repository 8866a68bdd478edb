#!/usr/bin/env python3
"""What each mover on this machine keeps of trees TS and special: a table, as Markdown and as a file.

    transfer/tests/trees/conformance.py [--factor F] [--only NAME] [--memory DIR] [--disk DIR] [--csv FILE]

Each tree is made in memory (/dev/shm) and on a disk (/var/tmp), and copied within each and across both, by every program
that is installed, and by forebay with 1 and 4 threads, with 2 workers and with 1, 2 and 3 ranks of MPI; the judge, which
has no code of ours, compares. Of a program that fills holes, the one of 5 GiB has 64 MiB. FOREBAY_BINARY_DIR says which
build. The table of this project is bench/results/movers-conformance.csv; without --csv only the Markdown is printed.
scripts/bootstrap bench installs what Debian has of the others.
"""

import argparse
import csv
import datetime
import itertools
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

import judge
import make_tree

ROOT = pathlib.Path(__file__).resolve().parents[3]
os.environ.setdefault("FOREBAY_BINARY_DIR", str(ROOT / "build"))
sys.path.insert(0, str(ROOT / "tests/support"))

import movers  # pylint: disable=wrong-import-position

TREES = ("TS", "special")
SMALL_HOLE = 1 / 80  # of 5 GiB, for what writes it
FIRST = ["tree", "from", "to", "mover", "exit"]


def type_of(place):
    return subprocess.run(["stat", "-f", "-c", "%T", place], capture_output=True, text=True, check=True).stdout.strip()


def removed(place):
    """Directories without permissions are no obstacle; neither is a depth of 4,000."""
    subprocess.run(["chmod", "-R", "u+rwx", place], check=False, stderr=subprocess.DEVNULL)
    subprocess.run(["rm", "-rf", place], check=True)


class Places:
    """Where trees are made and copied to: a new directory on each file system."""

    def __init__(self, *parents):
        self.all = [pathlib.Path(tempfile.mkdtemp(prefix="forebay-trees-", dir=parent)) for parent in parents]
        self.trees = {}
        self.copies = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for place in self.all:
            removed(place)

    def tree(self, place, name, factor):
        key = place, name, factor
        if key not in self.trees:
            self.trees[key] = place / f"{name}-{len(self.trees)}"
            for what, count in make_tree.make(name, self.trees[key], factor).left_out.items():
                print(f"{name}: left out {count} times, {what}", file=sys.stderr)
        return self.trees[key]

    def copy(self, place):
        """A name that was never used."""
        self.copies += 1
        return place / f"copy-{self.copies}"


def conformance(places, chosen, trees=TREES, factor=1.0):
    """Yields (tree, from, to, mover, exit code, what it said, the verdict). A mover that hung once is not waited for again."""
    hanging = set()
    for name, begin, end, mover in itertools.product(trees, places.all, places.all, chosen):
        if mover in hanging:
            continue
        hole = SMALL_HOLE if mover.fills_holes else 1
        source, target = places.tree(begin, name, hole if name == "special" else factor), places.copy(end)
        code, said = mover.copy(source, target, movers.HANGS_SECONDS)
        if code is None:
            hanging.add(mover)
        target.mkdir(exist_ok=True)
        yield name, type_of(begin), type_of(end), mover, code, said, judge.judge(source, target)
        if end == places.all[0]:  # memory; a disk is slow for minutes after many deletes
            removed(target)


def exit_shown(code):
    return "hangs" if code is None else str(code)


def columns_told(rows):
    """All columns but those that no tree has."""
    return [name for name in judge.COLUMNS if any(row[-1].shown()[name] != "-" for row in rows)]


def print_markdown(rows):
    names = columns_told(rows)
    print("| " + " | ".join(FIRST + names) + " |")
    print("|" + "---|" * (len(FIRST) + len(names)))
    for tree, begin, end, mover, code, _, verdict in rows:
        shown = verdict.shown()
        print("| " + " | ".join([tree, begin, end, mover.name, exit_shown(code), *(shown[name] for name in names)]) + " |")


def write_csv(path, rows):
    today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    versions = {mover.name: movers.version(mover) for mover in {row[3] for row in rows}}
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["date", "kernel", "version", *FIRST, *judge.COLUMNS])
        for tree, begin, end, mover, code, _, verdict in rows:
            writer.writerow([today, platform.release().split("-")[0], versions[mover.name], tree, begin, end, mover.name, exit_shown(code),
                             *verdict.shown().values()])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--factor", type=float, default=1.0, help="of TS's entries")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="movers whose name holds this")
    parser.add_argument("--memory", default="/dev/shm")
    parser.add_argument("--disk", default="/var/tmp")
    parser.add_argument("--csv", type=pathlib.Path, metavar="FILE")
    given = parser.parse_args()
    chosen = [mover for mover in movers.there() if not given.only or any(word in mover.name for word in given.only)]
    for mover in movers.OURS + movers.RANKED + movers.OTHERS:
        if mover.missing():
            print(f"left out: {mover.name}: no {', '.join(map(str, mover.missing()))}", file=sys.stderr)
    rows = []
    with Places(given.memory, given.disk) as places:
        for row in conformance(places, chosen, factor=given.factor):
            rows.append(row)
            *where, mover, code, said, verdict = row
            lost = verdict.failed() or "all is kept"
            print(f"{' '.join(where)}: {mover.name}: exit {exit_shown(code)}, {lost}", file=sys.stderr, flush=True)
            if mover.ours and not (verdict.equal and code == 0):
                print(f"{said}\n{judge.text(verdict)}", file=sys.stderr)
    print_markdown(rows)
    if given.csv:
        write_csv(given.csv, rows)
    return 0 if all(row[-1].equal and row[4] == 0 for row in rows if row[3].ours) else 1


if __name__ == "__main__":
    sys.exit(main())
