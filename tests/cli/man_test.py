"""Goal: each verb has a man page with the text of its --help, and man shows it without a warning.

Method: docs/man_pages.py writes the pages of the built program. Each word of each help is looked for in the page as man
renders it: a line that roff takes for a command would be lost. A help of our own has such lines.
"""

import os
import pathlib
import re
import shutil
import sys
import tempfile

from forebay_test import FOREBAY, expect, run

sys.path.insert(0, str(pathlib.Path(os.environ["FOREBAY_SOURCE_DIR"]) / "docs"))
import generate  # noqa: E402  # pylint: disable=wrong-import-position,import-error
import man_pages  # noqa: E402  # pylint: disable=wrong-import-position,import-error

MAN = next((program for program in ("man", "mandoc") if shutil.which(program)), None)
HOSTILE = """Say what is hard
Usage: forebay hard [OPTIONS] FILE

Options:
  -h,--help                   .hidden is no command
  --a-long-name-of-an-option TEXT=C:\\new
                              'quoted' is none either

Examples:
  forebay hard \\n .TH
.SH stays
'tis text
Exit code 1.
"""


def words_of(text):
    return re.findall(r"[^\s\"'`‘’,]+", text.replace("\N{HYPHEN}", "-"))


def rendered(page, folder):
    (folder / "page.1").write_text(page)
    if MAN == "mandoc":
        return run("mandoc", "-Tutf8", "-Owidth=400", folder / "page.1").stdout
    environment = os.environ | {"MANWIDTH": "400", "LC_ALL": "C.UTF-8", "MANPAGER": "cat", "MAN_KEEP_FORMATTING": ""}
    done = run("man", "--warnings", "-l", folder / "page.1", env=environment)
    expect(not done.stderr, "man warns", done.stderr)
    return done.stdout


def lost_words(help_text, page, folder):
    """Words of a help that its page does not show."""
    shown = set(words_of(re.sub(r"\x1b\[[\d;]*m|.\x08", "", rendered(page, folder))))
    purpose, _, rest = help_text.partition("\n")
    titles = r"^(Positionals|Options|Subcommands|[A-Z][^:\n]*):$|Usage:"
    return [word for word in words_of(re.sub(titles, "", purpose[1:] + "\n" + rest, flags=re.M))
            if word not in shown and word != words_of(purpose[1:])[0]]


def main():
    pages = man_pages.pages(FOREBAY)
    verbs = generate.commands_within(generate.help_of(FOREBAY, []))
    expect("forebay.1" in pages and len(verbs) > 20, "forebay has a page and verbs", f"{list(pages)} {verbs}")
    for verb in verbs:
        try:
            text = generate.help_of(FOREBAY, [verb])
        except generate.NotBuilt:
            continue
        expect(f"forebay-{verb}.1" in pages, f"forebay {verb} has a page", list(pages))
        for option in re.findall(r"^  (?:-\w,)?--([a-z0-9-]+)", text, re.M):
            page = pages[f"forebay-{verb}.1"].replace("\\-", "-")
            expect(f"--{option}" in page, f"the page of forebay {verb} has --{option}", page)
    for program in man_pages.OTHERS:
        expect((FOREBAY.parent / program).exists() == (f"{program}.1" in pages), f"{program} has a page if it is built")
    if not MAN:
        print("skipped: neither man nor mandoc is there to render the pages")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        texts = {"forebay-hard": HOSTILE} | {f"forebay-{verb}": generate.help_of(FOREBAY, [verb]) for verb in
                                             ("ls", "top", "plan", "export")}
        for title, text in texts.items():
            page = man_pages.page(title, text, "1.2.3", ["forebay"])
            lost = lost_words(text, page, folder)
            expect(not lost, f"the man page of {title} shows its help", lost)
        careless = man_pages.page("forebay-hard", HOSTILE, "1.2.3", []).replace("\\&", "").replace("\\e", "\\")
        try:
            lost = lost_words(HOSTILE, careless, folder)
        except AssertionError as warned:
            lost = str(warned)
        expect(lost, "a page without escapes loses words, or man warns")
    print(f"{len(pages)} man pages; {MAN} shows them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
