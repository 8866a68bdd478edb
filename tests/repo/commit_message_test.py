"""Goal: `make hooks` makes git refuse a commit whose message breaks the rules, and take a good one.

Method: scripts/commit_message reads good and bad messages. Then it makes the hook in a scratch repository, and git
itself commits there. A hook of somebody else stays as it is.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import tree

SCRIPT = tree.ROOT / "scripts/commit_message"
REASON = "\n\nThe list grew with each removal.\n"
GOOD = (
    "Delete the inode list after the last removal" + REASON,
    "docs, tests: name the options that no page named" + REASON,
    "Process the last block first\n\nA reader waits for the last block.\n\n- It is small.\n",
    "Pass the step to the agent" + REASON + "# Please enter the commit message\n# " + "x" * 200 + "\n",
    "Add a page\n\nhttps://example.org/" + "x" * 200 + "\n",
    "Add a page" + REASON + "# ------------------------ >8 ------------------------\n" + "+ word" * 50 + "\n",
    "Merge branch 'site'\n",
    'Revert "Delete the inode list"\n',
    "fixup! Delete the inode list\n",
)
BAD = {
    "Delete the inode list after the last removal of the last file of the last " + "tree" + REASON: "characters",
    "Delete the inode list." + REASON: "full stop",
    "Deleted the inode list" + REASON: "begin with a verb",
    "Deletes the inode list" + REASON: "begin with a verb",
    "tests: deleting the inode list" + REASON: "begin with a verb",
    "The inode list is deleted" + REASON: "begin with a verb",
    "wip" + REASON: "two words",
    "Delete the inode list\n": "no body",
    "Delete the inode list\n# a comment is no reason\n": "no body",
    "Delete the inode list\nThe list grew with each removal.\n": "second line",
    "Delete the inode list\n\n" + "The list grew with each removal. " * 5 + "\n": "columns",
    "Delete the inode list\n\nWhat grew was the list.\n": "riddle",
    "Delete the inode list\n\nThe list that grew is the list which the removal read.\n": "two of",
}


def run(*words, folder=None):
    hidden = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True, env=environment, check=False)


def problems_of_messages(folder):
    file = folder / "message"
    for text in GOOD:
        file.write_text(text)
        done = run(sys.executable, SCRIPT, file)
        if done.returncode:
            yield f"a good message is refused: {text!r}\n{done.stderr}"
    for text, reason in BAD.items():
        file.write_text(text)
        done = run(sys.executable, SCRIPT, file)
        if not done.returncode or reason not in done.stderr or done.stderr.count("  - ") != 1:
            yield f"a bad message is not refused for {reason!r} alone: {text!r}\n{done.stderr}"


def problems_of_hook(folder):
    """In a repository of its own, with a copy of what the hook needs."""
    for name in ("scripts/commit_message", "tests/repo/english.py", "Makefile", "CMakeLists.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tree.ROOT / name, folder / name)

    def git(*words):
        return run("git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words, folder=folder)

    git("init", "--quiet")
    git("add", ".")
    for _ in range(2):  # a second time changes nothing
        done = run("make", "hooks", folder=folder)
        if done.returncode:
            yield f"make hooks fails: {done.stderr}"
    good = git("commit", "--quiet", "-m", GOOD[0])
    if good.returncode:
        yield f"git refuses a good message: {good.stderr}"
    for text, reason in BAD.items():
        bad = git("commit", "--quiet", "--allow-empty", "-m", text)
        if "# a comment" not in text and (not bad.returncode or reason not in bad.stderr):
            yield f"git takes a bad message: {text!r}\n{bad.stderr}"
    (folder / ".git/hooks/commit-msg").write_text("#!/bin/sh\nexit 0\n")
    if not run("make", "hooks", folder=folder).returncode:
        yield "make hooks replaces the hook of somebody else"


def main():
    if not shutil.which("git") or not shutil.which("make"):
        tree.skip("git or make is missing")
    with tempfile.TemporaryDirectory() as messages, tempfile.TemporaryDirectory() as repository:
        problems = [*problems_of_messages(Path(messages)), *problems_of_hook(Path(repository))]
    tree.finish("messages of commits", len(GOOD) + len(BAD), problems)


main()
