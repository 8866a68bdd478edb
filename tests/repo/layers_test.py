"""Goal: a module includes only itself and lower layers. MPI, libhdf5 and system headers stay in their modules.

Method: reads every #include of src/, include/, apps/ and tests/ and compares it with the table below, which is the
table of ARCHITECTURE.md ("Modules and layers"). The test also checks that the two tables agree, and that each line of
the picture ("The house") is a layer.
"""

import re

import tree

LAYERS = {
    "base": 0,
    "describe": 1,
    "format": 2, "codec": 2, "sys": 2, "comm": 2,
    "terminal": 3, "h5": 3, "node": 3, "move": 3, "forward": 3, "s3": 3, "daos": 3,
    "stage": 4, "catalog": 4, "tree": 4,
    "commit": 5, "drain": 5, "restart": 5, "telemetry": 5, "archive": 5,
    "agent": 6, "outline": 6, "foreign": 6, "insitu": 6, "report": 6, "advice": 6, "runs": 6,
    "views": 7, "made": 7, "migrate": 7,
    "api": 8, "program": 8, "transfer": 8,
    "fortran": 9, "python": 9, "h5part": 9, "genericio": 9, "bench": 9,
}
TRANSFER = ("tree", "archive", "migrate", "runs", "transfer")
PATH = ("node", "stage", "catalog", "commit", "drain", "restart", "telemetry", "agent")
# A public header belongs to the module that implements it.
PUBLIC = {"forebay/h5part/H5Part.h": "h5part", "forebay/genericio/GenericIO.h": "genericio", "forebay/result.hpp": "base",
          "forebay/describe.hpp": "describe", "forebay/options.hpp": "describe"}
SYSTEM = re.compile(
    r"^(sys/|linux/|asm/|unistd\.h|fcntl\.h|sched\.h|dirent\.h|dlfcn\.h|signal\.h|poll\.h|pwd\.h|grp\.h|syscall\.h|"
    r"pthread\.h|mntent\.h|spawn\.h|netdb\.h|netinet/|arpa/|net/|ifaddrs\.h|termios\.h|ftw\.h|glob\.h|semaphore\.h|csignal)")
# These cost seconds to compile. In .cpp files each is compiled only once.
HEAVY = re.compile(r"^(fmt/|nlohmann/|toml\+\+/|CLI/|toml\.hpp|curl/|openssl/|pugixml|cairo)")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    """Line number, angle brackets or not, and name of each include."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == "<", match.group(2)


def module_of(include):
    """The module of an include; None for foreign headers."""
    if include.startswith("forebay/"):
        return PUBLIC.get(include, "api")
    return tree.module_of(include)


def may_include(module, include):
    other = module_of(include)
    if other is None or other == module:
        return True
    # The program uses the library like any application: by its public headers, not by the module api.
    if module == "program" and include.startswith("forebay/"):
        return True
    # Nothing may need the transfer tool. Only its directory `runs` knows saves.
    if other in TRANSFER and module not in TRANSFER:
        return False
    if module in TRANSFER and module != "runs" and other in PATH:
        return False
    return LAYERS[other] < LAYERS[module]


def layer_problems(path, module):
    for number, angled, include in includes(path):
        if not (angled and SYSTEM.match(include)) and not may_include(module, include):
            other = module_of(include)
            yield (f"{tree.shown(path)}:{number}: module {module} (layer {LAYERS[module]}) includes {include} of module {other} "
                   f"(layer {LAYERS[other]}); a module includes itself and layers below")


def library_problems(path):
    """MPI, libhdf5 and system headers outside their modules."""
    name = tree.shown(path)
    is_test = name.endswith("_test.cpp") or name.startswith(("tests/", "transfer/tests/"))
    mpi = name.startswith(("apps/", "tests/mpi/", "tests/bindings/", "tests/support/mpi_", "include/forebay/mpi.hpp",
                           "include/forebay/genericio/", "tests/genericio/", "src/bench/")) or re.search(
        r"^(src/.*/(comm|api|python|h5part|genericio)|transfer/program)/mpi_", name)
    # H5Part's interface contains HDF5's types.
    hdf5 = name.startswith(("src/insight/h5/", "src/insight/views/", "src/insight/foreign/hdf5/",
                            "src/bindings/compat/made/h5part/", "src/bindings/compat/h5part/",
                            "src/bench/matrix/parallel_hdf5.cpp", "include/forebay/h5part/"))
    # The CPU's features are needed before any module except base exists. The calls of libdfs take flags of open(2) and
    # structures of stat(2).
    system = name.startswith(("src/core/sys/posix_", "src/core/base/crc32c/arm.hpp", "src/core/daos/dfs.hpp")) or is_test or name.startswith("apps/")
    for number, angled, include in includes(path):
        if (include == "mpi.h" or include == "forebay/mpi.hpp") and not mpi:
            yield f"{name}:{number}: {include} belongs to comm/mpi_*, api/mpi_*, python/mpi_*, h5part/mpi_*, bench, apps, tests/mpi and tests/bindings"
        if include.startswith(("hdf5", "H5")) and not hdf5:
            yield f"{name}:{number}: {include} belongs to the modules h5, views, h5part and to foreign/hdf5 and made/h5part"
        if include.startswith("core/sys/posix_") and not name.startswith("src/core/sys/posix_"):
            yield f"{name}:{number}: {include} is private to src/core/sys/posix_*; use an interface of the module sys"
        if HEAVY.match(include) and name.startswith("include/"):
            yield f"{name}:{number}: {include} belongs in .cpp files, not in a public header"
        if angled and SYSTEM.match(include) and not system:
            yield f"{name}:{number}: <{include}> belongs to src/core/sys/posix_*, behind an interface of the module sys"


def heavy_problems(paths):
    """A header with a heavy include is heavy too: only .cpp files of its own module may include it."""
    heavy = {tree.shown(path).removeprefix("src/") for path in paths
             if path.suffix == ".hpp" and any(HEAVY.match(include) for _, _, include in includes(path))}
    for path in paths:
        name = tree.shown(path)
        for number, _, include in includes(path):
            own_module = tree.module_of(name) == tree.module_of(include)
            # Every verb prints.
            prints = include.startswith("core/terminal/") and name.startswith(("src/program/", "src/bench/", "transfer/"))
            if include in heavy and not ((own_module or prints) and path.suffix == ".cpp"):
                yield f"{name}:{number}: {include} is slow to compile; only .cpp files of its own module may include it"


def documented_floors():
    """The rows "| 3 | `stage` ..., `move` | ..." of ARCHITECTURE.md."""
    layers = {}
    for page in ("ARCHITECTURE.md", "transfer/docs/architecture.md"):
        for line in (tree.ROOT / page).read_text().splitlines():
            row = re.match(r"^\|\s*(\d+)\s*\|([^|]*)\|", line)
            if row:
                layers.update({module: int(row.group(1)) for module in re.findall(r"`([a-z0-9]+)`", row.group(2))})
    return layers


def picture_problems():
    """The picture has a line for the modules of each layer, the lowest last."""
    text = (tree.ROOT / "ARCHITECTURE.md").read_text().split("## The house")[-1].split("```")[1]
    # Columns 12 to 71 hold modules. Layers stand before them, words after them. Brackets hold future modules.
    lines = [re.findall(r"[a-z0-9]+", re.sub(r"\(.*?\)", "", line)[12:72]) for line in text.splitlines()]
    pictured = [module for line in reversed(lines) for module in line]
    for module in sorted((set(LAYERS) - set(TRANSFER)) ^ set(pictured)):
        yield f"module {module} is only in {'this table' if module in LAYERS else 'the picture'}, not in the other"
    layers = [{LAYERS.get(module) for module in line} for line in reversed(lines) if line]
    for line in layers:
        if len(line) > 1:
            yield f"a line of the picture has modules of the layers {sorted(map(str, line))}"
    lowest = [min(layer or 0 for layer in line) for line in layers]
    if lowest != sorted(lowest):
        yield f"the lines of the picture, from below, are the layers {lowest}"


def main():
    problems = list(picture_problems())
    checked = 0
    documented = documented_floors()
    for module in sorted(set(LAYERS) | set(documented)):
        if LAYERS.get(module) != documented.get(module):
            problems.append(f"module {module}: layer {LAYERS.get(module)} here, {documented.get(module)} in ARCHITECTURE.md")
    paths = tree.tracked(".cpp", ".hpp", under=("src/", "transfer/", "include/", "apps/", "tests/"))
    problems += heavy_problems(paths)
    for path in paths:
        checked += 1
        name = tree.shown(path)
        problems += library_problems(path)
        if name.startswith(("src/", "transfer/")) and not name.startswith("transfer/tests/"):
            module = tree.module_of(name)
            if module not in LAYERS:
                problems.append(f"{name}: {module} is no module; ARCHITECTURE.md and this test list them")
            else:
                problems += layer_problems(path, module)
        elif name.startswith("include/"):
            problems += layer_problems(path, PUBLIC.get(name.removeprefix("include/"), "api"))
    tree.finish("layers", checked, problems)


main()
