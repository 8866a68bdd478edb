"""Goal: pages can be read in a terminal and in a diff: no line of text is longer than 120 columns.

Method: reads the pages as paragraphs and list items. It skips tables, headings, code and links that are longer by
themselves. A long line is a problem; `lines_test.py --wrap` refills its paragraph (`make format` does that).
"""

import re
import sys

import tree

COLUMNS_MAX = 120
PAGES = ("docs/", "transfer/", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
ITEM = re.compile(r"^( *)([-*+]|\d+\.) +(?=\S)")
# At the beginning of a line these words would start a list, heading, quotation or table.
MARKS = re.compile(r"^([-*+>|]|#+|\d+[.)])$|^[|>]")


def blocks_of(lines):
    """Yields (first line, one past the last, is it text?). The lines of a block belong together."""
    at = inside = 0  # `inside`: the column of the text of the current list item
    while at < len(lines):
        line, first = lines[at], at
        indent = len(line) - len(line.lstrip())
        at += 1
        if line.lstrip().startswith("```"):
            while at < len(lines) and not lines[at].lstrip().startswith("```"):
                at += 1
            at += 1
            yield first, min(at, len(lines)), False
            continue
        if not line.strip() or line.startswith("#") or line.lstrip().startswith("|"):
            yield first, at, False
            continue
        item = ITEM.match(line)
        if not item:
            inside = inside if indent >= inside else 0
        if indent >= inside + 4 and not (first and lines[first - 1].strip()):
            while at < len(lines) and (not lines[at].strip() or lines[at].startswith(" " * (inside + 4))):
                at += 1
            yield first, at, False
            continue
        inside = item.end() if item else inside
        while at < len(lines) and lines[at].strip() and not ITEM.match(lines[at]) and \
                not lines[at].lstrip().startswith(("|", "```", "#")):
            at += 1
        yield first, at, True


def words_of(text):
    """The words; text between backticks is one word."""
    words = []
    for word in text.split():
        if words and words[-1].count("`") % 2:
            words[-1] += " " + word
        else:
            words.append(word)
    return words


def filled(lines):
    """Fills the paragraph or list item with as many words a line as fit."""
    item = ITEM.match(lines[0])
    first = item.group(0) if item else re.match(r"^ *", lines[0]).group(0)
    result = [first]
    words = words_of(" ".join(lines)[len(first):])
    while words:
        taken = [words.pop(0)]
        while words and MARKS.match(words[0]):
            taken.append(words.pop(0))
        fresh = result[-1] in (first, " " * len(first))
        longer = result[-1] + ("" if fresh else " ") + " ".join(taken)
        if len(longer) <= COLUMNS_MAX or fresh:
            result[-1] = longer
        else:
            result.append(" " * len(first) + " ".join(taken))
    return result


def checked(lines):
    """The refilled page, and the numbers of its long lines."""
    result, long = [], []
    for first, end, is_text in blocks_of(lines):
        block = lines[first:end]
        found = [first + number for number, line in enumerate(block, 1) if len(line) > COLUMNS_MAX]
        if is_text and found and filled(block) != block:
            long += found
            block = filled(block)
        result += block
    return result, long


def main():
    pages = tree.tracked(".md", under=PAGES)
    problems = []
    for page in pages:
        lines = page.read_text().splitlines()
        result, long = checked(lines)
        if long and "--wrap" in sys.argv:
            page.write_text("\n".join(result) + "\n")
            continue
        problems += [f"{tree.shown(page)}:{number}: {len(lines[number - 1])} columns; a line of text has at most "
                     f"{COLUMNS_MAX}" for number in long]
    if problems:
        problems.append("Next: tests/repo/lines_test.py --wrap")
    tree.finish("lines of the pages", len(pages), problems)


main()
