"""Goal: no page of the documentation has a dead link, heading or path in `code`.

Method: follows every relative link of every *.md with its #heading, and checks every `path/with.suffix` in this
repository. A ```cpp block with a whole program must be a source of docs/tutorials, which a test runs.
"""

import re

import tree

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:src|transfer|include|docs|tests|scripts|cmake|apps|bench|tools)/[A-Za-z0-9_./-]+\.[a-z]+)`")


def anchors(text):
    """The anchors of the headings of a page."""
    found = set()
    for line in text.splitlines():
        heading = re.match(r"^#+\s+(.*)$", line)
        if heading:
            plain = re.sub(r"[^\w\- ]", "", heading.group(1).lower())
            found.add(plain.strip().replace(" ", "-"))
    return found


def without_code(text):
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def problems_of(path):
    text = path.read_text()
    for target in LINK.findall(without_code(text)):
        if re.match(r"^[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.exists():
            yield f"{tree.shown(path)}: link to {target}, which does not exist"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
            yield f"{tree.shown(path)}: link to {target}, which has no such heading"
    for name in PATH.findall(without_code(text)):
        if not (tree.ROOT / name).exists():
            yield f"{tree.shown(path)}: names `{name}`, which does not exist"


def program_problems(path):
    """Whole programs on pages must be copies of sources that a test builds and runs."""
    sources = [source.read_text() for source in tree.tracked(".cpp", under=("docs/tutorials/",))]
    for block in re.findall(r"```cpp\n(.*?)```", path.read_text(), flags=re.DOTALL):
        if "int main(" in block and block not in sources:
            yield f"{tree.shown(path)}: the program {block.splitlines()[0]} ... is not equal to a source of docs/tutorials"


def main():
    pages = tree.tracked(".md")
    problems = [problem for page in pages for check in (problems_of, program_problems) for problem in check(page)]
    tree.finish("pages", len(pages), problems)


main()
