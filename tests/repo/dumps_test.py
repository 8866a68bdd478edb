"""Goal: the worked examples of docs/formats and transfer/docs are bytes of real files and never go stale.

Method: an example is a code block that begins with the name of its file (NAME.gz: its unpacked content). Each line with
an offset is compared with the file: sixteen bytes and their characters. An example without offsets is the whole text of
the file. Each page of a format has an example.
"""

import gzip
import re

import tree

BLOCK = re.compile(r"^```\n((?:tests|docs)/\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINE = re.compile(r"^([0-9a-f]{6})  ((?:[0-9a-f]{2} ?){1,16}) *  \|(.{1,16})\|")


def contents(name):
    """The bytes of the file; None if it is missing."""
    path = tree.ROOT / name
    if not path.is_file():
        return None
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def line_of(data, at):
    """A dump line of the sixteen bytes at `at`."""
    part = data[at:at + 16]
    text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
    return " ".join(f"{byte:02x}" for byte in part), text


def problems_of(page, name, text):
    """The differences of an example from its file, and the number of its compared lines."""
    data = contents(name)
    if data is None:
        return [f"{page}: shows {name}, which does not exist"], 0
    problems, shown = [], 0
    for line in text.splitlines():
        found = LINE.match(line)
        if not found:
            if re.match(r"^[0-9a-f]{4,} ", line):
                problems.append(f"{page}: {name}: no line of a dump: {line}")
            continue
        shown += 1
        there, letters = line_of(data, int(found.group(1), 16))
        if (found.group(2).strip(), found.group(3)) != (there, letters):
            problems.append(f"{page}: {name} has at {found.group(1)}: {there}  |{letters}|")
    if not shown and data.decode() != text:
        problems.append(f"{page}: the text of {name} is another one")
    return problems, shown or 1


def main():
    problems = []
    checked = 0
    for path in tree.tracked(".md", under=("docs/formats/", "transfer/docs/format-")):
        page = tree.shown(path)
        examples = BLOCK.findall(path.read_text())
        if not examples and path.name != "index.md":
            problems.append(f"{page}: has no worked example")
        for name, text in examples:
            found, shown = problems_of(page, name, text)
            problems += found
            checked += shown
    tree.finish("lines of dumps", checked, problems)


main()
