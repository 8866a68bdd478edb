"""Goal: a page about a machine states only facts with a source, and its script and configuration can be used as they are.

Method: reads the pages of docs/how-to/machines. Each begins with the warning that nobody tried it. Each row of the
facts has a link to public documentation, or states "not found" or a fact of Forebay or of a standard. `bash -n` reads
each script. The keys of the configuration are in docs/reference/configuration.md, and the options of `forebay job` in
docs/reference/commands.md. A page with each fault has to fail.
"""

import re
import subprocess

import tree

INDEX = "index.md"
BEGIN = "**Not tried there.**"
SOURCE = re.compile(r"\]\(https://[^)]+\)")
WITHOUT_SOURCE = re.compile(r"not found|^\| stripes \| GPFS has no stripes")
PARTS = ("## Facts", "## Build", "## Job script", "## First configuration")
CONTROL = """# Run on Nowhere

## Facts

| fact | value | source |
|---|---|---|
| memory | 1 TB | |

## Build

## Job script

```sh
exec forebay job --patience 3 -- srun ./simulation; done
```

```toml
slot = 2
```
"""
CONTROL_PROBLEMS = 6  # no warning, no source, no part of the configuration, no script, no option, no key


def blocks(text, language):
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def facts(text):
    table = text.partition("## Facts")[2].partition("\n## ")[0]
    return [row for row in table.splitlines() if row.startswith("| ") and not row.startswith("| fact ")]


def problems_of(name, text, keys, options):
    if not text.split("\n", 2)[2].startswith(BEGIN):
        yield f"{name}: does not begin with {BEGIN}"
    if name != INDEX:
        yield from (f"{name}: has no part {part}" for part in PARTS if f"\n{part}\n" not in text)
    for row in facts(text):
        if not SOURCE.search(row) and not WITHOUT_SOURCE.search(row):
            yield f"{name}: no source of {row}"
    for script in blocks(text, "sh"):
        read = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)
        if read.returncode != 0:
            yield f"{name}: bash cannot read a script: {read.stderr.strip()}"
    for call in re.findall(r"forebay job((?: --[a-z-]+(?: [^-\s`]\S*)?)*)", text):
        yield from (f"{name}: forebay job has no {option}" for option in re.findall(r"--[a-z-]+", call) if option not in options)
    for table in blocks(text, "toml"):
        yield from (f"{name}: no option {key}" for key in re.findall(r"^(\w+) = ", table, flags=re.MULTILINE) if key not in keys)


def main():
    reference = tree.ROOT / "docs/reference"
    keys = re.findall(r"^\| `(\w+)` \|", (reference / "configuration.md").read_text(), flags=re.MULTILINE)
    commands = (reference / "commands.md").read_text()
    options = re.findall(r"^  (--[a-z-]+)", commands.partition("### forebay job\n")[2].partition("\n### ")[0], flags=re.MULTILINE)
    problems = []
    found = list(problems_of("control", CONTROL, keys, options))
    if len(found) != CONTROL_PROBLEMS:
        problems.append(f"the control page has {CONTROL_PROBLEMS} faults, and the test sees {found}")
    pages = tree.tracked(".md", under=("docs/how-to/machines/",))
    index = next((page.read_text() for page in pages if page.name == INDEX), "")
    for page in pages:
        problems += problems_of(page.name, page.read_text(), keys, options)
        if page.name != INDEX and f"({page.name})" not in index:
            problems.append(f"{INDEX} does not list {page.name}")
    tree.finish("pages of machines", len(pages), problems)


main()
