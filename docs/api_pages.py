"""Makes the pages of every call from the headers and from the Fortran modules. scripts/site_pages uses it.

The comment before a declaration becomes text, and the declaration becomes code. Structures and enumerations are shown
whole, with the comments of their members. Private members and bodies of functions are left out.
"""
import pathlib
import re
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = {
    "cpp": ("C++: every call", "cpp", ["forebay.hpp", "describe.hpp", "options.hpp", "result.hpp", "mpi.hpp"]),
    "c": ("C: every call", "c", ["forebay.h", "forebay_mpi.h"]),
}
MODULES = {"forebay": "forebay.f90", "forebay_checkpoint": "checkpoint.f90"}
FORTRAN = ROOT / "src/bindings/fortran"
# A link to one of these files leads to its page on the site.
PAGES = {f"include/forebay/{name}": f"docs/reference/api/{page}.md#{name.replace('.', '')}"
         for page, (_, _, names) in HEADERS.items() for name in names}
PAGES |= {f"src/bindings/fortran/{file}": f"docs/reference/api/fortran.md#module-{module}"
          for module, file in MODULES.items()}
PAGES["src/bindings/python/forebay/__init__.py"] = "docs/reference/api/python.md"
PYTHON = """# Python: every call

::: forebay
    options:
      members: [Session, Stream, Particles, Restart, Saved, Counters, dedicate, open, Run, StreamOfRun, Snapshot,
        Error, RetryError, FullError, MissingError, CorruptError, RefusedError, UnsupportedError, BrokenError]
"""
NAMES_MAX = 4  # in a heading
DROPPED = re.compile(r'^(#(pragma|include|if|ifdef|ifndef|else|endif)\b|(inline )?namespace |extern "C"|'
                     r"\}  // namespace|// clang-format|class \w+;$|#define FOREBAY_\w+_H$)")
# Words of a comment that are code: calls, members, names of C and Fortran.
CODE = re.compile(r"(`[^`]*`)|(?<![\w/.*-])((?:call (?=[\w%]+\(\w))?\*?\w+(?:\*\w*)?(?:(?:::|%)\w+)*\((?:[^()]|\([^()]*\))*\)|"
                  r"\w+(?:(?:::|%)\w+)+|(?:fb|FB|checkpoint)_\w+)(?![\w/*])")
LINK = re.compile(r"\bdocs/([\w-]+)/([\w-]+)\.md")


def text_of(lines):
    """A comment as Markdown: `Label:  text` becomes an item of a list, and indented lines become code."""
    parts, kind, indent = [], "", 0
    # A long call becomes one line.
    lines = re.sub(r"(?m)^(call [^:]*),?\n {3,}", r"\1 ", "\n".join(lines)).split("\n")
    for line in lines:
        label = re.match(r"^([A-Z]\w+): +(?=\S)", line)
        deep = len(line) - len(line.lstrip())
        if not line.strip():
            kind = ""
        elif label and (label.end() > len(label[1]) + 2 or kind == "item"):
            parts.append([f"- **{label[1]}**: ", line[label.end():]])
            kind, indent = "item", label.end()
        elif re.match(r"call \S*\(.*\)$", line):
            parts.append(["", line])
            kind = ""
        elif kind == "item" and deep == indent or kind == "text" and deep < 2:
            parts[-1].append(line.strip())
        else:
            new = "code" if deep >= 2 else "text"
            if new == kind == "code":
                parts[-1].append(line)
            else:
                parts.append(["code", line] if new == "code" else ["", line.strip()])
            kind = new
    done = []
    for first, *words in parts:
        is_code = first == "code"
        done.append("```text\n" + textwrap.dedent("\n".join(words)) + "\n```" if is_code else first + plain(" ".join(words)))
    return re.sub(r"(?m)(^- .*\n)\n(?=- )", r"\1", "\n\n".join(done))


def link_of(match):
    return f"[{match[2].replace('-', ' ')}](../../{match[1]}/{match[2]}.md)"


def plain(text):
    pieces = re.split(r"(`[^`]*`)", CODE.sub(lambda match: match[1] or f"`{match[2]}`", text))
    for number, piece in enumerate(pieces):
        if number % 2 == 0:
            piece = piece.replace("<", "&lt;").replace("*", "\\*")
            pieces[number] = LINK.sub(link_of, piece)
    return "".join(pieces)


def statements_of(code):
    """The declarations, without comments, each on a line of its own."""
    text = "\n".join(code) + "\n"
    text = re.sub(r"//[^\n]*|/\*.*?\*/|template <[^\n]*>(?=\s*\n)|\[\[\w+\]\]|__attribute__\S*", "", text, flags=re.S)
    depth, statement = 0, ""
    for character in text:
        depth += (character in "{(") - (character in "})")
        statement += character
        ends = character in ";}" or character == "\n" and statement.lstrip().startswith("#")
        if ends and not depth:
            yield " ".join(statement.split())
            statement = ""


NAMED = [re.compile(pattern) for pattern in (
    r"^#define (\w+)", r"^typedef (?:struct|enum) (\w+) \{", r"^typedef .*\(\*(\w+)\)", r"^typedef .* (\w+);",
    r"\b(?:struct|enum class|concept|using) (\w+)", r"(~?\w+|operator\S+?)(?:<[\w:]*>)?\(")]


def names_of(code):
    """The names that declarations give, in order."""
    names = []
    for words in statements_of(code):
        found = next(filter(None, (pattern.search(words) for pattern in NAMED)), None)
        names += [found[1]] if found else re.findall(r"([A-Za-z_]\w*)(?=\{| =|;)", words)
    return list(dict.fromkeys(names))


def without_bodies(code):
    """Declarations of the functions that are defined in a class or in a header."""
    text = "\n".join(code)
    text = re.sub(r"\)(?:\n? +: \w[^;\n]*)? \{[^\n]*\}$", ");", text, flags=re.M)
    text = re.sub(r"\) (const|noexcept) \{[^\n]*\}$", r") \1;", text, flags=re.M)
    return re.sub(r"(\)(?: const)?) \{\n.*?^\}$", r"\1;", text, flags=re.M | re.S).split("\n")


def units(lines, mark):
    """(comment, code) of each declaration: it ends at an empty line, or at the next comment."""
    doc, code, depth, inside = [], [], 0, False
    for line in lines:
        begins = depth == 0 and not inside and line.startswith(mark)
        if begins and code or depth == 0 and not inside and not line.strip():
            if doc or code:
                yield doc, code
            doc, code = [], []
        if begins or inside:
            inside = mark == "/*" and "*/" not in line
            doc.append(re.sub(r"^(///|/\*| \*/?) ?|\s*\*/$", "", line))
        elif line.strip() or depth:
            code.append(line)
            depth += line.count("{") - line.count("}")
    if doc or code:
        yield doc, code


def entry(level, names, doc, code, language):
    title = ", ".join(names[:NAMES_MAX]) + (", ..." if len(names) > NAMES_MAX else "")
    shown = "\n".join(code).rstrip()
    return f"{'#' * level} {title}\n\n```{language}\n{shown}\n```\n\n{text_of(doc)}\n"


def class_entries(doc, code, language):
    """A class: its comment, then each public member."""
    head = next(number for number, line in enumerate(code) if line.endswith("{"))
    name = re.search(r"class (?:\[\[\w+\]\] )?(\w+)", code[head])[1]
    yield f"### {name}\n\n{text_of(doc)}\n"
    is_public, members = False, []
    for line in code[head + 1:-1]:
        is_public = line == "public:" or is_public and line != "private:"
        if is_public and line != "public:":
            members.append(line[4:])
    for member_doc, member in units(members, "///"):
        shown = without_bodies(member)
        yield entry(4, [f"{name}::{own}" for own in names_of(shown)], member_doc, shown, language)


def header_page(title, language, files):
    mark = "///" if language == "cpp" else "/*"
    parts = [f"# {title}\n"]
    for file in files:
        text = (ROOT / "include/forebay" / file).read_text()
        text = re.sub(r"(///[^\n]*\n)?namespace detail \{.*?\}  // namespace detail\n", "", text, flags=re.S)
        head = re.match(r"(?://[^\n]*\n)+|/\*.*?\*/\n", text, re.S)[0]
        lines = [line for line in text[len(head):].split("\n") if not DROPPED.match(line)]
        if language == "c":
            lines.remove("}")  # of extern "C"
        head = [re.sub(r"^(//|/\*| \*/?) ?|\s*\*/$", "", line) for line in head.split("\n")]
        parts.append(f"## {file}\n\n{text_of(head)}\n")
        for doc, code in units(lines, mark):
            if not code:
                section = re.match(r"-+ (.*?) -+$", " ".join(doc))
                parts += [f"**{section[1].capitalize()}**\n"] if section else []
            elif any(re.match(r"class \S.*\{$", line) for line in code):
                if "template <>" not in code:
                    parts += class_entries(doc, code, language)
            else:
                shown = code if re.match(r"(struct|enum|typedef)", code[0]) else without_bodies(code)
                parts.append(entry(3, names_of(shown), doc, shown, language))
    return "\n".join(parts)


class Module:
    """Declarations of the Fortran modules, by name: (comment, lines of code)."""

    PROCEDURE = re.compile(r"^(?:[a-z][\w() ]* )?(?:subroutine|function) (\w+)\((.*?)\)(?:.*result\((\w+)\))?")

    def __init__(self):
        self.public, self.procedures, self.types, self.gathered, self.constants = {}, {}, {}, {}, {}
        for path in sorted(FORTRAN.glob("*.f90")):
            self.read(path.name, path.read_text().split("\n"))

    def read(self, file, lines):
        doc, public, at = [], [], 0
        while at < len(lines):
            end = at + 1
            while lines[end - 1].rstrip().endswith("&"):
                end += 1
            whole = " ".join(line.strip().rstrip("&").strip() for line in lines[at:end])
            code = lines[at:end]
            if whole.startswith("!>"):
                doc.append(whole[2:].removeprefix(" "))
                at = end
                continue
            procedure, of_type = self.PROCEDURE.match(whole), re.match(r"type[^(].*:: (\w+)$", whole)
            if whole.startswith("public ::"):
                public += re.findall(r"\w+", whole.split("!")[0].split("::")[1])
            elif procedure and not whole.startswith("end "):
                code, end = self.arguments(lines, at, end, procedure)
                if code or procedure[1] not in self.procedures:
                    self.procedures.setdefault(procedure[1], (doc, code))
            elif of_type:
                end = next(number for number in range(at, len(lines)) if lines[number].strip() == "end type") + 1
                self.types[of_type[1]] = (doc, lines[at:end])
            elif re.match(r"interface \w", whole):
                self.gathered[whole.split()[1]] = (doc, re.findall(r"\w+", lines[at + 1].split("::")[1]))
            elif "parameter" in whole and "::" in whole:
                names = re.findall(r"(\w+) = ", whole)
                self.constants |= {name: (doc, code, names) for name in names}
                public += names if ", public" in whole else []
            doc = [] if whole else doc
            at = end
        self.public[file] = list(dict.fromkeys(public))

    @staticmethod
    def arguments(lines, at, end, procedure):
        """The head of a procedure, with the declarations of its arguments alone."""
        wanted = {*re.findall(r"\w+", procedure[2]), procedure[3]}
        indent = len(lines[at]) - len(lines[at].lstrip())
        code = [line[indent:] for line in lines[at:end]]
        while end < len(lines) and re.match(r" +(use|import|[^!]*::)", lines[end]):
            if "::" in lines[end] and set(re.findall(r"\w+", lines[end].split("::")[1])) & wanted:
                code.append(lines[end][indent:])
            end += 1
        return [code[0].removeprefix("module "), *code[1:]], end

    def shown(self, names):
        """Several procedures as one text."""
        return "\n\n".join("\n".join(self.procedures[name][1]) for name in names).split("\n")

    def entries(self, name):
        if name in self.types:
            return list(self.type_entries(name))
        if name in self.gathered:
            doc, names = self.gathered[name]
            return [entry(3, [name], doc, self.shown(names), "fortran")]
        if name in self.procedures:
            return [entry(3, [name], self.procedures[name][0], self.shown([name]), "fortran")]
        doc, code, names = self.constants[name]
        return [entry(3, names, doc, [line.removeprefix("  ") for line in code], "fortran")]

    def type_entries(self, name):
        doc, code = self.types[name]
        if "  contains" not in code:
            if "    private" in code:
                code = [code[0], code[-1]]
            yield entry(3, [name], doc, [line[2:] for line in code], "fortran")
            return
        yield f"### {name}\n\n{text_of(doc)}\n"
        doc = []
        for line in code[code.index("  contains") + 1:]:
            said = re.match(r"^ +!> ?(.*)", line)
            bound = re.match(r"^ +(?:procedure|generic) :: (\w+) => ([\w, ]+?) *(?:!< ?(.*))?$", line)
            if said:
                doc.append(said[1])
                continue
            if bound:
                title = f"{name.removeprefix('fb_')}%{bound[1]}"
                code = self.shown(re.findall(r"\w+", bound[2]))
                yield entry(4, [title], doc or [bound[3] or ""], code, "fortran")
            doc = []


def fortran_page():
    modules = Module()
    parts = ["# Fortran: every call\n"]
    for module, file in MODULES.items():
        head = re.match(r"(?:!>[^\n]*\n)+", (FORTRAN / file).read_text())[0].rstrip().split("\n")
        parts.append(f"## Module {module}\n\n" + text_of([re.sub("^!> ?", "", line) for line in head]) + "\n")
        for name in modules.public[file]:
            parts += [part for part in modules.entries(name) if part not in parts]
    return "\n".join(parts)


def pages():
    """Path on the site -> Markdown."""
    made = {f"docs/reference/api/{page}.md": header_page(*what) for page, what in HEADERS.items()}
    made["docs/reference/api/fortran.md"] = fortran_page()
    made["docs/reference/api/python.md"] = PYTHON
    return made
