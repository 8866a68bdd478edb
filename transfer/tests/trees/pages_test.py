"""Goal: the tutorial of the transfer tool shows the output of the program, and its commands work.

Method: runs the commands of transfer/docs/first-copy.md in their order. A command with "$" shows its output: the lines
must be the same. Times differ, and threads report entries in any order.
"""

import os
import pathlib
import re
import subprocess

from forebay_test import FOREBAY, check_each, expect

PAGE = pathlib.Path(os.environ["FOREBAY_SOURCE_DIR"]) / "transfer/docs/first-copy.md"
TIME = re.compile(r"\bin [0-9.]+ (?:ms|s|min)\b")
SPACE = re.compile(r"[0-9.]+ [kMG]?B of them on storage")  # file systems differ
MODIFIED = re.compile(r"[0-9]{10}\.[0-9]{9}")


def steps():
    """The commands of the page, each with its lines of output; None: the page shows no output."""
    for block in re.findall(r"(?:^    .*\n)+", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        lines = [line[4:] for line in block.splitlines()]
        if lines[0].startswith("$ "):
            yield lines[0][2:], lines[1:]
        else:
            yield "\n".join(lines), None


def comparable(lines):
    return sorted(SPACE.sub("SPACE", MODIFIED.sub("MOMENT", TIME.sub("in TIME", line))).strip() for line in lines)


def check_first_copy(scratch):
    count = 0
    for command, shown in steps():
        done = subprocess.run(["bash", "-c", command], cwd=scratch, capture_output=True, text=True, check=False, timeout=600,
                              env=os.environ | {"PATH": f"{FOREBAY.parent}:{os.environ['PATH']}"})
        printed = done.stdout + done.stderr
        is_refused = "forebay: " in printed
        wanted = 2 if is_refused else 1 if command.startswith("forebay compare") and " differs" in printed else 0
        expect(done.returncode == wanted, f"{command} works", printed)
        if shown is not None:
            expect(comparable(printed.splitlines()) == comparable(shown), f"{command} prints the lines of the page", printed)
        count += 1
    expect(count >= 9, "the commands are found", str(count))
    expect(not (scratch / "case").exists() and (scratch / "archive/case/input.txt").exists(), "the copy is left")


check_each("pages", [check_first_copy])
