#!/usr/bin/env python3
"""Goal: every verb that takes a run gives the same answer for a path: one place decides which path is a run.

Method: try every verb on a missing path, an empty directory, a file, a directory of other files, a run without saves, a
run, and the same places in a bucket. Each column has one expected answer. A refused verb must leave the place
unchanged. A verb that is in no table fails the test.
"""

import functools
import os
import pathlib
import re
import signal
import subprocess
import sys

from forebay_test import BUILD, FOREBAY, check_each, expect, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "transfer/tests/trees"))
import s3_support  # noqa: E402

STEP = "{run}@120"
# Arguments of each verb that takes a run, and its exit code for a run (None: it varies).
TAKES_A_RUN = {
    "ls": (["ls", "{run}"], 0),
    "show": (["show", "{run}"], 0),
    "verify": (["verify", "{run}"], 0),
    "prune": (["prune", "{run}", "--keep", "1"], 0),
    "prune --above": (["prune", "{run}", "--above", "120"], 0),
    "prune --line": (["prune", "{run}", "--line", "9", "--dry-run"], None),
    "adopt": (["adopt", STEP], 3),  # it has no snapshot of another run
    "mark": (["mark", STEP], 0),
    "unmark": (["unmark", STEP], 0),
    "recover": (["recover", "{run}"], 0),
    "stop": (["stop", "{run}"], 0),
    "stop --save": (["stop", "{run}", "--save"], 0),
    "stop --cancel": (["stop", "{run}", "--cancel"], 0),
    "compare": (["compare", STEP, STEP], 0),
    "view": (["view", STEP], 0),
    "export plain": (["export", "plain", STEP, "{out}/plain.h5"], 0),
    "export genericio": (["export", "genericio", STEP, "{out}/m000"], 0),
    "extract": (["extract", "{run}", "-C", "{out}"], 0),
    "movie": (["movie", "{run}", "--to", "{out}/film.png"], None),  # the run has no pictures
    "insitu": (["insitu", "none.toml", "{run}/restart@120"], None),  # the file is missing
    "insitu of a script": (["insitu", "none.py", "{run}"], None),
    "plot": (["plot", "{run}/restart"], None),
    "top": (["top", "{run}", "--once"], 0),
    "metrics": (["metrics", "{run}"], 0),
    "watch": (["watch", "{run}"], 0),
    "report": (["report", "{run}"], 0),
    "trace": (["trace", "{run}", "--out", "{out}/run.pftrace", "--replace"], 0),
    "plan": (["plan", "--run", "{run}", "--nodes", "4"], None),
    "plan --check": (["plan", "--run", "{run}", "--check", "{run}"], None),
}
# These verbs make a missing run: only a file is an error.
MAKES_A_RUN = {
    "import": (["import", "genericio", "{given}/m000", "{run}@7"], 0),
    "pack": (["pack", "{given}/small", "{run}"], 0),
    "forward": (["forward", "{run}", "--listen", "127.0.0.1:0", "--token-file", "{out}/token"], 0),
    "drain --into": (["drain", "{given}/staging", "--into", "{run}"], 3),  # no staging directory
    "insitu --to": (["insitu", "none.toml", "{given}/run7/restart@120", "--to", "{run}"], None),
}
TAKES_NO_RUN = {"walk", "copy", "sync", "delete", "archive", "restore-archive", "migrate", "agent", "h5part", "bench",
                "tune", "preflight", "job", "stagger", "insitu-worker",
                "tree-worker"}
WHOLE_RUNS = {"stop", "recover", "top", "metrics", "watch", "report", "trace", "plan"}  # they accept no stream or step
SERVES = {"watch", "forward"}  # until they are stopped

NEXT = "Next: give the directory of a run"
# The expected message of each column, and its advice.
NO_RUN = {
    "missing": ("there is no run {run}: no such directory.", NEXT),
    "empty": ("there is no run {run}: the directory is empty.", NEXT),
    "file": ("there is no run {run}: it is a file.", NEXT),
    "foreign": ("there is no run {run}: the directory has no stream, and no directory forebay of a run.", NEXT),
    "level_too_high": ("there is no run {run}: the directory holds runs, but is not a run.", "Next: give the run {run}/run7\n"),
    "below/run7/restart": ("there is no run {run}: the directory lies in the run {above}.", "Next: give the run {above}\n"),
}
RUNS = ("run7", "new_run")


@functools.cache
def has(verb):
    return "not in this build" not in run(FOREBAY, verb, "--help").stdout


def call(words, environment, serves):
    """Exit code, standard output, standard error."""
    process = subprocess.Popen([FOREBAY, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env=environment)
    first = process.stdout.readline() if serves else ""
    if first:
        process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    return process.returncode, first + out, err


def tree_of(place):
    return sorted(str(path) for path in pathlib.Path(place).rglob("*")) if pathlib.Path(place).exists() else None


def make_places(top):
    """Makes the columns as names below `top`."""
    for name in ("empty", "foreign", "level_too_high", "below"):
        (top / name).mkdir()
    (top / "foreign/notes.txt").write_text("mine\n")
    (top / "foreign/forebay/src").mkdir(parents=True)  # a source tree of this software is no run
    (top / "file").write_text("no format that anybody knows\n")
    make_run(top / "run7")
    for where in ("level_too_high", "below"):
        run("cp", "-r", top / "run7", top / where)
    (top / "new_run/forebay").mkdir(parents=True)
    identity = "run-00f30000c0ffee9a.json"
    (top / "new_run/forebay" / identity).write_text('{"forebay":"run","version":1,"id":"00f30000c0ffee9a"}\n')


def make_run(place):
    tests = BUILD / "tests"
    run(tests / "make_watched_run", place, "ended", "2")
    run(tests / "make_small_run", place, "restart", "120", "1")
    (place.parent / "small").mkdir()
    (place.parent / "small/one").write_text("one\n")
    run(FOREBAY, "pack", place.parent / "small", place)
    run("rm", "-r", place.parent / "small")


def words_of(row, place, given, out):
    return [word.format(run=place, given=given, out=out) for word in row]


def check_answer(name, code, said, column, place):
    what, then = (text.format(run=place, above=pathlib.Path(place).parent) for text in NO_RUN[column])
    expect(code == 3, f"{name} of {column} ends with 3", f"{code}\n{said}")
    expect(f"forebay: {what}\n" in said, f"{name} of {column} says that it is no run", said)
    expect(f"  {then}" in said, f"{name} of {column} has a next step", said)


def check_verbs(top, environment, columns, place_of):
    given, out = top / "given", top / "out"
    for path in (given, out):
        path.mkdir(exist_ok=True)
    for name, (row, code_of_run) in TAKES_A_RUN.items():
        if not has(row[0]) or (name == "view" and place_of is not str):
            continue
        for column in columns:
            if column == "below/run7/restart" and row[0] not in WHOLE_RUNS:
                continue
            place = place_of(column)
            before = tree_of(place)
            done = call(words_of(row, place, given, out), environment, row[0] in SERVES)
            said = done[1] + done[2]
            if column in RUNS:
                expect("there is no run" not in said, f"{name} takes {column} for a run", said)
                expect(column != "run7" or code_of_run in (None, done[0]), f"{name} of a run ends with {code_of_run}", f"{done}")
                continue
            check_answer(name, done[0], done[2], column, place)
            expect(tree_of(place) == before, f"{name} leaves {column} as it was", str(tree_of(place)))


def on_files(top):
    make_places(top)
    columns = [*NO_RUN, *RUNS]
    os.chdir(top)
    check_verbs(top, os.environ, columns, str)
    code, out, _ = call(["ls", "new_run"], os.environ, False)
    expect((code, out) == (0, "new_run holds no snapshot.\n"), "a run that has not saved yet is a run", f"{code} {out}")


def makers(top):
    make_places(top)
    os.chdir(top)
    given, out = top / "given", top / "out"
    out.mkdir()
    given.mkdir()
    (given / "small").mkdir()
    (given / "small/one").write_text("one\n")
    run("cp", "-r", top / "run7", given)
    run(FOREBAY, "export", "genericio", "run7@120", given / "m000")
    for name, (row, code) in MAKES_A_RUN.items():
        if not has(row[0]):
            continue
        done = call(words_of(row, "file", given, out), os.environ, row[0] in SERVES)
        check_answer(name, done[0], done[2], "file", "file")
        for column in ("empty", "run7"):
            done = call(words_of(row, column, given, out), os.environ, row[0] in SERVES)
            expect("there is no run" not in done[2], f"{name} makes {column} a run", done[2])
            expect(code is None or done[0] == code, f"{name} of {column} ends with {code}", f"{done}")
        run("rm", "-r", "empty")
        pathlib.Path("empty").mkdir()


def in_a_bucket(top):
    if not (BUILD / "lib/libforebay_s3.so").exists():
        print("in_a_bucket: left out, forebay was built without S3")
        return
    os.chdir(top)
    (top / "files").mkdir()
    make_places(top / "files")
    with s3_support.Own(top / "server") as server:
        columns = ["missing", "file", "foreign", "run7"]  # a bucket has no empty directories
        for name in columns[1:]:
            server.forebay("copy", top / "files" / name, f"{s3_support.ROOT}/{name}")
        check_verbs(top, server.environment(), columns, lambda column: f"{s3_support.ROOT}/{column}")


def words_for_whole_runs(top):
    """A verb for whole runs gets a stream or step: the message has the run."""
    make_places(top)
    os.chdir(top)
    for row in (["stop", "run7@120"], ["top", "run7@120", "--once"], ["trace", "run7@last"], ["recover", "run7@120"]):
        code, _, said = call(row, os.environ, False)
        expect(code == 3 and "Next: give the run run7\n" in said, f"{row} names the run", said)
    code, _, said = call(["show", "run7/restrat@120"], os.environ, False)
    expect(code == 3 and "Next: forebay ls run7 shows" in said, "a stream that is misspelled leads to those of the run", said)
    code, _, said = call(["stop", "."], os.environ, False)
    expect(code == 3 and "give one of its runs: ./" in said, "the current directory is looked at too", said)
    run(BUILD / "tests/make_small_run", "copied", "restart", "120", "1")  # has no directory forebay
    for row in (["stop", "copied@120"], ["stop", "copied/restart"], ["recover", "copied/typo"]):
        code, _, said = call(row, os.environ, False)
        expect(code == 3 and ("give the run copied\n" in said or "forebay ls copied shows" in said), f"{row} names the run", said)
    os.chdir(top / "run7/restart")
    code, _, said = call(["stop", "."], os.environ, False)
    expect(code == 3 and f"Next: give the run {top}/run7\n" in said, "and what it lies in", said)


def no_verb_is_missing(_):
    lines = re.search(r"^Subcommands:\n((?:  .*\n)+)", run(FOREBAY, "--help").stdout, re.MULTILINE).group(1)
    verbs = re.findall(r"^  ([a-z0-9-]+) ", lines, re.MULTILINE)
    listed = {row[0] for table in (TAKES_A_RUN, MAKES_A_RUN) for row, _ in table.values()}
    expect(len(verbs) > 30, "the help lists verbs", str(verbs))
    for verb in verbs:
        expect(verb in listed | TAKES_NO_RUN, f"{verb} is in a table of this test: add it, with a RUN that find_run() resolves")
        usage = run(FOREBAY, verb, "--help", code=None).stdout.partition("Usage:")[2].partition("\n")[0]
        expect(verb in listed or not re.search(r"\bRUN\b", usage), f"{verb} takes a run, and this test does not try it", usage)


if __name__ == "__main__":
    check_each("run-argument", [no_verb_is_missing, on_files, makers, words_for_whole_runs, in_a_bucket])
