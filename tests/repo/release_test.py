"""Goal: scripts/release makes the files of a release from a commit, with the same bytes each time, and changes nothing
in the tree. `prepare` writes one version and the sections of both changelogs. `make` prints the command for the tag.

Method: a scratch repository has what a release reads, and nothing to build. Releases are made from it with another
umask, time zone and time of files.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import tree

FILES = ("CMakeLists.txt", "CHANGELOG.md", "transfer/CHANGELOG.md", "pyproject.toml", "scripts/release", "scripts/sbom",
         "scripts/debian_source", "cmake/dependencies.txt", "cmake/bundled.cmake", "packaging/web/package-lock.json",
         "LICENSE")
NEW = "91.2.3"


def run(*words, folder, **more):
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, env=os.environ | more)


def git(folder, *words):
    done = run("git", "-c", "user.name=a", "-c", "user.email=a@example.org", *words, folder=folder)
    if done.returncode:
        raise AssertionError(f"git {words}: {done.stderr}")
    return done.stdout.strip()


def scratch(folder):
    """A repository with one commit of FILES, the folder of Debian, and a link."""
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tree.ROOT / name, folder / name)
    shutil.copytree(tree.ROOT / "packaging/debian", folder / "packaging/debian")
    (folder / "link").symlink_to("LICENSE")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "First")


def release(folder, *words, **more):
    return run(sys.executable, "scripts/release", *words, folder=folder, **more)


def sums_of(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def problems_of_archive(path, repository):
    """The archive has the files of the commit and nothing of this machine."""
    names = git(repository, "ls-files").splitlines()
    with tarfile.open(path) as archive:
        members = archive.getmembers()
    prefix = path.name.removesuffix(".tar.gz") + "/"
    if [member.name for member in members] != sorted(prefix + name for name in names):
        yield f"the archive has {[member.name for member in members]}"
    if {(member.uid, member.gid, member.uname, member.gname) for member in members} != {(0, 0, "root", "root")}:
        yield "the archive has owners of this machine"
    if {member.mtime for member in members} != {int(git(repository, "show", "-s", "--format=%ct"))}:
        yield "the archive has other times than that of the commit"
    modes = {member.name.removeprefix(prefix): member.mode for member in members}
    if (modes["scripts/release"], modes["LICENSE"]) != (0o755, 0o644):
        yield f"the archive has modes of this machine: {modes}"


def problems_of_sbom(path, version):
    """The bill has each library of the list, and the checksums that are known."""
    bill = json.loads(path.read_text())
    if (bill["bomFormat"], bill["metadata"]["component"]["version"]) != ("CycloneDX", version):
        yield f"the bill is of {bill['metadata']['component']}"
    names = {component["name"] for component in bill["components"]}
    lines = (tree.ROOT / "cmake/dependencies.txt").read_text().splitlines()
    missing = {line.split("|")[0].strip() for line in lines if not line.startswith("#")} | {"uplot", "numpy"}
    if missing - names:
        yield f"the bill lacks {missing - names}"
    fmt, uplot = [next(part for part in bill["components"] if part["name"] == name) for name in ("fmt", "uplot")]
    if fmt["externalReferences"][0]["hashes"][0]["content"] not in (tree.ROOT / "cmake/bundled.cmake").read_text():
        yield f"the bill has another checksum of fmt: {fmt}"
    if len(uplot["hashes"][0]["content"]) != 128:
        yield f"the bill has no SHA-512 of uPlot: {uplot}"


def problems_in(folder):
    repository = folder / "repository"
    repository.mkdir()
    scratch(repository)
    version = re.search(r"project\(forebay VERSION ([0-9.]+)", (repository / "CMakeLists.txt").read_text())[1]
    rehearsal = release(repository, "make", "--to", folder / "first")
    if rehearsal.returncode or "git tag" in rehearsal.stdout:
        yield f"a rehearsal: {rehearsal.stdout}{rehearsal.stderr}"
        return
    for path in repository.rglob("*"):
        os.utime(path, (1, 1), follow_symlinks=False)
    (repository / "CMakeLists.txt").write_text("not committed")
    old_mask = os.umask(0o077)
    again = release(repository, "make", "--to", folder / "second", TZ="Asia/Tokyo")
    os.umask(old_mask)
    git(repository, "checkout", "CMakeLists.txt")
    if again.returncode or sums_of(folder / "first") != sums_of(folder / "second"):
        yield f"a second release differs: {again.stderr}{sums_of(folder / 'first')}{sums_of(folder / 'second')}"
    listed = dict(reversed(line.split("  ")) for line in (folder / "first/SHA256SUMS").read_text().splitlines())
    if listed != {name: value for name, value in sums_of(folder / "first").items() if name != "SHA256SUMS"}:
        yield f"SHA256SUMS has {listed}"
    if git(repository, "status", "--porcelain"):
        yield "make changes the tree"
    yield from problems_of_archive(folder / f"first/forebay-{version}.tar.gz", repository)
    yield from problems_of_sbom(folder / f"first/forebay-{version}.cdx.json", version)
    if shutil.which("dpkg-source") and not (folder / f"first/forebay_{version}-1.dsc").exists():
        yield f"there is no source package of Debian: {rehearsal.stdout}"
    if release(repository, "make", "--to", folder / "first").returncode != 2:
        yield "a release mixes with files that are there"
    yield from problems_of_version(folder, repository)


def problems_of_version(folder, repository):
    for wrong in ("1", "0.0.1", "1.0.0-rc1"):
        if release(repository, "prepare", wrong).returncode != 2 or git(repository, "status", "--porcelain"):
            yield f"the version {wrong} is taken"
    prepared = release(repository, "prepare", NEW)
    changed = git(repository, "diff", "--stat", "--name-only").splitlines()
    if prepared.returncode or changed != ["CHANGELOG.md", "CMakeLists.txt", "transfer/CHANGELOG.md"]:
        yield f"prepare changes {changed}: {prepared.stderr}"
    if release(repository, "prepare", "91.2.4").returncode != 2:
        yield "a second version is prepared before the first is committed"
    head = (repository / "CHANGELOG.md").read_text().partition("## [")[0]
    if "No version" in head or any(len(line) > 120 for line in head.splitlines()):
        yield f"the changelog begins with {head}"
    git(repository, "commit", "--quiet", "-am", "Release")
    made = release(repository, "make", "--to", folder / "released")
    if f"git tag -s v{NEW} {git(repository, 'rev-parse', 'HEAD')}" not in made.stdout:
        yield f"the release prints no tag to sign: {made.stdout}{made.stderr}"
    notes = (folder / f"released/forebay-{NEW}-changes.md").read_text()
    if "### Added" not in notes or "[Unreleased]" in notes or "## Transfer tool" not in notes:
        yield f"the changes are {notes[:500]}"
    if git(repository, "tag"):
        yield "the script makes the tag, which a person signs"
    if release(repository, "prepare", "91.3.0").returncode != 2:
        yield "a version without changes is prepared"


def main():
    if not shutil.which("git"):
        tree.skip("git is missing")
    with tempfile.TemporaryDirectory() as name:
        problems = list(problems_in(Path(name)))
    tree.finish("files of a release", len(FILES), problems)


main()
