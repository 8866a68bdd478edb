"""Goal: the texts and comments of the sources are written plainly: errors, log lines, public headers, and the comments of
each folder.

Method: collects string literals with four words or more from C++, C and Python, and the comments, and measures both
folder by folder, as english_test.py measures a page. Literals of tests, docstrings, HTML, and lists of words between
blanks are left out. A place in a format counts as one word. Each kind is also given the control text, which must fail,
and a plain text, which must pass.
"""

import ast
import re

import english
import tree

SOURCES = (".cpp", ".hpp", ".h", ".c")
COMMENTED = (*SOURCES, ".py", ".f90", ".F90")
PLACES = ("include/", "src/", "transfer/")
NOT_OURS = ("transfer/tests/",)  # tests of the transfer tool have no readers but developers of tests
TEXT_WORDS = 4  # fewer words are a part of a sentence, or no text
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?P<text>(?:[^"\\\n]|\\.)*)"|' r"'(?:[^'\\\n]|\\.)+'", re.DOTALL)
COMMENT = {".py": r"^\s*#\s?(.*)", ".f90": r"^\s*!>?\s?(.*)", ".F90": r"^\s*!>?\s?(.*)"}
COMMENT_OF_C = r"^\s*//[/!]?\s?(.*)"


def is_text(literal):
    if literal.startswith(" ") and literal.endswith(" ") or "<" in literal and ">" in literal:
        return False
    return len(re.findall(r"[A-Za-z]{2,}", literal)) >= TEXT_WORDS


def cleaned(literal):
    """As people read it: line ends, quotes, and a word in place of each value."""
    return re.sub(r"\{[^{}]*\}|%[a-z]+", "X", literal.replace("\\n", "\n").replace('\\"', '"'))


def literals_of_c(text):
    """String literals; those that stand beside each other are one, as for the compiler."""
    literals, end = [], None
    for token in TOKEN.finditer(text):
        literal = token.group("text")
        if literal is None:
            continue
        if literals and not text[end:token.start()].strip():
            literals[-1] += literal
        else:
            literals.append(literal)
        end = token.end()
    return literals


def literals_of_python(text):
    root = ast.parse(text)
    docstrings = {id(node.body[0].value) for node in ast.walk(root)
                  if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body and isinstance(node.body[0], ast.Expr)}
    literals = []
    for node in ast.walk(root):
        if isinstance(node, ast.JoinedStr):
            literals.append("".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values))
            docstrings.update(id(part) for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            literals.append(node.value)
    return literals


def texts(name, text):
    literals = literals_of_python(text) if name.endswith(".py") else literals_of_c(text)
    return "\n\n".join(cleaned(literal) for literal in literals if is_text(literal))


def comments(name, text):
    """A block of comment lines is a paragraph; code in it becomes one word."""
    pattern = COMMENT.get(name[name.rindex("."):], COMMENT_OF_C)
    blocks, lines = [], []
    for line in [*text.split("\n"), ""]:
        comment = re.match(pattern, line)
        if comment:
            lines.append(comment.group(1))
        elif lines:
            blocks.append(" ".join(lines))
            lines = []
    return re.sub(r"`[^`]*`", "X", "\n\n".join(blocks))


def by_folder(suffixes, read, is_left_out):
    """The texts of each folder, one after the other."""
    folders = {}
    for path in tree.tracked(*suffixes, under=PLACES):
        name = tree.shown(path)
        if name.startswith(NOT_OURS) or is_left_out(name):
            continue
        folder = name.rpartition("/")[0]
        folders[folder] = folders.get(folder, "") + "\n\n" + read(name, path.read_text(encoding="utf-8"))
    return folders


def controls():
    """Each reader finds the control text in a source that has it, and passes a plain text."""
    lines = re.findall(r"[^.]+\.", english.CONTROL)
    plain = re.findall(r"[^.]+\.", english.PLAIN.replace("\n", " "))
    kinds = {
        "texts of C++": lambda them: texts("x.cpp", "".join(f'use(1, "{line.strip()[:40]}"\n "{line.strip()[40:]}");\n' for line in them)),
        "texts of Python": lambda them: texts("x.py", "".join(f'raise E(f"{line.strip()} {{x}}")\n' for line in them)),
        "comments of C++": lambda them: comments("x.hpp", "".join(f"/// {line.strip()}\n" for line in them)),
        "comments of Python": lambda them: comments("x.py", "".join(f"# {line.strip()}\n" for line in them)),
        "comments of Fortran": lambda them: comments("x.f90", "".join(f"!> {line.strip()}\n\n" for line in them)),
    }
    for kind, made in kinds.items():
        if not english.faults(made(lines)):
            yield f"{kind}: the control text passes: this test measures nothing"
        over = english.faults("\n\n".join(made([line]) for line in plain))
        if over != []:
            yield f"{kind}: a plain text fails: {over}"


def main():
    problems = list(controls())
    checked = 0
    for kind, folders in (
            ("texts", by_folder((*SOURCES, ".py"), texts, lambda name: re.search(r"_(test|fuzz)\.\w+$", name))),
            ("comments", by_folder(COMMENTED, comments, lambda name: False))):
        for folder, text in sorted(folders.items()):
            over = english.faults(text)
            checked += over is not None
            problems += [f"{kind} of {folder}: {fault}" for fault in over or []]
    tree.finish("plain English of sources", checked, problems)


main()
