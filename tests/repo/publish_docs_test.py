"""Goal: a release adds its site to the published versions, and readers begin with the newest version.

Method: scripts/publish_docs publishes made-up sites of several versions into one folder, in any order, and one twice. A
site without a version is refused, and changes nothing.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import tree


def publish(folder, site):
    return subprocess.run([sys.executable, tree.ROOT / "scripts/publish_docs", folder, site], capture_output=True,
                          text=True, check=False)


def made_site(folder, title, text):
    folder.mkdir(exist_ok=True)
    (folder / "index.html").write_text(f"<title>{title}</title>{text}")
    return folder


def problems_in(folder):
    web = folder / "web"
    for version, text in (("0.9.0", "old"), ("0.10.0", "first"), ("0.10.0", "again"), ("0.2.0", "late")):
        done = publish(web, made_site(folder / "site", f"Forebay {version}", text))
        if done.returncode:
            yield f"{version} is not published: {done.stderr}"
    listed = json.loads((web / "versions.json").read_text())
    if [entry["version"] for entry in listed] != ["0.10.0", "0.9.0", "0.2.0"]:
        yield f"the order of versions is {listed}"
    if [entry["aliases"] for entry in listed] != [["latest"], [], []]:
        yield f"the newest version is not the latest: {listed}"
    if "url=0.10.0/index.html" not in (web / "index.html").read_text():
        yield "a reader does not begin with the newest version"
    texts = {name: (web / name / "index.html").read_text()[-5:] for name in ("0.9.0", "0.10.0", "0.2.0")}
    if texts != {"0.9.0": "e>old", "0.10.0": "again", "0.2.0": ">late"}:
        yield f"the sites are {texts}"
    before = sorted(web.rglob("*"))
    for site in (made_site(folder / "other", "Forebay", ""), folder / "none"):
        if not publish(web, site).returncode:
            yield f"{site.name}: a site without a version, or no site, is published"
    if sorted(web.rglob("*")) != before:
        yield "a refused site changes the folder"


def main():
    with tempfile.TemporaryDirectory() as name:
        problems = list(problems_in(Path(name)))
    tree.finish("published versions", 7, problems)


main()
