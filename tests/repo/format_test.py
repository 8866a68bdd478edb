"""Goal: every source has the form of .clang-format, so that diffs show only changes.

Method: clang-format 14 in dry run; other versions differ in details. It ignores comments, so this test checks that they
have at most 120 columns. Also, no source uses parts of GCC 12's standard library that clang 14 cannot compile:
algorithms that return a range of their own. Fuzz targets are built with clang 14.
"""

import re
import shutil
import subprocess

import tree

COLUMNS_MAX = 120
NOT_BY_CLANG = re.compile(r"std::(views::|ranges::(views|unique|equal_range|search|search_n|find_end|remove|remove_if|rotate|partition|stable_partition)\b)")


def main():
    program = shutil.which("clang-format-14")
    if not program:
        tree.skip("clang-format-14 is not installed (Debian's package of that name; scripts/bootstrap installs it)")
    paths = tree.tracked(".cpp", ".hpp", ".c", ".h", under=("src/", "transfer/", "include/", "apps/", "tests/", "docs/"))
    done = subprocess.run([program, "--dry-run", "-Werror", *map(str, paths)], capture_output=True, text=True, check=False,
                          cwd=tree.ROOT)
    problems = [line for line in done.stderr.splitlines() if "error:" in line]
    if done.returncode and not problems:
        problems = [done.stderr.strip()]
    problems += [f"{path}:{number}: {len(line)} columns; at most {COLUMNS_MAX}" for path in paths
                 for number, line in enumerate((tree.ROOT / path).read_text().splitlines(), 1) if len(line) > COLUMNS_MAX]
    problems += [f"{path}:{number}: clang 14 does not compile {match[0]}" for path in paths
                 for number, line in enumerate((tree.ROOT / path).read_text().splitlines(), 1) for match in NOT_BY_CLANG.finditer(line)]
    if problems:
        problems.append("Next: make format")
    tree.finish("format", len(paths), problems)


main()
