"""Goal: a class is one noun: it has at most 15 data members.

Method: looks at every class and structure of src/ and include/ with private data (names that end in "_") and counts its
data members. Comments, texts and nested braces are blanked first. A structure with only public members is a record, and
as long as its list, such as a layout of our bytes, options or counters. Tests are left out.
"""

import re

import tree

MEMBERS_MAX = 15
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|^\s*#[^\n]*|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'',
                   re.DOTALL | re.MULTILINE)
TYPE = re.compile(r"\b(?:class|struct|union)\s+(?:\[\[\w+\]\]\s+)?(?:alignas\(\w+\)\s+)?([\w:]+)(?:<[^{}]*>)?"
                  r"(?:\s+final)?(?:\s*:[^:(){}][^(){}]*)?$")
NO_DATA = re.compile(r"\s*(?:using|typedef|friend|static|static_assert|enum|class|struct|union|template)\b")


def bodies_of(text):
    """Yields each type's name, the position of its brace, and its body. Nested braces in the body become "{}"."""
    opened = [("", 0, "")]
    for at, character in enumerate(text):
        name, start, body = opened[-1]
        if character == "{":
            head = re.split(r"[;{}]|\b(?:public|private|protected):", body)[-1]
            match = TYPE.search(head.strip())
            opened.append((match.group(1) if match and "enum" not in head else "", at, ""))
        elif character == "}" and len(opened) > 1:
            opened.pop()
            if name:
                yield name, start, body
            opened[-1] = (*opened[-1][:2], opened[-1][2] + "{}")
        else:
            opened[-1] = (name, start, body + character)


def members_of(body):
    """The names of the data members."""
    body = re.sub(r"\b(?:public|private|protected):", "", body)
    while body != (shorter := re.sub(r"<[^<>;{}]*>", "", body)):  # removes template arguments
        body = shorter
    body = re.sub(r"\[[^\]]*\]|\balignas\(\w*\)|:\s*\d+(?=\s*[;,])", "", body)
    for statement in body.split(";"):
        statement = re.sub(r"^.*\{\}(?!\s*(?:,|$))", "", statement, flags=re.DOTALL)  # bodies of functions
        if NO_DATA.match(statement) or "(" in statement.split("=")[0] or "operator" in statement:
            continue
        for declarator in re.split(r",", re.sub(r"\([^()]*\)", "", statement)):
            match = re.search(r"(\w+)\s*$", re.sub(r"\{\}|=.*", "", declarator, flags=re.DOTALL))
            if match:
                yield match.group(1)


def main():
    problems = []
    classes = 0
    for path in tree.tracked(".cpp", ".hpp", under=("src/", "transfer/", "include/")):
        if path.name.endswith(("_test.cpp", "_fuzz.cpp")):
            continue
        text = NOISE.sub(lambda match: re.sub(r"[^\n]", "", match.group(0)) or " ", path.read_text())
        for name, start, body in bodies_of(text):
            members = list(members_of(body))
            if not any(member.endswith("_") for member in members):
                continue
            classes += 1
            if len(members) > MEMBERS_MAX:
                problems.append(f"{tree.shown(path)}:{text.count(chr(10), 0, start) + 1}: {name} has {len(members)} "
                                f"data members, at most {MEMBERS_MAX}: {', '.join(members)}")
    tree.finish("data members of classes", classes, problems)


main()
