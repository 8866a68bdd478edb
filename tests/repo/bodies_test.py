"""Goal: a class is one noun and is read in one place: its bodies are in at most two .cpp files.

Method: reads the heads of functions in src/ and transfer/. In formatted sources they begin in the first column. Counts
the files of each qualified name. Alternatives of a build, mpi_NAME.cpp and serial_NAME.cpp, count as one. Tests are
left out. The test first checks its reading on made sources.
"""

import collections
import re

import tree

FILES_MAX = 2
HEAD = re.compile(r"^(?:[A-Za-z_][\w:<>,&*()\s]*?[\s&*>])?((?:[A-Z]\w*::)+)(?:~?\w+|operator\s*\S+?)\(")
NO_HEAD = re.compile(r"^(?://|#|return\b|using\b|static_assert\b|extern\b)|;\s*$")
ALTERNATIVE = re.compile(r"^(?:mpi|serial)_(?=\w+\.cpp$)")

MADE = {
    "src/a/one.cpp": "Result<std::vector<int>> Group::Part::sum(const Other::Kind& kind) const {\nGroup::Group() : x(1) {}\n",
    "src/a/two.cpp": "// Group::wait() comes first.\nvoid Group::wait() {\n    Group::sum();\n",
    "src/a/mpi_binding.cpp": "Group::~Group() = default;\nGroup::Kind Group::kind_of(int x) {\n",
    "src/a/serial_binding.cpp": "bool Group::operator==(const Group& other) const {\n",
    "src/a/call.cpp": "const auto state = Group::begin();\nint use(Group::Kind kind) {\n",
}


def classes_of(text):
    """The qualified names of the classes with function bodies in the text."""
    for line in text.splitlines():
        if NO_HEAD.search(line) and not line.rstrip().endswith("= default;"):
            continue
        if match := HEAD.match(line):
            yield match.group(1)[:-2]


def files_of_classes(sources):
    """Maps (name, text) of sources to the file names of each class."""
    files = collections.defaultdict(set)
    for name, text in sources:
        folder, _, base = name.rpartition("/")
        for class_name in classes_of(text):
            files[class_name].add(f"{folder}/{ALTERNATIVE.sub('*_', base)}")
    return files


def main():
    expected = {"Group::Part": {"src/a/one.cpp"}, "Group": {"src/a/one.cpp", "src/a/two.cpp", "src/a/*_binding.cpp"}}
    problems = []
    if (seen := dict(files_of_classes(MADE.items()))) != expected:
        problems.append(f"the reading of made sources gives {seen}, not {expected}")
    sources = [(tree.shown(path), path.read_text()) for path in tree.tracked(".cpp", under=("src/", "transfer/"))
               if not path.name.endswith(("_test.cpp", "_fuzz.cpp"))]
    files = files_of_classes(sources)
    for class_name, names in sorted(files.items()):
        if len(names) > FILES_MAX:
            problems.append(f"{class_name} has bodies in {len(names)} files, at most {FILES_MAX}: "
                            f"{', '.join(sorted(names))}. Give a part of it a class of its own")
    tree.finish("classes with bodies", len(files), problems)


main()
