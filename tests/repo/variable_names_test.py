"""Goal: the name of a variable is a noun: no variable has the name one, found, made, told, said or mine. Numbers with
different meanings have names: no code reads numbers[3].

Method: reads declarations of variables, parameters and data members in C, C++ and Fortran. In C and C++ a name
counts if it stands behind a type, in a structured binding, at the beginning of a capture or of FB_TRY_ASSIGN, or behind
a comma of a declaration. The test relies on the spaces of clang-format. It blanks comments, texts and enumerations.
Functions and namespaces may have such names.
"""

import re

import tree

FOLDERS = ("src/", "transfer/", "include/", "apps/", "bench/", "tests/")
NAMES = ("one", "found", "made", "told", "said", "mine")
NAME = rf"(?P<name>(?:{'|'.join(NAMES)})_?)\b"
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|'
                   r"(?<!\w)'(?:\\.|[^'\\\n])+'|\benum\b[^{};]*\{[^}]*\}", re.DOTALL | re.MULTILINE)
NO_TYPE = "".join(rf"(?<!\b{word})" for word in ("return", "throw", "case", "goto", "else", "new", "delete", "sizeof",
                                                "namespace"))
# A type ends with a word, or with ">", "*" or "&" without a space before it. Operators have spaces on both sides.
AFTER_TYPE = re.compile(rf"(?<![\w.])[\w:]*(?:\w|(?<=[^\s])>)[*&]*{NO_TYPE}\s+{NAME}"
                        r"(?=\s*(?:[=;{(,)\[]|:(?!:)))(?!\s*==)")
ELSEWHERE = (re.compile(rf"\bauto&{{0,2}} \[[^\]]*?\b{NAME}"),
             re.compile(rf"\bFB_TRY_ASSIGN\(\s*{NAME}"),
             re.compile(rf"\[[^\[\]]*?\b(?<![.>]){NAME} = "),
             re.compile(rf"\bauto [*&]{NAME} ="),
             re.compile(rf",\s+[*&]?{NAME}(?:\s*;|\{{|\s=\s)"))
FORTRAN = (re.compile(rf"^[^!\n]*::(?:[^()!\n]|\([^()]*(?:\([^()]*\))?[^()]*\))*?(?<![%\w]){NAME}(?!\s*=>)",
                      re.MULTILINE | re.IGNORECASE),
           re.compile(rf"\bassociate\s*\([^!\n]*?(?<![%\w]){NAME}\s*=>", re.IGNORECASE))


def is_function(text, opened):
    """True if these brackets hold the parameters of a function, False if they hold the first value of a variable."""
    depth = 0
    for end in range(opened, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            break
    parameters = text[opened + 1:end].strip()
    return not re.match(r"\)\s*[;,]", text[end:]) or not parameters or \
        re.match(r"(?:const )?[\w:]+(?:<.*>)?[*&]*\s+\w+\s*(?:,|=|$)", parameters) is not None


def declared_in_c(text):
    text = NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)
    for match in AFTER_TYPE.finditer(text):
        opened = re.compile(r"\s*\(").match(text, match.end())
        if not opened or not is_function(text, opened.end() - 1):
            yield match.start("name"), match.group("name")
    for pattern in (*ELSEWHERE, NUMBERED):
        for match in pattern.finditer(text):
            yield match.start("name"), match.group("name")


def declared_in_fortran(text):
    text = re.sub(r"'[^'\n]*'|\"[^\"\n]*\"", lambda match: " " * len(match.group(0)), text)
    for pattern in FORTRAN:
        for match in pattern.finditer(text):
            if not re.match(r"\s*procedure\b", match.group(0), re.IGNORECASE):  # a type-bound function
                yield match.start("name"), match.group("name")


NUMBERED = re.compile(r"(?<!\w)(?P<name>numbers\[\d+\])")


READERS = {".cpp": declared_in_c, ".hpp": declared_in_c, ".c": declared_in_c, ".h": declared_in_c,
           ".f90": declared_in_fortran}


def main():
    problems = []
    checked = 0
    for path in tree.tracked(*READERS, under=FOLDERS):
        checked += 1
        text = path.read_text()
        for at, name in sorted(set(READERS[path.suffix](text))):
            line = text.count("\n", 0, at) + 1
            problems.append(f"{tree.shown(path)}:{line}: the variable {name} has no noun; give it a name that says "
                            "what it holds")
    tree.finish("names of variables", checked, problems)


main()
