"""Goal: the examples of all pages can be used: the program reads each configuration, and each command exists.

Method: blocks of TOML go to the reader of their file: configurations, sites of preflight, or plans of migrations.
Commands of shell blocks are compared with --help, the Makefile, the presets and the options of CMake. Calls in C++, C,
Fortran and Python are looked for in the headers, the modules and the package. Wrong examples must be found too.
"""

import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import forebay_test as test

ROOT = pathlib.Path(os.environ["FOREBAY_SOURCE_DIR"])
sys.path.insert(0, str(ROOT / "docs"))
import generate  # noqa: E402  # pylint: disable=wrong-import-position,import-error

HAS_PYTHON = bool(list((test.BUILD / "python/forebay").glob("_forebay.*so")))
ENVIRONMENT = os.environ | {"PYTHONPATH": str(test.BUILD / "python"), "COLUMNS": "100"}
# Each opening fails, because the directory above its run is missing; but first it reads its configuration.
READS = """
import sys, forebay
for path in sys.argv[1:]:
    try:
        forebay.Session(path + ".none/run", config=path)
    except forebay.Error as error:
        print(path, " ".join(str(error).split()))
"""
EXPORTED = "import forebay, forebay.insitu\nprint(*dir(forebay))"
WRONG = {
    "toml": ["[streams.restart]\nslot = 2\n", "[metadata]\nseverty = 'off'\n", "[[project]]\nnme = 'x'\n"],
    "sh": ["forebay lst RUN\n", "forebay ls RUN --jsn\n", "make bild\n", "cmake --preset releese\n", "if true\n",
           "cmake -B build -DFOREBAY_MPY=OFF\n", "FOREBAY_RESTARTED=3 ./simulation\n", "scripts/bootstrapp\n"],
    "python": ["import forebay\nforebay.opened('run')\n", "x = = 1\n"],
    "cpp": ["forebay::opened(world);\n", "stream.savee(1);\n"],
    "c": ["fb_savee(stream);\n"],
    "fortran": ["call session%opened('run')\n"],
}


def blocks():
    """(place, language, text) of each block of code."""
    for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("transfer/docs/**/*.md"))]:
        if page.name == "commands.md":  # generated, and compared by repo.generated
            continue
        text = page.read_text(encoding="utf-8")
        for found in re.finditer(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            yield f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}", found[1], found[2]


class Sources:
    """The names that examples may use."""

    def __init__(self):
        self.helps = {}
        self.make = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
        self.presets = set(re.findall(r'"name": "([\w-]+)"', (ROOT / "CMakePresets.json").read_text()))
        cmake = "\n".join(path.read_text() for path in [ROOT / "CMakeLists.txt", *ROOT.glob("cmake/*.*")])
        self.cmake = set(re.findall(r"FOREBAY_\w+", cmake))
        code = [*ROOT.glob("src/**/*.cpp"), *ROOT.glob("transfer/**/*.cpp"), *ROOT.glob("src/**/*.hpp")]
        self.variables = set(re.findall(r'"(FOREBAY_\w+)', "\n".join(path.read_text() for path in code)))
        headers = "\n".join(path.read_text() for path in ROOT.glob("include/forebay/*.h*"))
        self.words = set(re.findall(r"\w+", re.sub(r"//[^\n]*|/\*.*?\*/", "", headers, flags=re.S)))
        modules = "\n".join(path.read_text() for path in ROOT.glob("src/bindings/fortran/*.f90"))
        self.fortran = set(re.findall(r"\b(\w+) =>|:: (\w+)", modules))
        self.fortran = {word for pair in self.fortran for word in pair}
        self.python = set()
        if HAS_PYTHON:
            self.python = set(test.run(sys.executable, "-c", EXPORTED, env=ENVIRONMENT).stdout.split())

    def help_of(self, words):
        """The text of --help; "" for a command that this build lacks, None if there is no such command."""
        key = " ".join(words)
        if key not in self.helps:
            try:
                text = generate.help_of(str(test.FOREBAY), words[:-1]) if words else ""
                known = not words or words[-1] in generate.commands_within(text)
                self.helps[key] = generate.help_of(str(test.FOREBAY), words) if known else None
            except generate.NotBuilt:
                self.helps[key] = ""
        return self.helps[key]


def forebay_faults(sources, line):
    for command in re.findall(r"(?:^|[\s;&|(/])forebay ([a-z][^|;&#]*)", line):
        words = command.split()
        text = sources.help_of(words[:1])
        if text is None:
            yield f"there is no command forebay {words[0]}"
            continue
        depth = 2 if words[1:2] and words[1] in generate.commands_within(text) else 1
        text = sources.help_of(words[:depth])
        for option in re.findall(r"(?<!\S)(--[a-z][\w-]*|-[A-Za-z])(?![\w-])", command.split(" -- ")[0]):
            if text and not re.search(rf"(?<![\w-]){option}(?![\w-])", text):
                yield f"forebay {' '.join(words[:depth])} has no {option}"


def sh_faults(sources, text):
    done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        yield f"bash cannot read it: {done.stderr.strip()}"
    for line in text.replace("\\\n", " ").split("\n"):
        line = line.split("  #")[0]
        yield from forebay_faults(sources, line)
        for pattern, names, kind in ((r"^make ([a-z]+)", sources.make, "target of make"),
                                     (r"--preset ([\w-]+)", sources.presets, "preset"),
                                     (r"-D(FOREBAY_\w+)", sources.cmake, "option of CMake"),
                                     (r"(?:^|\s)(FOREBAY_[A-Z_]+)=", sources.variables, "variable")):
            yield from (f"there is no {kind} {name}" for name in re.findall(pattern, line) if name not in names)
        paths = re.findall(r"(?<![\w/.$-])((?:scripts|docs|tests|apps|packaging)/[\w/.-]+)", line)
        yield from (f"there is no {path}" for path in paths if not (ROOT / path).exists())


def python_faults(sources, text):
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        yield f"Python cannot read it: {error}"
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "forebay":
            if HAS_PYTHON and node.attr not in sources.python:
                yield f"there is no forebay.{node.attr}"


def call_faults(sources, language, text):
    names = {"cpp": r"forebay::(\w+)|\b(?:session|stream|restart|table|chosen)\.(\w+)\(", "c": r"\b(fb_\w+|FB_\w+)",
             "fortran": r"\b(?:session|stream|restart|table)%(\w+)\("}[language]
    known = sources.fortran if language == "fortran" else sources.words
    for found in re.finditer(names, text):
        name = next(filter(None, found.groups()))
        if name not in known:
            yield f"there is no {name}"


def read_tomls(texts):
    """The fault of each text, or None. All configurations are read by one process."""
    faults, configurations = [None] * len(texts), {}
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(texts):
            file = pathlib.Path(folder) / f"{number}.toml"
            file.write_text(text)
            if "[[project]]" in text:
                words = ["migrate", file, "--dry-run"]
            elif re.search(r"^\[(targets|metadata|memory|network)\]", text, re.M):
                words = ["preflight", "--site", file, "--target", f"{folder}/none"]
            else:
                configurations[str(file)] = number
                continue
            done = test.run(test.FOREBAY, *words, code=None, cwd=folder)
            wrong = re.search(rf"{re.escape(str(file))}.*line.*", done.stdout + done.stderr)
            faults[number] = wrong and wrong[0]
        if HAS_PYTHON and configurations:
            done = test.run(sys.executable, "-c", READS, *configurations, env=ENVIRONMENT, cwd=folder)
            for line in done.stdout.splitlines():
                file, _, text = line.partition(" ")
                faults[configurations.pop(file)] = text if file in text.replace(f"{file}.none", "") else None
            test.expect(not configurations, "each opening ends with an error", configurations)
    return faults


def faults_of(sources, language, text):
    if language == "sh":
        return list(sh_faults(sources, text))
    if language == "python":
        return list(python_faults(sources, text))
    return list(call_faults(sources, language, text)) if language in ("cpp", "c", "fortran") else []


def main():
    sources, problems, all_blocks = Sources(), [], list(blocks())
    tomls = [(place, text) for place, language, text in all_blocks if language == "toml"]
    wrong = WRONG["toml"] if HAS_PYTHON else WRONG["toml"][1:]
    faults = read_tomls([text for _, text in tomls] + wrong)
    problems += [f"{place}: {fault}" for (place, _), fault in zip(tomls, faults[:len(tomls)], strict=True) if fault]
    missed = [text for text, fault in zip(wrong, faults[len(tomls):], strict=True) if not fault]
    for place, language, text in all_blocks:
        problems += [f"{place}: {fault}" for fault in faults_of(sources, language, text)]
    for language in ("sh", "python", "cpp", "c", "fortran"):
        for text in WRONG[language]:
            if not faults_of(sources, language, text) and (HAS_PYTHON or "forebay.opened" not in text):
                missed.append(text)
    problems += [f"this test finds no fault in {text!r}" for text in missed]
    print("\n".join(problems) or f"{len(all_blocks)} examples, {len(tomls)} of them configurations, can be used" +
          ("" if HAS_PYTHON else "; configurations were not read: the Python package is not built"))
    test.expect(len(all_blocks) > 100 and len(tomls) > 25, "the blocks are found", len(all_blocks))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
