"""Goal: --help of every verb of `forebay` and `forebay-transfer` is written plainly.

Method: runs the programs of this build, reads --help of each verb and of the verbs below it, and measures the text of
each program, and of each verb that has enough of it. The first line, the meaning of each option, and the words after the
examples count. Names, usages, examples and the keys of --json do not count. A help with the control text must fail.
"""

import os
import pathlib
import re
import subprocess

import english
import tree

PROGRAM = pathlib.Path(os.environ.get("FOREBAY_AGENT") or tree.ROOT / "build/bin/forebay")
UNSUPPORTED = 6  # a verb that this build lacks, such as bench without MPI


def help_of(program, words):
    environment = dict(os.environ, COLUMNS="100", LC_ALL="C", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    done = subprocess.run([program, *words, "--help"], capture_output=True, text=True, env=environment, timeout=60, check=False)
    if done.returncode == UNSUPPORTED:
        return ""
    assert done.returncode == 0, f"{program.name} {' '.join(words)} --help ends with {done.returncode}: {done.stderr}"
    return done.stdout


def verbs_within(text):
    listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.MULTILINE)
    return re.findall(r"^  (\S+)", listed.group(1), re.MULTILINE) if listed else []


def prose(text):
    """A paragraph for the first line, for the meaning of each option, and for the words after the examples."""
    paragraphs, is_keys = [], False
    for line in text.split("\n"):
        if not line.startswith("  "):
            is_keys = line.startswith("With --json:")
            if line.startswith("Usage:") or re.fullmatch(r"[A-Z][\w -]*:", line):
                paragraphs.append("")
            elif paragraphs and paragraphs[-1] and line:
                paragraphs[-1] += " " + line
            else:
                paragraphs.append(line)
        elif not is_keys and not re.match(r"  +(\S*/)?(forebay|mpiexec|srun|h5dump|cp|tar)\b", line):
            meaning = re.search(r"\S  +(\S.*)$", line) or re.match(r" {6,}(\S.*)$", line)
            if line[2] != " " or not paragraphs:
                paragraphs.append(meaning.group(1) if meaning else "")
            elif meaning:
                paragraphs[-1] += " " + meaning.group(1)
        elif not is_keys:
            paragraphs.append("")
    return "\n\n".join(paragraphs)


def helps(program, words=()):
    """The help of the verb and of each below it, with its words."""
    text = help_of(program, words)
    yield words, prose(text)
    for verb in verbs_within(text):
        yield from helps(program, (*words, verb))


def help_with(sentences):
    options = "".join(f"  --option-{i} TEXT           {sentence}\n" for i, sentence in enumerate(sentences))
    return f"Do something\nUsage: x\n\nOptions:\n{options}"


def main():
    problems = []
    control = re.findall(r"\S[^.]+\.", english.CONTROL)
    plain = re.findall(r"\S[^.]+\.", english.PLAIN)
    if not english.faults(prose(help_with(control))):
        problems.append("the control text passes: this test measures nothing")
    if english.faults(prose(help_with(plain))) != []:
        problems.append(f"a plain help fails: {english.faults(prose(help_with(plain)))}")
    programs = [path for path in (PROGRAM, PROGRAM.with_name("forebay-transfer")) if os.access(path, os.X_OK)]
    if not programs and not problems:
        tree.skip(f"{PROGRAM} is not built")
    checked = 0
    for program in programs:
        all_helps = dict(helps(program))
        for words, text in [*all_helps.items(), (("(all verbs)",), "\n\n".join(all_helps.values()))]:
            over = english.faults(text)
            checked += over is not None
            problems += [f"{program.name} {' '.join(words)}: {fault}" for fault in over or []]
    tree.finish("plain English of --help", checked, problems)


main()
