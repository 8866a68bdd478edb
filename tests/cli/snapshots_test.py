#!/usr/bin/env python3
"""Goal: the output and exit codes of `forebay` are exactly those that a person last approved.

A case is a file NAME.t:

    # Gives the reason for the case.
    needs forebay view
    $ make_small_run run7 restart 120 2
    $ for step in 120 140; do
    >   forebay show run7@$step
    > done
    its standard output
    2> its standard error
    [3]

A command begins after "$ " and continues after "> ". The commands of a case run one after the other in one shell, in a
private empty directory, with the programs of the build in PATH. Below a command stand the lines of its standard output,
then of its standard error, then its exit code if it is not 0. A line that looks like another kind, ends in a blank or
lacks a line end is written as a JSON text after "= " (standard output) or "2= " (standard error). Before the first
command, `needs forebay VERB` and `needs PROGRAM` list what the build must have; otherwise the case is skipped. Output
that changes from run to run is replaced by a name: see NAMED. The output of `forebay ... --json` must be JSON.

`snapshots_test.py [NAME...]` compares. `snapshots_test.py --update [NAME...]` rewrites the lines below the commands:
read the difference before you commit it. FOREBAY_BINARY_DIR is the tested build.
"""

import dataclasses
import difflib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import uuid

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("FOREBAY_BINARY_DIR", HERE.parent.parent / "build")).resolve()
CASE_SECONDS_MAX = 600
NAMED = (
    (r"forebay-[0-9]+/", "forebay-UID/"),
    (r"-[0-9a-f]{8}-", "-HASH-"),
    (r"127\.0\.0\.1:[0-9]+", "127.0.0.1:PORT"),
    (r'version="[0-9.]+"', 'version="VERSION"'),
)
# A line of output with such a beginning is written as JSON.
MARK = re.compile(r"\$ |> |# |2> |= |2= |\[\d+\]$")


@dataclasses.dataclass
class Command:
    comments: list  # lines above it
    lines: list  # the lines of the shell


@dataclasses.dataclass
class Case:
    head: list  # comments and needs before the first command
    needs: list
    commands: list


def parse(text):
    """The commands of a case without their recorded output."""
    case, comments = Case([], [], []), []
    for line in text.splitlines():
        if line.startswith("$ "):
            case.commands.append(Command(comments, [line[2:]]))
            comments = []
        elif line.startswith("> ") and case.commands:
            case.commands[-1].lines.append(line[2:])
        elif line.startswith("# "):
            comments.append(line)
        elif line.startswith("needs ") and not case.commands:
            case.head += [*comments, line]
            case.needs.append(line.removeprefix("needs "))
            comments = []
    return case


def environment():
    chosen = {"PATH": f"{BUILD / 'bin'}:{BUILD / 'tests'}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "COLUMNS": "100",
              "PYTHON": sys.executable}
    for kept in ("LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
        if kept in os.environ:
            chosen[kept] = os.environ[kept]
    return chosen


def is_there(need):
    program, *verbs = need.split()
    if shutil.which(program, path=environment()["PATH"]) is None:
        return False
    if not verbs:
        return True
    help_text = subprocess.run([program, *verbs, "--help"], env=environment(), capture_output=True, text=True, check=False)
    return help_text.returncode == 0 and "not in this build" not in help_text.stdout


def named(text, directory):
    text = text.replace(f"{directory}/", "")
    if str(directory) in text:
        raise AssertionError("a command prints the name of the directory it runs in; let it use relative paths")
    for pattern, name in NAMED:
        text = re.sub(pattern, name, text)
    return text


def outcomes(case):
    """(standard output, standard error, exit code) of each command."""
    end = f"<end of a command {uuid.uuid4()}>"
    script = ["set -u"]
    for command in case.commands:
        script += [*command.lines, f"echo '{end}'$?; echo '{end}' >&2"]
    with tempfile.TemporaryDirectory(prefix="forebay-cli-") as scratch:
        directory = str(pathlib.Path(scratch).resolve())
        done = subprocess.run(["sh", "-c", "\n".join(script)], cwd=directory, env=environment(), capture_output=True,
                              text=True, check=False, timeout=CASE_SECONDS_MAX, stdin=subprocess.DEVNULL)
    out, err = (named(text, directory).split(end) for text in (done.stdout, done.stderr))
    if len(out) <= len(case.commands):
        raise AssertionError(f"the shell ended with {done.returncode} at: {case.commands[len(out) - 1].lines[0]}\n{err[-1]}")
    codes = [int(text.split("\n", 1)[0]) for text in out[1:]]
    # The rest of an end mark's line is not part of the next output.
    out, err = ([texts[0], *(text.split("\n", 1)[1] for text in texts[1:])] for texts in (out, err))
    return list(zip(out[:-1], err[:-1], codes, strict=True))


def shown(text, plain, exact):
    for line in text.splitlines(keepends=True):
        whole = line.removesuffix("\n")
        if whole == line or whole != whole.rstrip() or (not plain and MARK.match(whole)) or not whole.isprintable():
            yield exact + json.dumps(line)
        else:
            yield plain + whole


def render(case, given):
    lines = list(case.head)
    for command, (out, err, code) in zip(case.commands, given, strict=True):
        lines += [*command.comments, "$ " + command.lines[0], *("> " + line for line in command.lines[1:])]
        lines += [*shown(out, "", "= "), *shown(err, "2> ", "2= ")]
        if code != 0:
            lines.append(f"[{code}]")
    return "\n".join(lines) + "\n"


def not_json(case, given):
    for command, (out, _, _) in zip(case.commands, given, strict=True):
        if command.lines[0].startswith("forebay ") and "--json" in command.lines[0].split():
            try:
                json.loads(out)
            except ValueError as wrong:
                yield f"$ {command.lines[0]}: standard output is not JSON: {wrong}"


def check(file, update):
    """True if the case gives its recorded output; None if this build cannot run it."""
    text = file.read_text(encoding="utf-8")
    case = parse(text)
    missing = [need for need in case.needs if not is_there(need)]
    if missing:
        print(f"skipped: {file.stem} needs {', '.join(missing)}, not in this build")
        return None
    given = outcomes(case)
    found = render(case, given)
    if update:
        file.write_text(found, encoding="utf-8")
        return True
    wrong = list(difflib.unified_diff(text.splitlines(), found.splitlines(), file.name, "found", lineterm=""))
    wrong += not_json(case, given)
    print("\n".join(wrong), end="\n" if wrong else "")
    return not wrong


def main(arguments):
    update = arguments[:1] == ["--update"]
    names = arguments[1:] if update else arguments
    if not (BUILD / "bin" / "forebay").exists():
        print(f"skipped: {BUILD / 'bin' / 'forebay'} is not built")
        return 77
    files = [HERE / f"{name}.t" for name in names] or sorted(HERE.glob("*.t"))
    absent = [file.name for file in files if not file.exists()]
    if absent or not files:
        print(f"no case {', '.join(absent)} in {HERE}")
        return 2
    told = [check(file, update) for file in files]
    print(f"{len(files)} cases, {told.count(False)} differ, {told.count(None)} skipped")
    if False in told:
        return 1
    return 77 if told.count(None) == len(told) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
