"""Goal: calls that are dangerous in another program's process are in one place. sys/posix_fd makes descriptors, and
never 0, 1 or 2. sys/posix_thread makes threads, and keeps signals and exceptions away.

Method: searches for the calls of libc and the standard library that make one. Descriptors for reading are allowed:
nothing can be printed into them.
"""

import re

import tree

# We use the names `open`, `accept` and `run` too: calls of libc have the colons.
DESCRIPTORS = re.compile(
    r"(?<![\w:>.])::(?:open|open64|openat|creat|accept|accept4)\s*\(|"
    r"(?<![\w>.])(?<!\w::)(?:socket|socketpair|pipe|pipe2|dup|dup2|dup3|opendir|epoll_create|epoll_create1|eventfd|"
    r"memfd_create|inotify_init|inotify_init1|signalfd|timerfd_create|shm_open|mkstemp|mkostemp|popen|fopen|freopen|"
    r"tmpfile)\s*\(|"
    r"\b(?:std::)?(?:basic_)?(?:ofstream|fstream|filebuf)\b|\bF_DUPFD(?:_CLOEXEC)?\b")
THREADS = re.compile(r"\bstd::(?:thread|jthread|async)\b(?!::hardware)|\bpthread_create\b")
PLACES = {
    "src/core/sys/posix_fd.cpp": (DESCRIPTORS, "gives a descriptor; take one from sys/posix_fd.hpp"),
    "src/core/sys/posix_thread.cpp": (THREADS, "starts a thread; take one from sys/thread.hpp"),
}
DECLARED = {"src/core/sys/thread.hpp": THREADS}


def code_of(line):
    """The line without its comment and without the content of its texts."""
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', line).split("//")[0]


def problems_in(path):
    name = tree.shown(path)
    for number, line in enumerate(path.read_text().splitlines(), 1):
        code = code_of(line)
        if "#include" in code:
            continue
        for place, (calls, why) in PLACES.items():
            found = calls.search(code)
            if found and name != place and DECLARED.get(name) is not calls:
                yield f"{name}:{number}: {found.group(0).strip('(: ')} {why}"


def main():
    problems = []
    checked = 0
    for path in tree.tracked(".cpp", ".hpp", under=("src/", "transfer/")):
        if path.name.endswith(("_test.cpp", "_fuzz.cpp")) or tree.shown(path).startswith("transfer/tests/"):
            continue
        checked += 1
        problems += problems_in(path)
    for place, (calls, _) in PLACES.items():
        path = tree.ROOT / place
        if not path.is_file() or not calls.search(path.read_text()):
            problems.append(f"{place} has none of the calls that this test looks for")
    tree.finish("places", checked, problems)


main()
