"""Goal: a room includes itself and the floors below it; MPI, libhdf5 and the system stay where they belong.

Method: reads every #include of src/, include/, apps/ and tests/ and holds it against the table below, which is
ARCHITECTURE.md's ("Rooms and floors"); that the two tables agree is checked as well, and that each line of the picture
of the storeys ("The house") is a floor.
"""

import re

import tree

FLOORS = {
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
TRANSFER = ("daos", "tree", "archive", "migrate", "runs", "transfer")
PATH = ("node", "stage", "catalog", "commit", "drain", "restart", "telemetry", "agent")
# The public headers belong to the rooms that implement them.
PUBLIC = {"forebay/h5part/H5Part.h": "h5part", "forebay/genericio/GenericIO.h": "genericio", "forebay/result.hpp": "base",
          "forebay/describe.hpp": "describe", "forebay/options.hpp": "describe"}
SYSTEM = re.compile(
    r"^(sys/|linux/|asm/|unistd\.h|fcntl\.h|sched\.h|dirent\.h|dlfcn\.h|signal\.h|poll\.h|pwd\.h|grp\.h|syscall\.h|"
    r"pthread\.h|mntent\.h|spawn\.h|netdb\.h|netinet/|arpa/|net/|ifaddrs\.h|termios\.h|ftw\.h|glob\.h|semaphore\.h|csignal)")
# Seconds to compile each: they stay in .cpp files, so that nobody pays for them twice.
HEAVY = re.compile(r"^(fmt/|nlohmann/|toml\+\+/|CLI/|toml\.hpp|curl/|openssl/|pugixml|cairo)")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    """Line number, whether in angle brackets, and name of each include."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1) == "<", match.group(2)


def room_of(include):
    """The room an include belongs to; None for what is not ours."""
    if include.startswith("forebay/"):
        return PUBLIC.get(include, "api")
    return tree.module_of(include)


def may_include(room, include):
    other = room_of(include)
    if other is None or other == room:
        return True
    # The program uses the library as any application does: by its public headers, never by the room api.
    if room == "program" and include.startswith("forebay/"):
        return True
    # The transfer tool stands beside the house: nothing needs it, and only its folder `runs` knows of saves.
    if other in TRANSFER and room not in TRANSFER:
        return False
    if room in TRANSFER and room != "runs" and other in PATH:
        return False
    return FLOORS[other] < FLOORS[room]


def floor_problems(path, room):
    for number, angled, include in includes(path):
        if not (angled and SYSTEM.match(include)) and not may_include(room, include):
            other = room_of(include)
            yield (f"{tree.shown(path)}:{number}: room {room} (floor {FLOORS[room]}) includes {include} of room {other} "
                   f"(floor {FLOORS[other]}); a room includes itself and floors below")


def library_problems(path):
    """MPI, libhdf5 and system headers outside their rooms."""
    name = tree.shown(path)
    is_test = name.endswith("_test.cpp") or name.startswith(("tests/", "transfer/tests/"))
    mpi = name.startswith(("apps/", "tests/mpi/", "tests/bindings/", "tests/support/mpi_", "include/forebay/mpi.hpp",
                           "include/forebay/genericio/", "tests/genericio/", "src/bench/")) or re.search(
        r"^(src/.*/(comm|api|python|h5part|genericio)|transfer/program)/mpi_", name)
    # The interface of H5Part has HDF5's types in it.
    hdf5 = name.startswith(("src/insight/h5/", "src/insight/views/", "src/insight/foreign/hdf5/",
                            "src/bindings/compat/made/h5part/", "src/bindings/compat/h5part/",
                            "src/bench/matrix/parallel_hdf5.cpp", "include/forebay/h5part/"))
    # What the CPU has is asked before there is any room but base.
    # The calls of libdfs take flags of open(2) and structures of stat(2).
    system = name.startswith(("src/core/sys/posix_", "src/core/base/crc32c/arm.hpp", "transfer/daos/dfs.hpp")) or is_test or name.startswith("apps/")
    for number, angled, include in includes(path):
        if (include == "mpi.h" or include == "forebay/mpi.hpp") and not mpi:
            yield f"{name}:{number}: {include} belongs to comm/mpi_*, api/mpi_*, python/mpi_*, h5part/mpi_*, bench, apps, tests/mpi and tests/bindings"
        if include.startswith(("hdf5", "H5")) and not hdf5:
            yield f"{name}:{number}: {include} belongs to the rooms h5, views, h5part and to foreign/hdf5 and made/h5part"
        if include.startswith("core/sys/posix_") and not name.startswith("src/core/sys/posix_"):
            yield f"{name}:{number}: {include} is private to src/core/sys/posix_*; use an interface of the room sys"
        if HEAVY.match(include) and name.startswith("include/"):
            yield f"{name}:{number}: {include} belongs in .cpp files, not in a public header"
        if angled and SYSTEM.match(include) and not system:
            yield f"{name}:{number}: <{include}> belongs to src/core/sys/posix_*, behind an interface of the room sys"


def heavy_problems(paths):
    """A header that includes a heavy one is as heavy itself: only .cpp files of its own room may include it."""
    heavy = {tree.shown(path).removeprefix("src/") for path in paths
             if path.suffix == ".hpp" and any(HEAVY.match(include) for _, _, include in includes(path))}
    for path in paths:
        name = tree.shown(path)
        for number, _, include in includes(path):
            own_room = tree.module_of(name) == tree.module_of(include)
            # Every verb prints.
            prints = include.startswith("core/terminal/") and name.startswith(("src/program/", "src/bench/", "transfer/"))
            if include in heavy and not ((own_room or prints) and path.suffix == ".cpp"):
                yield f"{name}:{number}: {include} is slow to compile; only .cpp files of its own room may include it"


def documented_floors():
    """The rows "| 3 | `stage` ..., `move` | ..." of ARCHITECTURE.md."""
    floors = {}
    for page in ("ARCHITECTURE.md", "transfer/docs/architecture.md"):
        for line in (tree.ROOT / page).read_text().splitlines():
            row = re.match(r"^\|\s*(\d+)\s*\|([^|]*)\|", line)
            if row:
                floors.update({room: int(row.group(1)) for room in re.findall(r"`([a-z0-9]+)`", row.group(2))})
    return floors


def picture_problems():
    """The picture of the storeys has a line for the rooms of a floor, the lowest one last."""
    text = (tree.ROOT / "ARCHITECTURE.md").read_text().split("## The house")[-1].split("```")[1]
    # Columns 12 to 71 hold rooms; before them stand storeys, behind them words. What is in brackets is to come.
    lines = [re.findall(r"[a-z0-9]+", re.sub(r"\(.*?\)", "", line)[12:72]) for line in text.splitlines()]
    pictured = [room for line in reversed(lines) for room in line]
    for room in sorted((set(FLOORS) - set(TRANSFER)) ^ set(pictured)):
        yield f"room {room} is only in {'this table' if room in FLOORS else 'the picture'}, not in the other"
    floors = [{FLOORS.get(room) for room in line} for line in reversed(lines) if line]
    for line in floors:
        if len(line) > 1:
            yield f"a line of the picture has rooms of the floors {sorted(map(str, line))}"
    lowest = [min(floor or 0 for floor in line) for line in floors]
    if lowest != sorted(lowest):
        yield f"the lines of the picture, from below, are the floors {lowest}"


def main():
    problems = list(picture_problems())
    checked = 0
    documented = documented_floors()
    for room in sorted(set(FLOORS) | set(documented)):
        if FLOORS.get(room) != documented.get(room):
            problems.append(f"room {room}: floor {FLOORS.get(room)} here, {documented.get(room)} in ARCHITECTURE.md")
    paths = tree.tracked(".cpp", ".hpp", under=("src/", "transfer/", "include/", "apps/", "tests/"))
    problems += heavy_problems(paths)
    for path in paths:
        checked += 1
        name = tree.shown(path)
        problems += library_problems(path)
        if name.startswith(("src/", "transfer/")) and not name.startswith("transfer/tests/"):
            room = tree.module_of(name)
            if room not in FLOORS:
                problems.append(f"{name}: {room} is no room; ARCHITECTURE.md and this test list them")
            else:
                problems += floor_problems(path, room)
        elif name.startswith("include/"):
            problems += floor_problems(path, PUBLIC.get(name.removeprefix("include/"), "api"))
    tree.finish("floors", checked, problems)


main()
