"""Goal: the site's pages of every call have each public declaration, and nothing private.

Method: docs/api_pages.py makes the pages. This test finds the names in the sources by simpler means: names before a
bracket in C, members between `public:` and `private:` in C++, `public ::` lists and bindings in Fortran, and `__all__`
in Python.
"""

import re
import sys

import tree

sys.path.insert(0, str(tree.ROOT / "docs"))
import api_pages  # noqa: E402  # pylint: disable=wrong-import-position,import-error

INCLUDE = tree.ROOT / "include/forebay"
PRIVATE = ("detail::", "state_", "held_", "private:", "session_assign")
FORTRAN = tree.ROOT / "src/bindings/fortran"


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def wanted_of_c(name):
    text = without_comments((INCLUDE / name).read_text())
    functions = re.findall(r"^[a-z][\w* ]*?(fb_\w+)\(", text, re.M)
    return [*functions, *re.findall(r"^} (fb_\w+);", text, re.M), *re.findall(r"#define (FB_\w+)", text)]


def wanted_of_cpp(name):
    text = without_comments((INCLUDE / name).read_text())
    text = re.sub(r"namespace detail \{.*?^\}", "", text, flags=re.S | re.M)
    wanted = re.findall(r"^(?:struct|enum class) (\w+) ", text, re.M)
    wanted += re.findall(r"^(?:[A-Z][\w:<>]*|std::\S+) (\w+)\(", text, re.M)
    for owner, body in re.findall(r"^class (\w+)[^;\n]*\{\n(.*?)^\};", text, re.S | re.M):
        public = body.split("public:")[1].split("private:")[0]
        calls = re.findall(r"^    (?:static |const )?[A-Za-z][\w:<>&*]* (\w+)\(", public, re.M)
        wanted += [f"{owner}::{call}" for call in calls]
    return wanted


def wanted_of_fortran(file, module):
    text = re.sub(r"&\n\s*", "", (FORTRAN / file).read_text())
    lists = re.findall(r"^  public :: ([^!\n]*)", text, re.M)
    wanted = [name.strip() for words in lists for name in words.split(",")]
    if module == "forebay":
        for source in ("forebay.f90", "forebay_streams.f90"):
            code = (FORTRAN / source).read_text()
            bindings = re.findall(r"^    (?:procedure|generic) :: (\w+) =>|^  type :: (\w+)", code, re.M)
            owner = ""
            for binding, type_name in bindings:
                owner = type_name.removeprefix("fb_") or owner
                wanted += [f"{owner}%{binding}"] if binding else []
    return wanted


def main():
    pages = {path.rsplit("/", 1)[1]: text for path, text in api_pages.pages().items()}
    problems, checked = [], 0

    def look(page, names):
        nonlocal checked
        entries = re.findall(r"^#{2,4} ([^\n]*)\n(?:\n```\w+\n(.*?)^```)?", pages[page], re.M | re.S)
        headings = {name for title, _ in entries for name in title.split(", ")}
        # A long heading ends with "...": the code below it has the rest.
        rest = {owner + name for title, code in entries if title.endswith("...")
                for owner in [title[:title.rfind("::", 0, title.index(","))] + "::" if "::" in title else ""]
                for name in re.findall(r"\w+", code)}
        for name in names:
            checked += 1
            if name not in headings and name not in rest:
                problems.append(f"{page} lacks {name}")

    for name in api_pages.HEADERS["c"][2]:
        look("c.md", wanted_of_c(name))
    for name in api_pages.HEADERS["cpp"][2]:
        look("cpp.md", wanted_of_cpp(name))
    for module, file in api_pages.MODULES.items():
        look("fortran.md", wanted_of_fortran(file, module))
    package = (tree.ROOT / "src/bindings/python/forebay/__init__.py").read_text()
    exported = re.search(r"__all__ = \[(.*?)\]", package, re.S)[1]
    for name in set(re.findall(r'"(\w+)"', exported)) - {"__version__"}:
        checked += 1
        if not re.search(rf"[\[ ]{name}[,\]]", pages["python.md"]):
            problems.append(f"python.md lacks {name}")
    for page, text in pages.items():
        problems += [f"{page} shows {word}, which is private" for word in PRIVATE if word in text]
        problems += [f"{page}: a heading without a name" for _ in re.findall(r"^#+ *$", text, re.M)]
    if checked < 200:
        problems.append(f"only {checked} names were found in the sources: this test looks in the wrong place")
    tree.finish("declarations on the pages of every call", checked, problems)


main()
