"""Goal: words of other programs are answered with what is meant here, or that it does not exist; no guess names something else. What
is written like an address of a host or a store that is none is refused, and makes no directory.

Method: options and verbs that users of rsync, rclone, tar, cp and dsync type, those of the guide's table among them; places with
a colon, for each verb.
"""

import os
import pathlib
import re
import tempfile

from forebay_test import expect, forebay

ROOT = pathlib.Path(os.environ["FOREBAY_SOURCE_DIR"])
MEANT = {
    "copy": {"--no-owner": "--preserve", "--no-perms": "--preserve", "--sync": "forebay copy --help", "--delete-excluded": "leave it out",
             "--exclude-from=f": "use --exclude", "--update": "leave it out", "-u": "leave it out", "--chown": "leave it out",
             "--stats": "leave it out", "--compress": "leave it out", "--dereference": "leave it out", "--filter": "use --exclude",
             "--timeout": "leave it out", "--from0": "--null", "-t": "leave it out", "-e": "use paths of this machine", "--sha256": "leave it out",
             "-x": "--one-file-system", "--bwlimit=5": "--rate", "-c": "forebay sync SOURCE TARGET --checksum", "-H": "leave it out",
             "-aHAX": "leave it out", "--sparse": "leave it out", "--numeric-ids": "leave it out", "--progress": "leave it out",
             "-P": "leave it out", "--partial": "leave it out", "-q": "> /dev/null", "-i": "--dry-run --report", "-j": "--threads",
             "--transfers": "--threads", "--link-dest": "leave it out", "--max-size": "--files-from", "--min-age": "--files-from",
             "--backup": "leave it out", "--ignore-existing": "leave it out",
             "--remove-source-files": "forebay delete SOURCE", "--size-only": "leave it out", "--repotr": "--report,", "--zzz": "copy --help"},
    "walk": {"--bwlimit": "forebay walk --help", "-n": "forebay walk --help", "-j": "--threads"},
    "archive": {"--append": "forebay archive --help", "-cf": "leave it out", "-z": "leave it out", "--hosts": "leave it out", "--checksum": "forebay archive --help"},
    "restore-archive": {"-xf": "leave it out", "-C": "TARGET after", "-tf": "--dry-run --list"},
    "delete": {"-rf": "leave it out", "-j": "--threads", "--exclude-from": "forebay delete --help", "-u": "forebay delete --help",
               "-H": "forebay delete --help"},
    "compare": {"--size-only": "--no-bytes", "--exclude-from=f": "use --exclude"},
}
VERBS = {"cp": "forebay copy", "rm": "forebay delete", "mv": "forebay delete SOURCE", "diff": "forebay compare", "du": "forebay walk",
         "rsync": "forebay sync", "tar": "forebay archive", "help": "VERB --help", "version": "forebay --version", "list": "forebay --help"}


def next_of(*words):
    said = forebay(*words, code=2)
    return said[said.index("Next: ") + len("Next: "):].strip()


def check_words():
    for verb, options in MEANT.items():
        for option, meant in options.items():
            said = next_of(verb, "a", "b", option)
            expect(meant in said, f"{verb} {option}: {meant}", said)
            expect("if you mean that" not in said or meant.endswith(","), f"{verb} {option}: nothing is guessed", said)
    for verb, meant in VERBS.items():
        expect(meant in next_of(verb, "a"), f"the verb {verb}", next_of(verb, "a"))


def check_table():
    """The table of the guide holds words that are answered, and no others."""
    page = (ROOT / "transfer/docs/how-to/from-rsync.md").read_text(encoding="utf-8").split("## Words of other programs")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    words = [word for row in rows for word in re.findall(r"`([^`]+)`", row)]
    expect(len(words) > 40, "the table is found", page)
    for word in words:
        verb = "archive" if word.startswith("tar ") else "sync"
        option = word.split()[-1]
        said = next_of(verb, "a", "b", option) if option.startswith("-") else next_of(option)
        expect("if you mean that" not in said and f"Next: forebay {verb} --help" not in said, f"{word} is answered", said)


def check_places(place):
    os.chdir(place)
    pathlib.Path("tree").mkdir()
    pathlib.Path("tree/file").write_text("x")
    for word, hint in (("dtn1:x", "./dtn1:x"), ("remote:bucket", "./remote:bucket"), ("user@dtn1:/tmp/x", "./user@dtn1:/tmp/x"), ("s3:/b/x", "s3://b/x"),
                       ("S3://b/x", "s3://b/x"), ("gs://b/x", "./gs://b/x"), ("file:///tmp/x", "/tmp/x")):
        for words in (("copy", "tree", word), ("sync", "tree", word), ("copy", word, "new"), ("compare", "tree", word), ("archive", "tree", word),
                      ("archive", word, "new.tar"), ("restore-archive", word, "new"), ("walk", word), ("delete", word)):
            said = forebay(*words, code=2)
            expect("is not a valid place" in said and "daos://POOL/CONTAINER/PATH" in said, f"{words} is refused", said)
            expect(f"Next: {hint}" in said, f"{words}: what may be meant", said)
    forebay("copy", "tree", "./dtn1:x")
    forebay("copy", f"{place}/dtn1:x", "./again:1")
    forebay("compare", "./dtn1:x", "./again:1")
    expect(sorted(os.listdir()) == ["again:1", "dtn1:x", "tree"], "no directory was made of an address", str(os.listdir()))


def main():
    check_words()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        check_places(pathlib.Path(name))
    check_table()


main()
