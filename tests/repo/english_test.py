"""Goal: the pages are written plainly.

Method: reads the prose of every page, without code and links, and measures it. The limits come from documents that
people like to read (LevelDB, rclone, zstd, openPMD). The measures cannot see whether a page is true or clear; they find
the style that nobody follows at night. A control text has to fail, and a plain text has to pass.
"""

import re

import english
import tree


def prose(text):
    """Paragraphs, list items and cells of tables; code becomes one word."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    lines = []
    for line in text.split("\n"):
        if line.startswith(("    ", "\t", "#", "![")) or re.match(r"^\s*\|[\s:|-]+\|?\s*$", line):
            lines.append("")
        elif line.lstrip().startswith("|"):
            lines += ["", *[cell + "\n" for cell in re.split(r"(?<!\\)\|", line) if len(cell.split()) > 3], ""]
        else:
            lines.append(re.sub(r"^\s*([-*+]|\d+\.) ", "\n", line))
    return re.sub(r"`[^`]*`", "X", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", "\n".join(lines)))


def main():
    problems = []
    if not english.faults(prose(english.CONTROL)):
        problems.append("the control text passes: this test measures nothing")
    if english.faults(prose(english.PLAIN)) != []:
        problems.append(f"a plain text fails: {english.faults(prose(english.PLAIN))}")
    checked = 0
    for path in tree.tracked(".md", under=("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/", "transfer/")):
        over = english.faults(prose(path.read_text(encoding="utf-8")))
        checked += over is not None
        problems += [f"{tree.shown(path)}: {fault}" for fault in over or []]
    tree.finish("plain English of pages", checked, problems)


if __name__ == "__main__":
    main()
