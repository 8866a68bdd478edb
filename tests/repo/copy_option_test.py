"""Goal: a new option of a copy touches two files: the list of options, and the file that obeys it.

Method: a scratch copy of the list gets a member. It must not compile before the member has its line. With the line, the
command line and the order for workers compile unchanged, and a program prints the description of the new option. A
scratch copy of one file of the copy obeys it. The test writes only into the scratch copy.
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import tree

LIST = "transfer/copy/copy_options.hpp"
OBEYS = "transfer/copy/copy.cpp"
FOLLOW = ("transfer/team/team_order.cpp", "transfer/program/copy_options.cpp")
PROGRAM = """
#include <cstdio>
#include "transfer/copy/copy_options.hpp"
int main() {
    forebay::tree::TreeCopyOptions options;
    forebay::tree::each_copy_option(options, [](const forebay::tree::CopyOption& option, auto, auto&) {
        std::printf("--%s %u %d %s\\n", option.name, option.verbs, option.is_told, option.meaning);
    });
}
"""


def replaced(text, old, new):
    if text.count(old) != 1:
        raise SystemExit(f"{old!r} stands {text.count(old)} times where the test expects it once")
    return text.replace(old, new)


class Scratch:
    def __init__(self, root):
        self.root = Path(root)
        self.compiler = [os.environ.get("CXX", "c++"), "-std=c++20", f"-I{self.root}", f"-I{tree.ROOT}", f"-I{tree.ROOT / 'src'}",
                         f"-I{tree.ROOT / 'include'}"]
        self.changed = set()

    def edit(self, name, old, new):
        own = self.root / name
        text = own.read_text() if own.exists() else (tree.ROOT / name).read_text()
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(replaced(text, old, new))
        self.changed.add(name)

    def compile(self, name, *more):
        own = self.root / name
        done = subprocess.run([*self.compiler, *(more or ("-fsyntax-only",)), str(own if own.exists() else tree.ROOT / name)],
                              capture_output=True, text=True, check=False)
        return done.stderr if done.returncode != 0 else ""


def check(scratch, problems):
    scratch.edit(LIST, "    RequestedLayout layout{};\n", "    RequestedLayout layout{};\n    bool greets = false;\n")
    if not re.search(r"(structured binding|names? provided|decomposes)", scratch.compile(FOLLOW[0])):
        problems.append(f"{LIST}: a member without a line compiles")
    scratch.edit(LIST, "naming, tables, layout, watch", "naming, tables, layout, greets, watch")
    scratch.edit(LIST, '    visit(CopyOption{"is-run", ""}',
                 '    visit(CopyOption{"greet", "Say good morning", of_sync}, Switch{}, greets);\n'
                 '    visit(CopyOption{"is-run", ""}')
    scratch.edit(OBEYS, "    FB_TRY_ASSIGN(file, file_at(source));\n",
                 "    if (options.greets) entry_log.add(EntryEvent::adjusted, \".\", \"good morning\");\n"
                 "    FB_TRY_ASSIGN(file, file_at(source));\n")
    for name in (*FOLLOW, OBEYS):
        if errors := scratch.compile(name):
            problems.append(f"{name}: does not compile with a new option:\n{errors}")
    (scratch.root / "program.cpp").write_text(PROGRAM)
    program = scratch.root / "program"
    if errors := scratch.compile("program.cpp", "-o", str(program)):
        problems.append(f"the list does not compile alone:\n{errors}")
        return
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    if "--greet 2 1 Say good morning\n" not in said:
        problems.append(f"the list has no new option: {said}")
    if scratch.changed != {LIST, OBEYS}:
        problems.append(f"a new option touches {sorted(scratch.changed)}")


def main():
    if shutil.which(os.environ.get("CXX", "c++")) is None:
        tree.skip("there is no compiler")
    problems = []
    with tempfile.TemporaryDirectory() as root:
        check(Scratch(root), problems)
    tree.finish("files that a new option of a copy touches", 2, problems)


main()
