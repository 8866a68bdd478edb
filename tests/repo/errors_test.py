"""Goal: only one file lays out an error. Its parts are fields, and no literal has "forebay: ", "Safe: " or "Next: ".

Method: searches every string literal of src, also of bindings and Python files, except the file with the layout.
"""

import re

import tree

LAYOUT = "src/core/base/error_text.hpp"
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
LABEL = re.compile(r'(?:^"|[^A-Za-z])(?:Safe|Next): |^"forebay: ')


def labels_of(path):
    """Line numbers and lines of literals with a label. Comments and tests may contain the labels."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.lstrip().startswith(("//", "///", "#", "!")):
            continue
        if any(LABEL.search(literal) for literal in LITERAL.findall(line.split(" // ")[0])):
            yield number, line.strip()


def main():
    problems = []
    checked = 0
    for path in tree.tracked(".cpp", ".hpp", under=("src/", "transfer/", "include/")):
        name = tree.shown(path)
        if name.endswith("_test.cpp") or name == LAYOUT:
            continue
        checked += 1
        problems += [f"{name}:{number}: an error's layout in a literal: {line}" for number, line in labels_of(path)]
    if len(list(labels_of(tree.ROOT / LAYOUT))) != 3:
        problems.append(f"{LAYOUT}: not the three labels that this test looks for elsewhere")
    tree.finish("errors", checked, problems)


main()
