#!/usr/bin/env python3
"""Writes the pages of docs/reference whose content comes from the program and from the lists in the source.

  generate.py [--program PATH]           writes commands.md (with --program) and the tables of figures.md
  generate.py --check [--program PATH]   writes nothing; says which pages are old, and ends with 1 if one is

commands.md is the text of `forebay VERB --help` for each verb. figures.md is written by hand but for the tables between
`<!-- generated: NAME -->` and `<!-- end -->`; its tables of events must have each event of the source once.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parent
SOURCE = DOCS.parent / "src"
# The transfer tool has a page of its own; the library starts the programs of the last row.
ELSEWHERE = {"walk", "copy", "sync", "compare", "delete", "archive", "restore-archive", "migrate", "tree-worker"}
GROUPS = {
    "See a run": ["ls", "show", "verify", "top", "watch", "report", "trace", "metrics", "plot", "movie"],
    "Look after a run": ["prune", "mark", "unmark", "adopt", "recover", "drain", "stop", "insitu", "pack", "extract"],
    "Other formats": ["view", "export", "import"],
    "Before a run": ["preflight", "stagger", "plan", "tune", "bench"],
    "Started by the library or by job scripts": ["job", "forward", "h5part", "agent", "insitu-worker"],
}
HEAD = """# Commands

This page is generated from the program: `docs/generate.py --program build/bin/forebay`. Each command has `--help` and a
man page with the same text, such as `man forebay-ls`. `forebay copy`, `sync`, `compare`, `archive` and the other
commands for trees of files are on the [pages of the transfer tool](../../transfer/docs/index.md). [Exit
codes](errors.md#exit-codes-of-the-program) are the same for all commands.

`RUN` is the directory of a run. `RUN/STREAM` is a stream of it, and `RUN/STREAM@STEP` a snapshot. `RUN@STEP` works if
only one stream has this step. Streams of results count only if no other stream has the step. `STEP` is a number or
`last`. You can also give the directory of a snapshot.
"""


class NotBuilt(Exception):
    """This build lacks a command, such as `bench` without MPI."""


def help_of(program, words):
    environment = dict(os.environ, COLUMNS="100", LC_ALL="C", OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", ASAN_OPTIONS="detect_leaks=0")
    done = subprocess.run([program, *words, "--help"], capture_output=True, text=True, env=environment, timeout=60)
    if done.returncode == 6:
        raise NotBuilt(" ".join(words))
    if done.returncode:
        sys.exit(f"{' '.join(words)} --help ends with {done.returncode}: {done.stderr}")
    return done.stdout


def commands_within(text):
    listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.M)
    return re.findall(r"^  (\S+)", listed.group(1), re.M) if listed else []


def section(program, words):
    text = help_of(program, words)
    parts = [f"{'#' * (len(words) + 2)} forebay {' '.join(words)}\n\n```\n{text.strip()}\n```\n"]
    return parts + [part for inner in commands_within(text) for part in section(program, [*words, inner])]


def commands_page(program):
    verbs = commands_within(help_of(program, []))
    grouped = [verb for group in GROUPS.values() for verb in group]
    lost = [verb for verb in grouped if verb not in verbs]
    new = [verb for verb in verbs if verb not in grouped and verb not in ELSEWHERE]
    if lost or new:
        sys.exit(f"docs/generate.py: GROUPS has {lost}, which the program lacks, and lacks {new}")
    page = [HEAD]
    for title, group in GROUPS.items():
        page.append(f"## {title}\n")
        for verb in group:
            page += section(program, [verb])
    return "\n".join(page)


def text_of(meaning):
    return meaning.replace("|", "\\|").rstrip(".")


def counters_table():
    text = (SOURCE / "core/describe/counter_list.hpp").read_text()
    rows = re.findall(r'visit\("(\w+)", &C::\w+,\s*((?:"[^"]*"\s*)+)\);', text)
    meanings = [(name, "".join(re.findall(r'"([^"]*)"', words))) for name, words in rows]
    lines = [f"| `{name}` | {text_of(meaning)} |" for name, meaning in meanings]
    return ["| counter | meaning |", "|---|---|", *lines]


def metrics_table():
    text = (SOURCE / "path/telemetry/metrics.cpp").read_text()
    rows = re.findall(r'MetricKind::(\w+), "(\w+)",\s*"([^"]*)"', text)
    # A count of the agent has its metric beside it: {place, is a counter, name, meaning}.
    counts = (SOURCE / "core/describe/counter_list.hpp").read_text()
    rows += [("counter" if kind == "true" else "gauge", name, "".join(re.findall(r'"([^"]*)"', words)))
             for kind, name, words in re.findall(r'\{\d+,\s*(true|false),\s*"(\w+)",\s*((?:"[^"]*"\s*)+)', counts)]
    rows += [("histogram", name, words) for name, words in re.findall(r'histogram\("(\w+)",\s*"([^"]*)"', text)]
    whole = {f"{name}_total" if kind == "counter" else name: (kind, words) for kind, name, words in rows}
    lines = [f"| `forebay_{name}` | {kind} | {text_of(words)} |" for name, (kind, words) in sorted(whole.items())]
    return ["| metric | kind | meaning |", "|---|---|---|", *lines]


def figures_page(page):
    for name, lines in (("counters", counters_table()), ("metrics", metrics_table())):
        page = re.sub(rf"<!-- generated: {name} -->\n.*?<!-- end -->",
                      lambda _, n=name, li=lines: f"<!-- generated: {n} -->\n\n" + "\n".join(li) + "\n\n<!-- end -->",
                      page, flags=re.S)
    return page


def problems_of_events(page):
    source = (SOURCE / "path/agent/events.cpp").read_text()
    names = re.findall(r'"(\w+)"', re.search(r"event_names\{(.*?)\};", source, re.S).group(1))
    shown = []
    for row in re.findall(r"^\| (`.*?) \|", page[page.index("## Events of a run"):], re.M):
        shown += re.findall(r"`(\w+)`", row)
    problems = [f"figures.md: the event {name} is missing" for name in names if name not in shown]
    problems += [f"figures.md: there is no event {name}" for name in shown if name not in names]
    return problems + [f"figures.md: {name} is there twice" for name in sorted(set(shown)) if shown.count(name) > 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", help="the built program forebay, for commands.md")
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    chosen = parser.parse_args()
    figures = DOCS / "reference/figures.md"
    pages = {figures: figures_page(figures.read_text())}
    if chosen.program:
        try:
            pages[DOCS / "reference/commands.md"] = commands_page(chosen.program)
        except NotBuilt as command:
            print(f"commands.md is left out: this build has no forebay {command}")
    problems = problems_of_events(pages[figures])
    for path, text in pages.items():
        if not chosen.check:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            problems.append(f"{path.relative_to(DOCS.parent)} is not what docs/generate.py writes")
    for problem in problems:
        print(problem)
    print(f"generated pages: {len(pages)} {'compared' if chosen.check else 'written'}, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
