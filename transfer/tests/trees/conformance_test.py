"""Goal: `forebay copy` keeps every thing that an entry has, within a file system and from one to another, with one thread,
with four, and with two workers.

Method: a small TS and the tree of what few tools keep, in memory and on a disk; copies are judged by no code of ours.
"""

import os

import conformance
import judge
import movers
from forebay_test import expect

FACTOR = 0.1  # of 5,000 entries


def main():
    count = 0
    with conformance.Places("/dev/shm", os.environ.get("TMPDIR") or "/var/tmp") as places:
        for tree, begin, end, mover, code, said, verdict in conformance.conformance(places, movers.OURS, factor=FACTOR):
            where = f"{mover.name} of {tree} from {begin} to {end}"
            expect(verdict.equal, f"{where} keeps all, not without {verdict.failed()}", said + judge.text(verdict))
            expect(code == 0, f"{where} exits with 0, not {code}", said)
            count += 1
    expect(count == 24, f"24 copies are judged, not {count}")
    print(f"conformance: {count} copies judged")


main()
