#!/usr/bin/env python3
"""Goal: `forebay stagger` runs at most the given number of commands at a time, exits with their codes, and passes the
turn of a killed command to the next.

Method: eight processes share two turns; their commands record when they begin and end. Then the holder of a turn is
killed.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = pathlib.Path(os.environ["FOREBAY_AGENT"])


def stagger(place, at_once, *command, **options):
    words = [str(PROGRAM), "stagger", "--at-once", str(at_once), "--directory", str(place), *options.pop("more", ()), "--", *command]
    return subprocess.Popen(words, **options)


def at_a_time(place):
    log = place / "log"
    begun = [stagger(place, 2, "sh", "-c", f"echo 1 >> {log}; sleep 0.1; echo -1 >> {log}") for _ in range(8)]
    assert [process.wait(timeout=120) for process in begun] == [0] * 8
    running, most = 0, 0
    for line in log.read_text().split():
        running += int(line)
        most = max(most, running)
    assert most == 2 and running == 0, log.read_text()


def holder_dies(place):
    process = stagger(place, 1, "sleep", "600", more=["--name", "dying"])
    while not list(place.glob(".forebay-stagger-dying/0")):
        time.sleep(0.02)
    time.sleep(0.1)
    waiting = stagger(place, 1, "sh", "-c", "exit 7", more=["--name", "dying"])
    time.sleep(0.3)
    assert waiting.poll() is None, "two at once"
    process.kill()
    process.wait()
    assert waiting.wait(timeout=60) == 7, "the next one has its turn, and exits as its command"
    # The command of the killed holder has received the signal to end.
    held = stagger(place, 1, "true", more=["--name", "dying", "--wait", "20"])
    assert held.wait(timeout=60) == 0


def told_to_end(place):
    process = stagger(place, 1, "sleep", "600", more=["--name", "told"])
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    taken = subprocess.run([PROGRAM, "stagger", "--at-once", "1", "--directory", place / "gone", "--", "true"],
                           capture_output=True, text=True, check=False)
    assert taken.returncode == 3, taken
    bare = subprocess.run([PROGRAM, "stagger", "--directory", place, "sh", "-c", "true"], capture_output=True, text=True, check=False)
    assert bare.returncode == 2 and "put -- before the command" in bare.stderr, bare


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-stagger-") as scratch:
        place = pathlib.Path(scratch)
        at_a_time(place)
        holder_dies(place)
        told_to_end(place)
    return 0


sys.exit(main())
