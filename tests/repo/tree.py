"""Shared by the tests of the repository: the list of files, and the end of a test."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77


def tracked(*suffixes, under=("",)):
    """Files of git and new files that are not ignored, by suffix and directory. Without git every file."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")]
        names = [name for name in names if not name.startswith(("build", ".git/"))]
    paths = [ROOT / name for name in sorted(set(names)) if name.startswith(tuple(under)) and name.endswith(suffixes)]
    return [path for path in paths if path.is_file()]


def shown(path):
    return str(path.relative_to(ROOT))


TREES = ("walk", "copy", "compare", "remove", "team", "tables")  # folders of transfer/ that are one module, `tree`


def module_of(name):
    """The module of a source or an include: "src/core/base/crc32c/x.cpp" and "core/base/try.hpp" -> "base",
    "src/program/look/ls.cpp" -> "program", "transfer/copy/copy.cpp" -> "tree", "transfer/program/walk.cpp" ->
    "transfer". None for other names."""
    parts = name.removeprefix("src/").split("/")
    if len(parts) < 2:
        return None
    if parts[0] == "bindings" and parts[1] == "compat":
        return parts[2] if len(parts) > 3 else None
    if parts[0] in ("core", "path", "bindings", "insight"):
        return parts[1] if len(parts) > 2 else None
    if parts[0] == "transfer":
        return {"program": "transfer"}.get(parts[1], "tree" if parts[1] in TREES else parts[1])
    return parts[0] if parts[0] in ("program", "bench") else None


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def finish(what, checked, problems):
    """Prints the problems and ends the test. A test that checked nothing fails."""
    for problem in problems:
        print(problem)
    if not checked:
        print(f"{what}: found nothing to check; the test looks in the wrong place")
    print(f"{what}: {checked} checked, {len(problems)} problems")
    sys.exit(1 if problems or not checked else 0)
