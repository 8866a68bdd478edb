#!/usr/bin/env python3
"""Writes the man pages: forebay(1), forebay-VERB(1) of each verb, and a page for each program beside forebay.

  man_pages.py --program build/bin/forebay --to FOLDER    makes the folder anew

The build calls it, and `cmake --install` installs the folder. The text is that of --help.
"""
import argparse
import pathlib
import re
import shutil
import subprocess

import generate

MEANING_AT = 30  # the column in which a help's meanings begin
OTHERS = {
    "forebay-mpi": "the commands of forebay that need MPI",
    "forebay-transfer": "the commands of forebay for trees of files",
    "forebay-transfer-mpi": "the commands of forebay for trees of files, with MPI",
}
VERBATIM = {"Examples"}


def escaped(text):
    """A line of text as roff reads it: no command, no escape, and hyphens that can be copied."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def sections_of(text):
    """(title, lines) of each part of a help; loose lines have the title ""."""
    parts = [("", [])]
    for line in text.rstrip().split("\n"):
        if re.match(r"^[A-Z][^:]*:$", line):
            parts.append((line[:-1], []))
        elif line.startswith("  ") or not line:
            parts[-1][1].append(line)
        else:
            if parts[-1][0]:
                parts.append(("", []))
            parts[-1][1].append(line)
    return parts


def entries_of(lines):
    """(name, meaning) of options, arguments or commands; long meanings have several lines."""
    entries = []
    for line in lines:
        if re.match(r"^  \S", line):
            # A name that reaches the column of meanings has its meaning on the next line.
            at = MEANING_AT if line[MEANING_AT - 1:MEANING_AT] == " " else len(line)
            entries.append([line[:at].strip(), line[at:].strip()])
        elif line.strip():
            entries[-1][1] = f"{entries[-1][1]} {line.strip()}".strip()
    return entries


def section(title, lines):
    if title in ("Positionals", "Options", "Subcommands"):
        title = {"Positionals": "Arguments", "Subcommands": "Commands"}.get(title, title)
        body = [f".TP\n\\fB{escaped(name)}\\fR\n{escaped(meaning)}" for name, meaning in entries_of(lines)]
    elif title in VERBATIM:
        body = [".nf", *[escaped(line.removeprefix("  ")) for line in lines], ".fi"]
    else:
        body = [escaped(line.strip()) for line in lines if line.strip()]
    return [f".SH {escaped(title.upper() or 'NOTES')}", *body] if body else []


def page(name, text, version, see_also):
    head, *rest = sections_of(text)
    purpose, usage, *more = [line for line in head[1] if line]
    purpose = OTHERS.get(name, purpose)
    words = usage.removeprefix("Usage: ")
    lines = [f".TH {escaped(name.upper())} 1 \"\" \"Forebay {version}\" \"Forebay\"", ".ad l", ".nh", ".SH NAME",
             f"{escaped(name)} \\- {escaped(purpose[0].lower() + purpose[1:].rstrip('.'))}",
             ".SH SYNOPSIS", escaped(words)]
    lines += section("Description", more)
    for title, part in rest:
        lines += section(title, part)
    names = [f".BR {escaped(other)} (1)" for other in see_also if other != name]
    lines += [".SH SEE ALSO", *[line + " ," for line in names[:-1]], *names[-1:]]
    return "\n".join(lines) + "\n"


def pages(program):
    """File -> text. A verb that this build lacks has no page."""
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    texts, waiting = {}, [[]]
    while waiting:
        words = waiting.pop(0)
        try:
            text = generate.help_of(program, words)
        except generate.NotBuilt:
            continue
        texts["-".join(["forebay", *words])] = text
        waiting += [[*words, verb] for verb in generate.commands_within(text)]
    beside = [other for other in OTHERS if (pathlib.Path(program).parent / other).exists()]
    for other in beside:
        texts[other] = generate.help_of(str(pathlib.Path(program).parent / other), [])
    made = {}
    for name, text in texts.items():
        parent = name.rsplit("-", 1)[0]
        see_also = [parent if parent in texts else "forebay"] if name != "forebay" else []
        see_also += [f"{name}-{verb}" for verb in generate.commands_within(text) if f"{name}-{verb}" in texts]
        made[f"{name}.1"] = page(name, text, version, see_also + (beside if name == "forebay" else []))
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", required=True, help="the built program forebay")
    parser.add_argument("--to", required=True, type=pathlib.Path, help="the folder, which is made anew")
    chosen = parser.parse_args()
    made = pages(chosen.program)
    shutil.rmtree(chosen.to, ignore_errors=True)
    chosen.to.mkdir(parents=True)
    for file, text in made.items():
        (chosen.to / file).write_text(text)
    print(f"{len(made)} man pages in {chosen.to}")


if __name__ == "__main__":
    main()
