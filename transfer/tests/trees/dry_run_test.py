"""Goal: a dry run tells what the run after it does: how much is copied, replaced and removed, and what the target cannot keep,
and it changes nothing; what cannot be kept is refused before its bytes are copied.

Method: the same command with and without --dry-run, whose reports are compared, entry by entry; as root, as an ordinary user
who may not give owners away, and with folders and files that stand in each other's place.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from forebay_test import FOREBAY, expect

USER = 65533
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]


def told(*words, before=(), code=0):
    done = subprocess.run([*before, FOREBAY, *[str(word) for word in words], "--json"], capture_output=True, text=True, check=False)
    expect(done.returncode == code, f"{words} ends with {code}, not {done.returncode}", done.stdout + done.stderr)
    return json.loads(done.stdout)


def paths(report, *kinds):
    return {line["path"] for line in report["first"] if line["kind"] in kinds}


def state_of(top):
    """All that a change of the tree would change."""
    return {path: (path.lstat().st_ino, path.lstat().st_mtime_ns, path.lstat().st_mode) for path in [top, *sorted(top.rglob("*"))]}


def make(place):
    source, target = place / "source", place / "target"
    for top in (source, target):
        (top / "both").mkdir(parents=True)
        (top / "both/equal").write_text("equal")
        (top / "both/adjusted").write_text("text")
        for name in ("equal", "adjusted"):
            os.utime(top / "both" / name, ns=(10**18, 10**18))
    (target / "both/adjusted").chmod(0o600)
    (source / "both/other").write_text("1234567")
    (target / "both/other").write_text("123")
    (source / "new/below").mkdir(parents=True)
    (source / "new/below/file").write_text("x" * 1000)
    os.link(source / "new/below/file", source / "new/again")
    (source / "file-for-folder").write_text("12345")
    (target / "file-for-folder/deep").mkdir(parents=True)
    (target / "file-for-folder/deep/file").write_text("y" * 30)
    (source / "folder-for-file").mkdir()
    (source / "folder-for-file/in-it").write_text("z")
    (target / "folder-for-file").write_text("in the way")
    (target / "more/below").mkdir(parents=True)
    (target / "more/below/file").write_text("w" * 70)
    return source, target


def check_amounts(place):
    source, target = make(place)
    before = state_of(target)
    dry = told("sync", source, target, "--delete", "--dry-run")
    expect(state_of(target) == before, "a dry run changes nothing")
    wanted = {"would_copy": {"entries": 5, "bytes": 1001}, "would_replace": {"entries": 3, "bytes": 12},
              "would_remove": {"entries": 6, "bytes": 100}}
    expect({key: dry[key] for key in wanted} == wanted, "a dry run sums what would be done", str(dry))
    expect(dry["remarks"]["would_adjust"] == 1 and dry["equal"] == 1, "one is adjusted, and one equal", str(dry))
    again = told("sync", source, target, "--delete", "--dry-run", "--hosts", "localhost", "--threads", 1)
    expect({key: again[key] for key in wanted} == wanted, "by two processes too", str(again))
    done = told("sync", source, target, "--delete")
    # Folders are made, not copied; one file is a further name.
    expect((done["copied"], done["linked"], done["adjusted"], done["removed"]) == (4, 1, 1, 6), "and is right", str(done))
    told("compare", source, target)
    shutil.rmtree(source)
    shutil.rmtree(target)
    source, target = make(place)
    dry, done = told("copy", source, target, "--dry-run", code=1), told("copy", source, target, code=1)
    expect(paths(dry, "failed") == paths(done, "failed") == {"file-for-folder"}, "a folder in a file's place stays, and is named",
           str((dry["first"], done["first"])))
    dry = told("delete", target, "--dry-run")
    done = told("delete", target)
    expect(dry["removed"] == 0 and dry["would_remove"]["entries"] == done["removed"], "delete says how much it would remove", str(dry))


def make_in_the_way(place):
    """Folders of the target where the source has files, a link and a further name: some hold what patterns leave out."""
    source, target = place / "source", place / "target"
    source.mkdir(parents=True)
    for name in ("goes", "stays", "deep", "first"):
        (source / name).write_text(name)
    (source / "link").symlink_to("goes")
    os.link(source / "first", source / "name-1")
    os.link(source / "first", source / "name-2")
    for name in ("goes", "stays", "deep", "link", "name-1", "name-2", "extra"):
        (target / name / "below/more").mkdir(parents=True)
        (target / name / "below/file").write_text("of the target")
    for name in ("stays/log", "deep/below/more/log", "name-2/log", "extra/log"):
        (target / name).write_text("left out")
    return source, target


def check_in_the_way(place):
    """What a run cannot replace, a dry run does not promise; a folder goes whole or not at all."""
    blocked = {"stays", "deep", "name-2"}
    for number, (words, hosts, failed) in enumerate(((("sync", "--delete"), (), blocked),
                                                     (("sync", "--delete"), ("--hosts", "localhost", "--threads", 1), blocked),
                                                     (("copy",), (), {"goes", "stays", "deep", "link", "name-1", "name-2"}))):
        verb, *more = words
        source, target = make_in_the_way(place / str(number))
        before = state_of(target)
        dry = told(verb, source, target, *more, "--exclude", "log", "--dry-run", *hosts, code=1)
        expect(state_of(target) == before, f"{words}: a dry run changes nothing")
        done = told(verb, source, target, *more, "--exclude", "log", *hosts, code=1)
        expect(paths(dry, "failed") == paths(done, "failed") == failed, f"{words} {hosts}: what cannot be replaced is named", str((dry["first"], done["first"])))
        reasons = [{line["path"]: line["why"] for line in one["first"] if line["kind"] == "failed"} for one in (dry, done)]
        expect(reasons[0] == reasons[1], f"{words}: by the same words", str(reasons))
        for name in failed:
            inside = {path: found for path, found in before.items() if (target / name) in path.parents}
            expect({path: found for path, found in state_of(target).items() if path in inside} == inside, f"{words}: {name} is whole")
        expect(paths(done, "not_kept") == set(), "no other error is made of it", str(done["first"]))
        made = 0 if verb == "copy" else 3
        expect(dry["would_replace"]["entries"] == made, f"{words}: {made} are replaced", str(dry))
        expect(dry["would_remove"]["entries"] == done["removed"], f"{words}: as much is removed", str((dry["would_remove"], done["removed"])))
        expect(dry["would_copy"]["entries"] + made == done["copied"] + done["linked"], f"{words}: as much is copied", str((dry, done)))


def check_user(place):
    """As somebody who owns a part of the source: what he cannot keep."""
    source, targets = place / "of-two", place / "targets"
    (source / "below").mkdir(parents=True)
    for name, size in (("own", 10), ("of-root", 1000), ("below/of-root", 3000), ("large", 70 << 20), ("capable", 5)):
        (source / name).write_bytes(b"x" * min(size, 3000))
        os.truncate(source / name, size)
    os.mknod(source / "null", 0o020644, os.makedev(1, 3))
    os.setxattr(source / "capable", "security.capability", bytes.fromhex("0100000200040000000000000000000000000000"))
    for path in (source, source / "own", source / "capable"):
        os.chown(path, USER, USER)
    os.setxattr(source / "capable", "security.capability", bytes.fromhex("0100000200040000000000000000000000000000"))
    targets.mkdir()
    os.chown(targets, USER, USER)
    for words in ((), ("--cannot-keep", "drop"), ("--cannot-keep", "manifest", "--manifest", targets / "manifest")):
        target = targets / f"target-{len(words)}"
        code = 0 if "manifest" in words else 1
        dry = told("copy", source, target, *words, "--dry-run", before=AS_USER, code=code)
        expect(not target.exists(), "a dry run makes nothing")
        lines = sorted((targets / "manifest").read_text().splitlines()) if "manifest" in words else []
        done = told("copy", source, target, *words, before=AS_USER, code=code)
        for kind in ("not_kept", "kept_beside"):
            expect(paths(dry, kind) == paths(done, kind), f"{words}: what is {kind} is foreseen", str((dry["first"], done["first"])))
        if lines:
            expect([json.loads(line)["part"] for line in lines] ==
                   [json.loads(line)["part"] for line in sorted((targets / "manifest").read_text().splitlines())], "and so is the manifest")
        if words == ():
            expect(paths(done, "not_kept") == {"of-root", "below/of-root", "below", "large", "null", "capable"}, "all of them", str(done["first"]))
            expect(done["bytes"] == 10 + 5, f"of what is refused for its owner no bytes are copied, not {done['bytes']}")
            expect(dry["would_copy"] == {"entries": 2, "bytes": 10}, "only what is kept would be copied", str(dry))
        expect(not list(target.rglob(".fb-*")), "no temporary names stay")


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-dry-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        place.chmod(0o755)
        check_amounts(place / "amounts")
        check_in_the_way(place / "in-the-way")
        may_run = subprocess.run([*AS_USER, FOREBAY, "--help"], capture_output=True, check=False) if shutil.which("setpriv") else None
        if os.geteuid() == 0 and may_run and may_run.returncode == 0:
            check_user(place)
        else:
            print("left out, what an ordinary user sees")
    print("dry runs: as the runs")


if __name__ == "__main__":
    sys.exit(main())
