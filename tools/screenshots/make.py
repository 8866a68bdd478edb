#!/usr/bin/env python3
"""Makes the pictures of docs/how-to/watch-a-run.md: docs/pictures/top.png, watch.png and report.png.

  build/venv/bin/python tools/screenshots/make.py [--build build] [--steps 400]

It needs a build with the Python package, Chromium and Pillow. It runs the heat equation of the tutorials, looks at the
run while it computes, and reads its report at the end. Each picture has at most 100 kB.
"""
import argparse
import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs/pictures"
BYTES_MAX = 100_000
COLOURS = (128, 64, 32, 16)
SCREEN = """<!doctype html><meta charset="utf-8"><body style="margin:0; background:#10171c; color:#d7e0e5">
<pre style="margin:0; padding:16px; font:15px/1.45 'DejaVu Sans Mono', monospace">{text}</pre>"""


def picture(address, name, width, height):
    """A picture of a page, with as many colours as its size allows."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        sys.exit("forebay: Chromium is missing.\n  Next: apt-get install chromium")
    with tempfile.TemporaryDirectory() as profile:
        whole = pathlib.Path(profile) / "whole.png"
        subprocess.run([chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                        f"--user-data-dir={profile}", f"--window-size={width},{height}", "--timeout=8000",
                        f"--screenshot={whole}", address], check=True, capture_output=True, timeout=180)
        shot = Image.open(whole).convert("RGB")
        for colours in COLOURS:
            shot.quantize(colours).save(PICTURES / name, optimize=True)
            if (PICTURES / name).stat().st_size <= BYTES_MAX:
                break
        else:
            sys.exit(f"forebay: {name} has more than {BYTES_MAX} bytes.\n  Next: make its window smaller in {__file__}")
    print(f"docs/pictures/{name}: {(PICTURES / name).stat().st_size} bytes, {colours} colours")


def picture_of_text(text, name, folder):
    page = folder / "screen.html"
    page.write_text(SCREEN.format(text=html.escape(text)), encoding="utf-8")
    lines = text.rstrip().split("\n")
    picture(page.as_uri(), name, 32 + int(9.1 * max(map(len, lines))), 32 + 22 * len(lines))


def watched(program, run):
    """The picture of the live page."""
    with subprocess.Popen([program, "watch", run], stdout=subprocess.PIPE, text=True) as server:
        try:
            address = re.match(r"http\S+", server.stdout.readline())[0]
            picture(address, "watch.png", 1000, 760)
        finally:
            server.terminate()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--steps", default="400", help="steps that are computed before the pictures")
    chosen = parser.parse_args()
    program = (chosen.build / "bin/forebay").resolve()
    environment = os.environ | {"PYTHONPATH": str((chosen.build / "python").resolve()), "COLUMNS": "100",
                                "FOREBAY_AGENT": str(program)}
    PICTURES.mkdir(exist_ok=True)
    # The pictures show the name of the folder. An agent may still write there at the end.
    with tempfile.TemporaryDirectory(prefix="scratch-", ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name) / "me"
        folder.mkdir()
        (folder / "stage").mkdir()
        options = (ROOT / "docs/tutorials/forebay.toml").read_text(encoding="utf-8")
        (folder / "forebay.toml").write_text(f'staging = "{folder}/stage"\n\n{options}', encoding="utf-8")

        def heat(steps):
            program_of_tutorial = [sys.executable, ROOT / "docs/tutorials/heat.py", steps]
            return subprocess.Popen(program_of_tutorial, cwd=folder, env=environment)

        if heat(chosen.steps).wait():
            sys.exit("forebay: the heat equation did not run.\n  Next: make build")
        with heat("100000") as computing:
            try:
                time.sleep(16)
                screen = subprocess.run([program, "top", "heat1", "--once", "--staging", "stage"], cwd=folder,
                                        env=environment, check=True, capture_output=True, text=True).stdout
                picture_of_text(screen.replace(str(folder), "/scratch/me"), "top.png", folder)
                watched(program, folder / "heat1")
            finally:
                computing.terminate()
        report = folder / "report.html"
        subprocess.run([program, "report", "heat1", "--html", report], cwd=folder, env=environment, check=True)
        page = report.read_text(encoding="utf-8").replace(str(folder), "/scratch/me")
        report.write_text(page, encoding="utf-8")
        picture(report.as_uri(), "report.png", 1000, 900)


if __name__ == "__main__":
    main()
