"""Goal: a wrapper around directories and files of a tree forwards every call. The interface itself would answer a
forgotten call as if there were no server and no special directory.

Method: the classes of team/team_lease.cpp must override every virtual function of sys/tree.hpp.
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
