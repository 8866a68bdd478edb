"""Goal: a function fits on a screen (70 lines) and a file holds one noun (400 lines).

Method: counts lines. Sources are formatted (format_test.py): a body starts with a line that ends in "{" and ends with a
"}" at the same indentation. The test enters classes and namespaces, and measures functions and tests.
"""

import re

import tree

FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 70
ENTERED = re.compile(r"^\s*(inline\s+)?(namespace\b|extern \"C\"|(template\s*<.*>\s*)?(class|struct|union|enum)\b)")


def opening(lines, index):
    """The first line of the statement whose brace ends lines[index]: the begin of a long signature."""
    indent = len(lines[index]) - len(lines[index].lstrip())
    while index > 0:
        above = lines[index - 1]
        if not above.strip() or above.rstrip().endswith((";", "}", "{", ":")) or above.lstrip().startswith(("//", "#", "/*")):
            break
        index -= 1
        if len(lines[index]) - len(lines[index].lstrip()) < indent:
            indent = len(lines[index]) - len(lines[index].lstrip())
    return index


def functions(lines):
    """Yields (first line, last line) of every outermost body, except those of namespaces, classes, structs and enums.
    """
    index = 0
    while index < len(lines):
        line = lines[index]
        if not line.rstrip().endswith("{") or line.lstrip().startswith(("//", "#")):
            index += 1
            continue
        first = opening(lines, index)
        if ENTERED.match(lines[first]) and "(" not in lines[first].split("{")[0].split("//")[0]:
            index += 1
            continue
        indent = len(lines[first]) - len(lines[first].lstrip())
        close = re.compile(r"^\s{%d}\}" % indent)
        last = next((at for at in range(index + 1, len(lines)) if close.match(lines[at])), None)
        if last is None:
            index += 1
            continue
        yield first, last
        index = last + 1


def main():
    problems = []
    measured = 0
    for path in tree.tracked(".cpp", ".hpp", ".f90", under=("src/", "transfer/", "include/", "apps/", "tests/")):
        lines = path.read_text().splitlines()
        if len(lines) > FILE_LINES_MAX:
            problems.append(f"{tree.shown(path)}: {len(lines)} lines; at {FILE_LINES_MAX} a file holds two nouns")
        for first, last in functions(lines):
            measured += 1
            if last - first + 1 > FUNCTION_LINES_MAX:
                problems.append(f"{tree.shown(path)}:{first + 1}: {last - first + 1} lines; a function has at most "
                                f"{FUNCTION_LINES_MAX}: {lines[first].strip()}")
    tree.finish("sizes of functions", measured, problems)


main()
