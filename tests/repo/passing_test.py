"""Goal: what stands before the folders and files of a tree passes on all that they can do: a call that it forgot would be
answered by the interface itself, which knows of no server and no special folder.

Method: every virtual function of sys/tree.hpp is overridden by the classes of team/team_lease.cpp.
"""

import re

import tree

INTERFACES, PASSING = "src/core/sys/tree.hpp", "transfer/team/team_lease.cpp"


def main():
    virtual = set(re.findall(r"^    virtual (?!~)[^(]*?(\w+)\(", (tree.ROOT / INTERFACES).read_text(), re.MULTILINE))
    passed = set(re.findall(r"(\w+)\([^;{}]*?\)(?: const)? override", (tree.ROOT / PASSING).read_text()))
    problems = [f"{PASSING}: {name}() of {INTERFACES} is not passed on" for name in sorted(virtual - passed)]
    tree.finish("calls of trees", len(virtual), problems)


main()
