"""Goal: the page of `forebay report` is valid HTML, draws what it has in a real browser without an error and without a
request, and belongs to whom it belongs.

Method: pages of made runs, hostile ones among them, go through tidy and through Chromium without a network; what it has
made of a page is searched for its pictures and tables, its console for errors. Files of others are not replaced.
"""

import importlib.util
import os
import pathlib
import re
import shutil
import sys
import tempfile

from forebay_test import BUILD, FOREBAY, expect, output_of, run

PAGE_BYTES_MAX = 150_000
RUNS = {
    "slow": ["targets=24", "slow_node=3", "slow_target=20", "slow_target_ratio=0.1"],
    "mixed": ["mixed=1", "targets=4", "servers=2"],
    "hostile": ["mixed=1", "hostile=1", "targets=5", "slow_node=1"],
    "alone": ["nodes=1", "snapshots=1"],
}


def tidy_problems(page):
    # The parser of Debian 12 knows no nonce. The Content-Security-Policy needs a nonce.
    done = run("tidy", "-quiet", "-errors", "--warn-proprietary-attributes", "no", page, code=None)
    return [line for line in done.stderr.splitlines() if line]


def drawn(page, width, scratch):
    """The document after its scripts have run, and what it has said to the console."""
    done = run("chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},1200",
               f"--user-data-dir={scratch}/profile", "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr",
               "--virtual-time-budget=5000", "--dump-dom", f"file://{page}")
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def check_drawn(name, page, scratch):
    for width in (360, 1200):
        document, said = drawn(page, width, scratch)
        expect(not said, f"{name}: nothing in the console", said)
        shown = re.findall(r'<section id="(\w+)">', document)
        named = ["targets"] if name != "alone" else []  # where the layout is known
        expect(shown == ["rate", "snapshots", "nodes", *named, "heat"], f"{name}: every section is shown", shown)
        expect(document.count("<svg") == 3 + 2 * len(named) and document.count("<canvas") >= 1, f"{name}: every picture is drawn",
               (document.count("<svg"), document.count("<canvas")))
        expect(document.count('role="img"') >= 5 + 2 * len(named), f"{name}: every picture has its words")
        expect(document.count("<table") >= 5 + len(named), f"{name}: each has a table beside it")
        expect((">oss1</text>" in document) == (name == "mixed"), f"{name}: targets are grouped by server")
        expect("<img" not in document, f"{name}: names are text")
        expect("NaN" not in re.sub(r"<script.*?</script>", "", document, flags=re.DOTALL), f"{name}: every number is one")
        expect("&lt;/script&gt;" in document or name != "hostile", "hostile names are shown")


def check_places(scratch, made):
    page, other = scratch / "page.html", scratch / "other.html"
    expect(str(page.name) in output_of(FOREBAY, "report", made, "--html", page), "it says what it wrote")
    output_of(FOREBAY, "report", made, "--html", page)  # its own page
    other.write_text("<!DOCTYPE html>\n<p>mine</p>\n")
    done = run(FOREBAY, "report", made, "--html", other, code=2)
    expect("--replace" in done.stderr and "mine" in other.read_text(), "a page of others stays", done.stderr)
    output_of(FOREBAY, "report", made, "--html", other, "--replace")
    expect("mine" not in other.read_text(), "unless it is to be replaced")
    expect(page.stat().st_mode & 0o777 == 0o666 & ~current_umask(), "with the mode of any new file")
    first, second = (re.search(r"'nonce-(\w+)'", each.read_text()).group(1) for each in (page, other))
    expect(first != second and len(first) == 32, "each page has a nonce of its own")
    left = sorted(path.name for path in scratch.iterdir() if "page.html" in path.name or "other.html" in path.name)
    expect(left == ["other.html", "page.html"], "nothing is left beside", left)
    table = scratch / "targets.csv"
    output_of(FOREBAY, "report", made, "--csv-targets", table)
    output_of(FOREBAY, "report", made, "--csv-targets", table)
    lines = table.read_text().splitlines()
    expect(len(lines) == 25 and lines[0].startswith("run,target,bytes"), "a line for each target", lines[:2])
    expect(lines[21].split(",")[1] == '"OST0020"' and 0.05 < float(lines[21].split(",")[7]) < 0.2, "with its ratio", lines[21])


def check_png(scratch, made):
    """By the interpreter of the tests, and by one without matplotlib."""
    picture, python = scratch / "page.png", scratch / "bin"
    python.mkdir()
    (python / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (python / "python3").chmod(0o755)
    reach = {"env": os.environ | {"PATH": f"{python}:{os.environ['PATH']}"}}
    output_of(FOREBAY, "report", made, "--png", picture, **reach)
    run(FOREBAY, "report", made, "--png", picture, code=2, **reach)
    output_of(FOREBAY, "report", made, "--png", picture, "--replace", **reach)
    head = picture.read_bytes()[:24]
    expect(head[:8] == b"\x89PNG\r\n\x1a\n" and int.from_bytes(head[16:20], "big") == 1400, "a picture of 1400 pixels", head)
    (python / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    done = run(FOREBAY, "report", made, "--png", picture, "--replace", code=6, **reach)
    expect("no matplotlib" in done.stderr and picture.read_bytes()[:24] == head, "without matplotlib it stays", done.stderr)
    (python / "python3").write_text("#!/bin/sh\necho broken >&2\n")
    done = run(FOREBAY, "report", made, "--png", picture, "--replace", code=7, **reach)
    expect("it said broken" in done.stderr, "what an interpreter says is told", done.stderr)
    left = sorted(path.name for path in scratch.iterdir() if "page.png" in path.name)
    expect(left == ["page.png"], "nothing is left beside", left)


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def main():
    missing = [program for program in ("tidy", "chromium") if shutil.which(program) is None]
    with tempfile.TemporaryDirectory(prefix="forebay-report-") as folder:
        scratch = pathlib.Path(folder).resolve()
        for name, options in RUNS.items():
            run(BUILD / "tests" / "make_told_run", scratch / name, *options)
            page = scratch / f"{name}.html"
            output_of(FOREBAY, "report", scratch / name, "--html", page)
            expect(page.stat().st_size <= PAGE_BYTES_MAX, f"{name}: at most {PAGE_BYTES_MAX} bytes")
            if "tidy" not in missing:
                expect(not tidy_problems(page), f"{name}: HTML without a warning", tidy_problems(page))
            if "chromium" not in missing and "built without uPlot" not in page.read_text():
                check_drawn(name, page, scratch)
        check_places(scratch, scratch / "slow")
        if importlib.util.find_spec("matplotlib"):
            check_png(scratch, scratch / "hostile")
        else:
            missing.append("matplotlib")
        several = scratch / "several.html"
        output_of(FOREBAY, "report", *(scratch / name for name in RUNS), "--html", several)
        if "chromium" not in missing:
            document, said = drawn(several, 800, scratch)
            expect(not said and '<section id="scaling">' in document, "the scaling over runs is drawn", said)
        broken = scratch / "broken.html"
        broken.write_text((scratch / "slow.html").read_text().replace("</table>", "", 1).replace("show_heat(data.heat)", "nobody()"))
        if "tidy" not in missing:
            expect(tidy_problems(broken), "tidy finds what is broken")
        if "chromium" not in missing:
            expect(drawn(broken, 800, scratch)[1], "an error of a script is seen")
    print(f"{len(RUNS)} pages are valid and drawn")
    if missing:
        print(f"skipped: {' and '.join(missing)} is not installed")
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
