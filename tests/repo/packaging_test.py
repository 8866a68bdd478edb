"""Goal: the bootstrap and the recipes of Spack, conda, Debian and Apptainer require the libraries of
cmake/dependencies.txt, with the same least versions and under the same option. Each recipe sets every CMake option that
a site chooses.

Method: loads Spack's recipe with a stand-in for Spack's module that records its declarations. Reads the lists of
packages and the options of CMake from the others.
"""

import os
import pathlib
import re
import sys
import types

ROOT = pathlib.Path(os.environ.get("FOREBAY_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FOR_US_ALONE = {"FOREBAY_AUDIT", "FOREBAY_BENCH", "FOREBAY_WERROR", "FOREBAY_FUZZ", "FOREBAY_SANITIZE",
                "FOREBAY_WHEEL"}
COLUMNS = ("name", "least", "option", "found", "debian", "spack", "conda", "without")
# Packages of the bootstrap have no version if they are found by a command.
BY_COMMAND = {"libopenmpi-dev"}
# Recipe -> the column with its names, the file with its packages, the file with its options, a package and its version.
OTHERS = {
    "conda": ("conda", "conda/meta.yaml", "conda/build.sh", r"^ +- ([a-z0-9_-]+)(?: >=([0-9.]+))?$"),
    "Debian": ("debian", "debian/control", "debian/rules", r"^ +([a-z0-9+-]+)(?: \(>= ([0-9.]+)\))?[^,\n]*,?$"),
    "Apptainer": ("debian", "apptainer/forebay.def", "apptainer/forebay.def", r"(?<= )([a-z0-9+-]+-dev|gfortran)()\b"),
}
# A recipe names these in its own way.
OWN_NAMES = {("conda", "mpi"): "{{ mpi }}", ("conda", "fortran"): '{{ compiler("fortran") }}',
             ("Debian", "libopenmpi-dev"): "mpi-default-dev"}


def libraries():
    """The rows of cmake/dependencies.txt."""
    for line in (ROOT / "cmake/dependencies.txt").read_text().splitlines():
        if not line.startswith("#"):
            yield dict(zip(COLUMNS, (cell.strip() for cell in line.split("|"))))


def load_recipe():
    """The class of the recipe, and {name: (least version, condition)} of its dependencies."""
    depends = {}

    def depends_on(spec, when=None, **_):
        name, _, version = spec.partition(" ")[0].partition("@")
        depends[name] = (version.rstrip(":"), when)

    def ignored(*_, **__):
        return None

    module = types.ModuleType("spack.package")
    module.CMakePackage = object
    module.depends_on = depends_on
    for name in ("version", "license", "variant", "conflicts", "generator"):
        setattr(module, name, ignored)
    module.__all__ = [name for name in vars(module) if not name.startswith("__")]
    sys.modules["spack"] = types.ModuleType("spack")
    sys.modules["spack.package"] = module
    path = ROOT / "packaging/spack/packages/forebay/package.py"
    scope = {"__file__": str(path)}
    exec(compile(path.read_text(), path, "exec"), scope)  # pylint: disable=exec-used
    return scope["Forebay"], depends


def options_set(recipe):
    """The CMake options that the recipe sets."""
    recipe.define_from_variant = lambda self, option, variant: option
    recipe.define = lambda self, option, value: option
    recipe.spec = types.SimpleNamespace(satisfies=lambda text: True)
    return set(recipe().cmake_args())


def least(text, package):
    """The version of a package in the table of the bootstrap, or None."""
    found = re.search(rf"^[+=]?{re.escape(package)} +([0-9.]+|-)", text, re.MULTILINE)
    return found.group(1) if found else None


def same(left, right):
    """True if they are the same version: 9 equals 9.0."""
    def digits(text):
        return [int(part) for part in text.split(".")][:2] + [0] * (1 - text.count("."))
    return left == right or all(re.fullmatch(r"[0-9.]+", text or "") for text in (left, right)) \
        and digits(left) == digits(right)


def problems_of(row, depends, bootstrap):
    """The differences between a row of the list and both others."""
    if row["debian"] != "-":
        there = least(bootstrap, row["debian"])
        if row["debian"] not in BY_COMMAND and row["least"] != "-" and not same(row["least"], there):
            yield f"{row['name']}: {row['least']} in CMake, {there} in the bootstrap"
    if row["spack"] == "-":
        return
    version, condition = depends.get(row["spack"], (None, None))
    if version is None or row["least"] != "-" and not same(row["least"], version):
        yield f"{row['name']}: {row['least']} in CMake, {version} in Spack's recipe"
    variant = row["option"].removeprefix("FOREBAY_").lower()
    if (row["option"] == "required") == bool(condition) or condition and not re.match(rf"\+{variant}$|{variant}=", condition):
        yield f"{row['name']}: {row['option']} in CMake, when {condition} in Spack's recipe"


def problems_of_recipe(recipe, rows, options):
    """The differences between the list and a recipe that is not Spack's."""
    column, packages, choices, pattern = OTHERS[recipe]
    text = (ROOT / "packaging" / packages).read_text().split("\nPackage:", maxsplit=1)[0]
    there = dict(re.findall(pattern, text, re.MULTILINE))
    chosen = dict(re.findall(r"-D(FOREBAY_[A-Z0-9]+)=(\S+)", (ROOT / "packaging" / choices).read_text()))
    if set(chosen) != options:
        yield f"{recipe} does not set {sorted(options - set(chosen))}; CMake has no {sorted(set(chosen) - options)}"
        return
    for row in rows:
        if row[column] == "-":
            continue
        value = chosen.get(row["option"], "ON")
        wanted = value == row["name"].lower() if row["option"] == "FOREBAY_FFT" else value != "OFF"
        name = OWN_NAMES.get((recipe, row[column]), row[column])
        if wanted != (name in there or "{" in name and name in text):
            state = "missing" if wanted else "there"
            yield f"{row['name']}: {row['option']} is {value} for {recipe}, but {name} is {state}"
        elif there.get(name) and row["least"] != "-" and not same(row["least"], there[name]):
            yield f"{row['name']}: {row['least']} in CMake, {there[name]} for {recipe}"
        elif wanted and recipe != "Apptainer" and name == row[column] and row["least"] != "-" and not there[name]:
            yield f"{row['name']}: {recipe} takes any version"


def main():
    """Prints the differences."""
    recipe, depends = load_recipe()
    cmake = (ROOT / "CMakeLists.txt").read_text() + (ROOT / "cmake/bundled.cmake").read_text()
    bootstrap = (ROOT / "scripts/bootstrap").read_text()
    rows = list(libraries())
    problems = [problem for row in rows for problem in problems_of(row, depends, bootstrap)]
    options = set(re.findall(r"^option\((FOREBAY_[A-Z0-9]+) ", cmake, re.MULTILINE)) - FOR_US_ALONE
    options |= {row["option"] for row in rows} - {"required"}
    unset = options - options_set(recipe)
    unknown = options_set(recipe) - options
    if unset or unknown:
        problems.append(f"Spack's recipe does not set {sorted(unset)}; CMake has no {sorted(unknown)}")
    for other in OTHERS:
        problems += problems_of_recipe(other, rows, options)
    least_cmake = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)", cmake).group(1)
    if not same(least_cmake, depends["cmake"][0]) or not same(least_cmake, least(bootstrap, "cmake")):
        problems.append(f"CMake {least_cmake}, but {depends['cmake']} in the recipe or another in the bootstrap")
    if pathlib.Path(recipe.git.removeprefix("file://")) != ROOT.resolve():
        problems.append(f"Spack's recipe takes the source from {recipe.git}")
    print("\n".join(problems) or f"packaging: {len(rows)} libraries and {len(options)} options agree")
    sys.exit(1 if problems else 0)


main()
