"""Goal: programs print only through say.hpp, which escapes names, or through json.cpp, log.cpp or progress.cpp. A
worker prints only to its agent.

Method: searches the programs for every other call that writes to a terminal.
"""

import re

import tree

ALLOWED = ("src/core/terminal/say.cpp", "src/core/terminal/json.cpp", "src/core/terminal/log.cpp",
           "src/core/terminal/progress.cpp", "src/program/run/insitu_worker.cpp")
PRINTS = re.compile(r"\b(std::)?(fputs|fputc|puts|putchar|fwrite|f?printf|perror)\s*\(|\bfmt::print|std::(cout|cerr|clog)\b")


def main():
    problems = []
    checked = 0
    for path in tree.tracked(".cpp", ".hpp", under=("src/core/terminal/", "src/program/", "src/bench/", "transfer/program/", "transfer/runs/")):
        name = tree.shown(path)
        checked += 1
        if name in ALLOWED or name.endswith("_test.cpp"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if PRINTS.search(line.split("//")[0]):
                problems.append(f"{name}:{number}: prints past say.hpp: {line.strip()}")
    for name in ALLOWED:
        if not PRINTS.search((tree.ROOT / name).read_text()):
            problems.append(f"{name}: prints nothing; this test looks for the wrong calls")
    tree.finish("output", checked, problems)


main()
