#!/usr/bin/env python3
"""Goal: the help explains every option of every verb. The guide describes all options and no unknown options.

Method: walk the verbs from `forebay --help`. Compare the options of each help with the verbs' sources, with the
examples, and with README and docs.
"""

import dataclasses
import os
import pathlib
import re
import sys

from forebay_test import FOREBAY, expect, run

ROOT = pathlib.Path(os.environ["FOREBAY_SOURCE_DIR"])
# The library passes these options to processes that it starts. Users do not type them.
OF_THE_LIBRARY = {"agent": {"session", "foreground"}, "job": {"keeper"}, "h5part": {"background", "snapshots"}, "export genericio": {"background"}}
# The measurements of forebay-mpi are described only in their helps.
HELP_ALONE = "bench"
# The source of a verb defines an option: verb.option("-C,--directory", ...
TOLD = re.compile(r'\.(?:option|flag|required|number)\(\s*"(?:-\w,)?--([a-z0-9-]+)"')


@dataclasses.dataclass
class Verb:
    name: str
    text: str
    options: dict  # by long name: (short name or "", meaning)
    verbs: list  # names of its sub-verbs


def section(text, title):
    found = re.search(rf"^{title}:\n((?:  .*\n)+)", text, re.MULTILINE)
    return found.group(1) if found else ""


def read(name):
    done = run(FOREBAY, *name.split(), "--help")
    expect(not done.stderr, f"forebay {name} --help writes errors", done.stderr)
    options = {}
    lines = section(done.stdout, "Options").splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        found = re.match(r"  (?:(-\w),)?--([a-z0-9-]+)", line)
        if found:  # the meaning starts in column 30, or on the next line after a long name
            options[found[2]] = (found[1] or "", line[30:] if line[29:30] == " " else below.strip())
    verbs = re.findall(r"^  ([a-z0-9-]+) ", section(done.stdout, "Subcommands"), re.MULTILINE)
    return Verb(name, done.stdout, options, verbs)


def walk(name=""):
    if name == HELP_ALONE and not FOREBAY.with_name("forebay-mpi").exists():
        yield Verb(name, "not in this build", {}, [])
        return
    verb = read(name)
    yield verb
    for below in verb.verbs:
        yield from walk(f"{name} {below}".strip())


def used(text):
    """(verb, options) of every command `forebay VERB ...` in a text, up to the end of its line or code span."""
    for words in re.findall(r"\bforebay ((?!-)[a-z0-9-]+[^`\n|;]*)", text):
        own = words.split(" -- ")[0]  # behind it is another command, of forebay job
        yield own.split("  #")[0].split(), re.findall(r"(?<!\S)--([a-z0-9-]+)", own)


def named(words, verbs):
    for count in (2, 1):
        name = " ".join(words[:count])
        if name in verbs:
            return verbs[name]
    return None


def main():
    verbs = {verb.name: verb for verb in walk()}
    missing = {name for name, verb in verbs.items() if "not in this build" in verb.text}
    wrong = []
    listed = {option for verb in verbs.values() for option in verb.options}
    for source in sorted([*(ROOT / "src").rglob("*.cpp"), *(ROOT / "transfer").rglob("*.cpp")]):
        for option in TOLD.findall(source.read_text(encoding="utf-8")):
            if option not in listed and not missing:
                wrong.append(f"{source.relative_to(ROOT)}: --{option} is in no help")
    paths = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("transfer/docs/**/*.md"))]
    pages = {path: path.read_text(encoding="utf-8") for path in paths}
    guide = "\n".join(pages.values())
    for name, verb in verbs.items():
        wrong += [f"forebay {name} --help: --{option} has no meaning" for option, (_, meaning) in verb.options.items()
                  if len(meaning.split()) < 2]
        if name.split()[:1] == [HELP_ALONE] or name in missing:
            continue
        for option, (short, _) in verb.options.items():
            typed = option not in OF_THE_LIBRARY.get(name, set())
            if typed and not re.search(rf"(?<![\w-])(--{option}|{short or '--' + option})(?![\w-])", guide):
                wrong.append(f"docs: --{option} of forebay {name} is nowhere")
    commands = 0
    for where, text in [*pages.items(), *((f"forebay {name} --help", verb.text) for name, verb in verbs.items())]:
        for words, options in used(text):
            verb = named(words, verbs)
            if verb is None or verb.name in missing:
                continue
            commands += len(options)
            wrong += [f"{where}: forebay {verb.name} has no --{option}" for option in options if option not in verb.options]
    print("\n".join(wrong) or f"{len(verbs)} verbs with {len(listed)} options, {commands} of them in commands of docs and helps")
    expect(commands > 50, "commands are found in the pages, which may be written otherwise now")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
