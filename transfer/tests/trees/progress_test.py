"""Goal: a mover that lasts for seconds says on a terminal how much is done of all that there is, and how long the rest will
take; what it says is right, and what nobody has counted is not said.

Method: copies, comparisons and restores at a limited rate in a pseudo-terminal, whose last lines are compared with what the
trees have.
"""

import concurrent.futures
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile

from forebay_test import FOREBAY, expect, forebay

MIB = 1 << 20
FILES, FOLDERS = 24, 3
SHOWN = re.compile(r": (\d+) entries.*?(?:, (\d+) % of (?:(\d+) entries)?(?: and )?([\d.]+ [kMG]B)(?:, about ([\d.]+) (s|ms|us) left)?)?$")


def make(place):
    for number in range(FILES):
        file = place / f"d{number % FOLDERS}/file{number}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(bytes([number + 1]) * (4 * MIB))
    os.link(place / "d0/file0", place / "d1/again")
    return place


def lines_of(*words):
    """What is drawn on the terminal, one after the other."""
    main, side = pty.openpty()
    process = subprocess.Popen([FOREBAY, *[str(word) for word in words]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=side)
    os.close(side)
    drawn = b""
    while True:
        try:
            got = os.read(main, 1 << 16)
        except OSError:
            break
        if not got:
            break
        drawn += got
    os.close(main)
    expect(process.wait() == 0, f"{words} ends well", drawn.decode())
    return [line for line in drawn.decode().replace("\r", "").split("\x1b[K") if line.strip()]


def shares(lines, entries, size):
    """The shares that were told, each of so much."""
    found = [SHOWN.search(line.strip()) for line in lines]
    expect(all(found), "each line is one of progress", str(lines))
    expect(entries is None or found[0][2] is None, "nothing is told of all before it is counted", lines[0])
    told = [match for match in found if match[2] is not None]
    expect(len(told) >= 3, "shares are told after seconds", str(lines))
    expect({match[3] for match in told} == {entries} and {match[4] for match in told} == {size}, f"of {entries} entries and {size}",
           str(told[0].groups()))
    percents = [int(match[2]) for match in told]
    expect(percents == sorted(percents) and percents[-1] > 80, "they rise", str(percents))
    expect(entries is None or 30 < percents[0], "from what is done already", str(percents))
    seconds = [float(match[5]) * {"s": 1, "ms": 1e-3, "us": 1e-6}[match[6]] for match in told if match[5]]
    expect(seconds[-1] < seconds[0] < 20, "the time that is left becomes less", str(seconds))


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-progress-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        source = make(place / "source")
        (place / "list").write_text("".join(f"d{number % FOLDERS}/file{number}\n" for number in range(0, FILES, 2)))
        forebay("archive", source, place / "tar")
        cases = ((("copy", source, place / "target", "--rate", "30M"), str(FILES + FOLDERS + 1), "101 MB"),
                 (("copy", source, place / "listed", "--files-from", place / "list", "--rate", "15M"), str(FILES // 2 + FOLDERS), "50.3 MB"),
                 (("archive", source, place / "again.tar", "--rate", "30M"), str(FILES + FOLDERS + 1), "101 MB"),
                 (("restore-archive", place / "tar", place / "restored", "--rate", "30M"), None, "101 MB"))
        with concurrent.futures.ThreadPoolExecutor() as pool:  # each waits for its rate
            drawn = list(pool.map(lambda case: lines_of(*case[0]), cases))
        for lines, (_, entries, size) in zip(drawn, cases):
            shares(lines, entries, size)
        lines = lines_of("sync", source, place / "target")
        expect(not any("%" in line for line in lines), "what is over at once says no shares", str(lines))
    print("progress: what is left is told")


if __name__ == "__main__":
    sys.exit(main())
