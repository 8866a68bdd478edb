"""Goal: CMakeLists.txt alone has the version of Forebay. Each other file takes the version from there.

Method: looks for a version beside the name of Forebay, and for a version that is set, in each text of the tree. Results
of benchmarks, examples of formats, and changelogs name the version of their day. Other projects have versions too: a
line that sets a version counts only in files that describe our packages.
"""

import json
import re

import tree

SOURCE = "CMakeLists.txt"
# They record a version of the past.
OF_THEIR_DAY = ("bench/results/", "docs/formats/", "tests/corpus/", "tests/golden/", "CHANGELOG.md",
                "transfer/CHANGELOG.md")
OURS = re.compile(r"(?i)\b(?:lib)?forebay[\"']?(?:[ :=@_(-]|\s+version)+v?\"?(\d+\.\d+\.\d+)\b(?!\.\d)")
SET = re.compile(
    r"""(?im)^[\s#{%-]*(?:set\s+)?["']?(?:version|release)["']?\s*[:=( ]\s*["']?(\d+\.\d+(?:\.\d+)?)\b""")
DESCRIBE_US = re.compile(r"^(pyproject\.toml|mkdocs\.yml|Makefile|packaging/.*|transfer/CMakeLists\.txt|docs/.*\.py)$")
TEXTS = (".txt", ".toml", ".yml", ".yaml", ".py", ".md", ".hpp", ".h", ".cpp", ".f90", ".t", ".in", ".cmake", ".def",
         "modules/forebay", "control", "changelog", "rules", "Makefile", "bootstrap", "release")


def problems_in(name, text):
    """A second version in a file."""
    if name.startswith("packaging/web/") and name.endswith(".json"):
        described = json.loads(text)
        if "version" in described or "version" in described.get("packages", {}).get("", {}):
            yield f"{name}: our package has a version"
        return
    patterns = [OURS] + ([SET] if DESCRIBE_US.match(name) else [])
    for pattern in patterns:
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start(1)) + 1
            yield f"{name}:{line}: the version {match[1]}; take it from {SOURCE}"


def check_the_patterns():
    """The test sees a version in each form that a package may have it."""
    seen = {"pyproject.toml": 'version = "0.1.0"', "packaging/conda/recipe.yaml": "  version: 0.1.0",
            "packaging/web/package.json": '{"version": "0.1.0"}', "packaging/debian/changelog": "forebay (0.1.0-1) sid",
            "packaging/modules/forebay": 'set version 0.1.0', "docs/how-to/link.md": "find_package(forebay 0.1.0)",
            "packaging/apptainer/forebay.def": "    Version 0.1.0", "packaging/spack/package.py": "forebay@0.1.0"}
    for name, text in seen.items():
        if not list(problems_in(name, text)):
            yield f"the test does not see {text!r} in {name}"


def main():
    problems, checked = list(check_the_patterns()), 0
    for path in [*tree.tracked(*TEXTS), *tree.tracked(".json", under=("packaging/",))]:
        name = tree.shown(path)
        if name == SOURCE or name.startswith(OF_THEIR_DAY) or path.resolve() == tree.pathlib.Path(__file__).resolve():
            continue
        checked += 1
        problems += problems_in(name, path.read_text(encoding="utf-8", errors="replace"))
    here = re.findall(r"^project\(forebay VERSION (\d+\.\d+\.\d+) ", (tree.ROOT / SOURCE).read_text(), re.M)
    if len(here) != 1:
        problems.append(f"{SOURCE}: project() has the versions {here}")
    tree.finish("texts without a version of their own", checked, problems)


main()
