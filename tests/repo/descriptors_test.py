"""Goal: whatever opens a file, socket, pipe or directory that can be written to gets its number from sys/posix_fd, which
never gives 0, 1 or 2.

Method: looks for the calls of libc and of the standard library that give descriptors. What is only read is let through:
nothing can be printed into it.
"""

import re

import tree

PLACE = "src/sys/posix_fd.cpp"
CALLS = re.compile(
    r"(?<![\w>.])(?:::)?(?<!\w::)(open|open64|openat|creat|socket|socketpair|accept|accept4|pipe|pipe2|dup|dup2|dup3|opendir|"
    r"epoll_create|epoll_create1|eventfd|memfd_create|inotify_init|inotify_init1|signalfd|timerfd_create|shm_open|"
    r"mkstemp|mkostemp|popen|fopen|freopen|tmpfile)\s*\(")
# `open` and its like are names of our own functions as well: those of libc are called with the colons.
OUR_NAMES = {"open", "accept"}
STREAMS = re.compile(r"\b(?:std::)?(?:basic_)?(?:ofstream|fstream|filebuf)\b")
DUPLICATES = re.compile(r"\bF_DUPFD(?:_CLOEXEC)?\b")


def code_of(line):
    """The line without its comment and the insides of its texts."""
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', line).split("//")[0]


def problems_in(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        code = code_of(line)
        found = [match.group(0) for match in CALLS.finditer(code)
                 if match.group(0).startswith("::") or match.group(1) not in OUR_NAMES]
        found += STREAMS.findall(code) + DUPLICATES.findall(code)
        if "#include" not in code:
            for what in found:
                yield f"{tree.shown(path)}:{number}: {what.strip('(: ')} gives a descriptor; take one from sys/posix_fd.hpp"


def main():
    problems = []
    checked = 0
    paths = tree.tracked(".cpp", ".hpp", under=("src/",))
    for path in paths:
        if path.name.endswith(("_test.cpp", "_fuzz.cpp")) or tree.shown(path) == PLACE:
            continue
        checked += 1
        problems += problems_in(path)
    place = tree.ROOT / PLACE
    if not place.is_file() or not CALLS.search(place.read_text()):
        problems.append(f"{PLACE} opens nothing: this test looks for the wrong calls")
    tree.finish("descriptors", checked, problems)


main()
