"""Goal: a class name has one meaning in all modules, so that a reader recognises it.

Method: reads the names of all classes, structures and enumerations at the left margin of src/ and include/, also in
unnamed namespaces. No two modules may define the same name. Tests and nested types are left out.
"""

import collections
import re

import tree

DEFINED = re.compile(r"^(?:struct|class|enum class|enum) (?:\[\[nodiscard\]\] )?(\w+)(?: final)?(?: ?:[^:].*)? \{")


def module_of(name):
    return tree.module_of(name) or "include"


def main():
    places = collections.defaultdict(dict)
    checked = 0
    for path in tree.tracked(".cpp", ".hpp", under=("src/", "transfer/", "include/")):
        name = tree.shown(path)
        if re.search(r"_(test|fuzz)\.cpp$", name):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = DEFINED.match(line)
            if match:
                checked += 1
                places[match.group(1)].setdefault(module_of(name), f"{name}:{number}")
    problems = [f"{name} is a class of {len(modules)} modules: {', '.join(sorted(modules.values()))}"
                for name, modules in sorted(places.items()) if len(modules) > 1]
    tree.finish("names of classes", checked, problems)


main()
