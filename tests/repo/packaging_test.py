"""Goal: Spack's recipe, CMake and the bootstrap require the same libraries with the same least versions. The recipe
sets every CMake option that a site chooses.

Method: loads the recipe with a stand-in for Spack's module that records its declarations.
"""

import os
import pathlib
import re
import sys
import types

ROOT = pathlib.Path(os.environ.get("FOREBAY_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
# Spack's name, CMake's name, Debian's package.
LIBRARIES = [("isa-l", "libisal", "libisal-dev"), ("c-blosc", "blosc", "libblosc-dev"), ("zfp", "zfp", "libzfp-dev"),
             ("fmt", "fmt", "libfmt-dev"), ("cairo", "cairo", "libcairo2-dev"),
             ("nlohmann-json", "nlohmann_json", "nlohmann-json3-dev"),
             ("tomlplusplus", "tomlplusplus", "libtomlplusplus-dev"), ("cli11", "CLI11", "libcli11-dev"),
             ("hdf5", "hdf5-serial", "libhdf5-dev"), ("cmake", "cmake_minimum_required(VERSION", "cmake")]
FOR_US_ALONE = {"FOREBAY_AUDIT", "FOREBAY_BENCH", "FOREBAY_WERROR", "FOREBAY_FUZZ", "FOREBAY_SANITIZE"}


def load_recipe():
    """The class of the recipe, and {name: least version} of its dependencies."""
    depends = {}

    def depends_on(spec, **_):
        name, _, version = spec.partition(" ")[0].partition("@")
        depends[name] = version.rstrip(":")

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


def least(text, name, pattern):
    """The version required by `text`, without trailing zeros and blanks."""
    found = re.search(pattern.replace("NAME", re.escape(name)), text, re.MULTILINE)
    return found.group(1) if found else None


def same(left, right):
    """True if they are the same version: 9 equals 9.0."""
    return left and right and [int(x) for x in left.split(".")][:2] + [0] * (2 - len(left.split("."))) == \
        [int(x) for x in right.split(".")][:2] + [0] * (2 - len(right.split(".")))


def main():
    """Prints the differences."""
    recipe, depends = load_recipe()
    cmake = (ROOT / "CMakeLists.txt").read_text() + (ROOT / "cmake/dependencies.cmake").read_text()
    bootstrap = (ROOT / "scripts/bootstrap").read_text()
    problems = []
    for spack, ours, debian in LIBRARIES:
        versions = {"Spack's recipe": depends.get(spack), "CMake": least(cmake, ours, r"NAME(?:>=| )([0-9.]+)"),
                    "the bootstrap": least(bootstrap, debian, r"^\+?NAME +([0-9.]+)")}
        if not all(same(versions["CMake"], version) for version in versions.values()):
            problems.append(f"{ours}: {versions}")
    options = set(re.findall(r"^(?:option|set)\((FOREBAY_[A-Z0-9]+)", cmake, re.MULTILINE)) - FOR_US_ALONE
    options = {option for option in options if f"option({option} " in cmake}
    unset = options - options_set(recipe)
    unknown = options_set(recipe) - options
    if unset or unknown:
        problems.append(f"Spack's recipe does not set {sorted(unset)}; CMake has no {sorted(unknown)}")
    if pathlib.Path(recipe.git.removeprefix("file://")) != ROOT.resolve():
        problems.append(f"Spack's recipe takes the source from {recipe.git}")
    print("\n".join(problems) or f"packaging: {len(LIBRARIES)} libraries and {len(options)} options agree")
    sys.exit(1 if problems else 0)


main()
