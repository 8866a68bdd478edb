"""Goal: the pages are written plainly.

Method: reads the prose of every page, without code and links, and measures it. The limits come from documents that
people like to read (LevelDB, rclone, zstd, openPMD). The measures cannot see whether a page is true or clear; they find
the style that nobody follows at night. A control text has to fail, and a plain text has to pass.
"""

import english
import tree


def main():
    problems = []
    if not english.faults(english.prose(english.CONTROL)):
        problems.append("the control text passes: this test measures nothing")
    if english.faults(english.prose(english.PLAIN)) != []:
        problems.append(f"a plain text fails: {english.faults(english.prose(english.PLAIN))}")
    checked = 0
    for path in tree.tracked(".md", under=("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/", "transfer/")):
        over = english.faults(english.prose(path.read_text(encoding="utf-8")))
        checked += over is not None
        problems += [f"{tree.shown(path)}: {fault}" for fault in over or []]
    tree.finish("plain English of pages", checked, problems)


if __name__ == "__main__":
    main()
