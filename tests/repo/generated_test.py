"""Goal: the generated pages of docs/reference are up to date with the program and the lists in the source.

Method: docs/generate.py makes them again and compares; it must also detect an outdated page. Without the built program
the pages from its --help are skipped.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import tree

GENERATE = ["docs/generate.py", "--check"]


def check(root, *options):
    return subprocess.run([sys.executable, *GENERATE, *options], cwd=root, capture_output=True, text=True)


def old_page_is_found():
    """A copy of lists and pages with a changed meaning of a counter."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        shutil.copytree(tree.ROOT / "docs/reference", root / "docs/reference")
        for name in ("docs/generate.py", "src/core/describe/counter_list.hpp", "src/path/telemetry/metrics.cpp",
                     "src/path/agent/events.cpp"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(tree.ROOT / name, root / name)
        counters = root / "src/core/describe/counter_list.hpp"
        counters.write_text(counters.read_text().replace('"saves", &C::saves, "', '"saves", &C::saves, "really '))
        return check(root).returncode == 1


def main():
    program = os.environ.get("FOREBAY_AGENT", "")
    done = check(tree.ROOT, *(["--program", program] if os.access(program, os.X_OK) else []))
    problems = done.stdout.splitlines()[:-1] + done.stderr.splitlines() if done.returncode else []
    if not old_page_is_found():
        problems.append("docs/generate.py --check does not find a table that is old")
    if problems:
        problems.append("Next: docs/generate.py --program build/bin/forebay")
    tree.finish("generated pages", 2, problems)


main()
