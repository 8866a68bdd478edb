"""Goal: `forebay copy RUN TARGET` makes a run of whole snapshots alone, whatever lies in the run besides, is damaged in it,
or happens meanwhile: each manifest comes after its node files, and each snapshot is read back.

Method: small runs with a snapshot that is being drained, a session's claim, views and files of the user; copies that are
killed at any moment, of which `forebay verify` must find every snapshot whole; damage, another save of a step, removed
snapshots, another run at the target.
"""

import json
import os
import pathlib
import subprocess
import tempfile

from forebay_test import FOREBAY, SECONDS_MAX, expect, run
from small_runs import ALL, IDENTITY, copy, entries, make, save, snapshots, whole


def as_a_run(place):
    source, target = make(place / "run"), place / "copy"
    said = copy(source, target)
    expect("4 snapshots of the run" in said, "it says how many", said)
    expect(whole(target) == ALL == snapshots(target), "all are there", str(snapshots(target)))
    expect((target / "notes.txt").read_text() == "mine" and (target / IDENTITY).exists(), "files of others, and which run it is")
    left = [name for name in (".stop",) if (target / name).exists()] + list(target.glob("*/.step*"))
    left += list((target / "forebay/sessions").iterdir())  # nor is the claim of the copy itself left
    expect(not left, "what is of a session, or not committed, stays behind", str(left))
    copy(source, target)
    copy(source, place / "files", "--as-files")
    expect((place / "files/forebay/sessions/000001/claim.json").exists() and list((place / "files").glob("restart/.step*")),
           "as files, all is copied")
    told = json.loads(run(FOREBAY, "copy", source, target, "--json").stdout)
    expect(told["snapshots"] == 4 and told["verified_bytes"] > 0 and told["copied"] == 0, "again nothing is copied", str(told))
    said = copy(source, place / "dry", "--dry-run")
    expect(not (place / "dry").exists() and "restart" in said, "a dry run makes nothing", said)


def damaged(place):
    source, target = make(place / "run"), place / "copy"
    file = source / "restart/step-000120/node-00000.h5"
    data = bytearray(file.read_bytes())
    data[max(at for at, byte in enumerate(data) if byte)] ^= 1
    file.write_bytes(data)
    (source / "restart/step-000140/node-00001.h5").unlink()
    said = copy(source, target, code=1)
    expect("restart/step-000120" in said and "restart/step-000140" in said, "both are named", said)
    expect(whole(target) == [ALL[0], ALL[1]], "the others are there", str(snapshots(target)))


def flip(file):
    data = bytearray(file.read_bytes())
    data[max(at for at, byte in enumerate(data) if byte)] ^= 1
    file.write_bytes(data)


def damaged_later(place):
    """A copy that was good is not lost to a source, or to a comparison, that went bad since."""
    source, target = make(place / "run"), place / "copy"
    copy(source, target)
    for number in (0, 1):
        flip(source / f"restart/step-000120/node-0000{number}.h5")
    for words in ((), ("--checksum",), ("--checksum", "--delete")):
        copy(source, target, *words, verb="sync")
        expect(whole(target) == ALL, f"sync {words}: the good copy stays", str(snapshots(target)))
    flip(target / "restart/step-000140/node-00000.h5")
    said = copy(source, target, code=1)
    expect("restart/step-000140" in said and "left unchanged" in said and "restart/step-000140" in snapshots(target),
           "a copy that went bad is named, and stays", said)


def unreadable_source(place):
    """A source that lost a manifest does not take the target's snapshot along, with removals neither."""
    for number, (harm, verb) in enumerate(((lambda path: path.unlink(), ("copy",)), (lambda path: os.truncate(path, 20), ("copy",)),
                                           (lambda path: path.unlink(), ("sync", "--delete")))):
        source, target = make(place / f"run-{number}"), place / f"copy-{number}"
        copy(source, target)
        harm(source / "restart/step-000140/manifest.json")
        said = copy(source, target, *verb[1:], code=1, verb=verb[0])
        expect(whole(target) == ALL and "restart/step-000140" in said, f"{verb}: the good copy stays, and it is said", said)
    source, target = make(place / "run"), place / "copy"
    copy(source, target)
    run("rm", "-rf", source / "restart/step-000100")
    (target / "restart/step-000100/manifest.json").unlink()
    copy(source, target)
    expect((target / "restart/step-000100/node-00000.h5").exists(), "files that lost their manifest at the target stay there")


def damaged_manifest_at_the_target(place):
    """Nobody knows which save it is: copy and sync leave it, until a person removes it or asks for removals."""
    source, target = make(place / "run"), place / "copy"
    copy(source, target)
    manifest = target / "restart/step-000140/manifest.json"
    for verb in ("copy", "sync"):
        for size in (0, 20):
            os.truncate(manifest, size)
            before = entries(manifest.parent)
            said = copy(source, target, code=1, verb=verb)
            expect("restart/step-000140" in said and entries(manifest.parent) == before, f"{verb}: it stays and is reported", said)
            run(FOREBAY, "delete", manifest.parent)
            copy(source, target, verb=verb)
            expect(whole(target) == ALL, f"{verb}: it comes anew after the advised command", str(snapshots(target)))
    os.truncate(manifest, 0)
    copy(source, target, "--delete", verb="sync")
    expect(whole(target) == ALL, "sync --delete replaces it", str(snapshots(target)))


def by_several(place):
    source, target = make(place / "run"), place / "copy"
    copy(source, target, "--hosts", "localhost")
    copy(source, target, "--hosts", "localhost", verb="sync")
    expect(whole(target) == ALL, "two processes copy a run", str(snapshots(target)))


def other_save(place):
    source, target = make(place / "run"), place / "copy"
    copy(source, target)
    run("rm", "-rf", source / "restart/step-000140", source / "restart/step-000100")
    save(source, "restart", 140, "beef")
    save(source, "restart", 180, "b4")
    before = entries(target / "restart/step-000140")
    for verb, words in (("copy", ()), ("sync", ()), ("copy", ("--dry-run",))):
        said = copy(source, target, *words, code=1, verb=verb)
        expect("restart/step-000140" in said and "another save" in said or "no other save" in said, f"{verb}: it is named", said)
        expect(entries(target / "restart/step-000140") == before, f"{verb}: the target's stays")
    expect("restart/step-000180" in whole(target), "the others are copied")
    copy(source, target, "--delete", "--report", place / "report", verb="sync")
    manifest = (target / "restart/step-000140/manifest.json").read_text()
    expect("000000000000beef" in manifest, "with --delete the target becomes the source", manifest)
    run("rm", "-rf", source / "restart/step-000180", target / "restart/step-000180")
    expect(whole(target) == [one for one in ALL if "100" not in one], "a sync that removes removes snapshots", str(snapshots(target)))
    lines = (place / "report").read_text()
    expect('"kind":"removed","path":"restart/step-000100"' in lines.replace(" ", ""), "and its report says so", lines)


def other_run(place):
    source, target = make(place / "run"), make(place / "other")
    (target / IDENTITY).rename(target / "forebay/run-0000000000000abc.json")
    said = copy(source, target, code=2)
    expect("another run" in said and "adopt" in said, "another run is not written into", said)


def plain_tree_over_a_run(place):
    """The likelier typing error than another run: its snapshots would go without a word."""
    source, target = make(place / "run"), place / "copy"
    copy(source, target)
    (place / "plain").mkdir()
    (place / "plain/file").write_text("plain")
    (place / "plain/forebay").write_text("a file of that name makes no run")
    copy(place / "plain", place / "again")
    copy(place / "plain", place / "again", "--delete", verb="sync")
    (place / "plain/forebay").unlink()
    said = copy(place / "plain", target, "--delete", code=2, verb="sync")
    expect("is a run of Forebay" in said and snapshots(target) == ALL, "it is refused", said)
    copy(place / "plain", target, "--delete", "--as-files", "--allow-unlike", verb="sync")
    expect(snapshots(target) == [], "unless that is wished")


def a_stream_without_snapshots(place):
    """As where the file system of restart/ is not mounted: its copies stay, unless they are to go."""
    source, target = make(place / "run"), place / "copy"
    copy(source, target)
    (source / "restart").rename(place / "unmounted")
    for made in ((), ("mkdir",)):
        if made:
            (source / "restart").mkdir()
        for words in ((), ("--dry-run",)):
            said = copy(source, target, "--delete", *words, code=2, verb="sync")
            expect("has no snapshot in restart" in said and "--allow-empty" in said and snapshots(target) == ALL, "all stay", said)
        copy(source, target, verb="sync")
        expect(whole(target) == ALL, "without --delete nothing is asked for")
    copy(source, target, "--delete", "--allow-empty", verb="sync")
    expect(whole(target) == ALL[:1], "and they go on wish", str(snapshots(target)))


def run_over_a_plain_tree(place):
    """The same error the other way round: all of the tree would go, as what the run has not."""
    source = make(place / "run")
    for number, make_other in enumerate((lambda path: (path / "file").write_text("precious"),
                                         lambda path: (path / "forebay").write_text("a file of that name makes no run"),
                                         lambda path: ((path / "forebay").mkdir(), (path / "forebay/file").write_text("precious")))):
        target = place / f"other-{number}"
        target.mkdir()
        make_other(target)
        before = sorted(target.rglob("*"))
        for words in (("--delete",), ("--delete", "--dry-run")):
            said = copy(source, target, *words, code=2, verb="sync")
            expect("is a run of Forebay" in said and "--as-files" in said and "another target" in said, "it is refused", said)
            expect(sorted(target.rglob("*")) == before, "nothing is changed")
    copy(source, place / "other-0", code=2, verb="sync")
    copy(source, place / "other-0", "--allow-unlike", verb="sync")
    expect((place / "other-0/file").exists() and whole(place / "other-0") == ALL, "without removals both lie there")
    copy(source, place / "other-1", "--delete", "--as-files", verb="sync")
    expect(not (place / "other-1/forebay").is_file() and snapshots(place / "other-1") == ALL, "unless that is wished")
    (place / "empty").mkdir()
    for name in ("empty", "missing"):
        copy(source, place / name, "--delete", verb="sync")
        expect(whole(place / name) == ALL, f"a target that is {name} is no other tree")


def killed_sync(place):
    """The same command goes on, however little of the run has come: its identity comes first."""
    source = make(place / "run")
    size = sum(path.stat().st_size for path in source.rglob("*") if path.is_file())
    without = 0
    for number in range(12):
        target = place / f"copy-{number}"
        process = subprocess.Popen([FOREBAY, "sync", source, target, "--delete", "--rate", str(size), "--threads", "1"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not target.exists():
            pass
        try:
            process.wait(0.002 + 0.04 * number)
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait(SECONDS_MAX)
        without += snapshots(target) != ALL
        copy(source, target, "--delete", verb="sync")
        expect(whole(target) == ALL, "the second run is whole", str(snapshots(target)))
    expect(without > 1, "copies are killed before they are whole", str(without))


def files_of_others(place):
    source, target = make(place / "run"), place / "copy"
    (source / "notes/page").mkdir(parents=True)
    for name in ("notes/manifest.json", "notes/page/manifest.json", "notes/page/file"):
        (source / name).write_text("mine")
    copy(source, target)
    for name in ("notes/manifest.json", "notes/page/manifest.json", "notes/page/file"):
        expect((target / name).exists(), f"{name} is no snapshot's")


def killed(place):
    source = make(place / "run")
    size = sum(path.stat().st_size for path in source.rglob("*") if path.is_file())
    seen = set()
    for number in range(12):
        target = place / f"copy-{number}"
        if number % 2:  # over an older copy, of which one step was saved anew
            copy(source, target)
            run("rm", "-rf", target / "restart/step-000140")
            save(target, "restart", 140, "dead")
        words = ("sync", source, target, "--delete") if number % 2 else ("copy", source, target)
        process = subprocess.Popen([FOREBAY, *words, "--rate", str(size), "--threads", "1"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(0.05 + 0.12 * number)
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait(SECONDS_MAX)
        seen.add(len(whole(target)) if target.exists() else 0)
        copy(source, target, *words[3:], verb=words[0])
        expect(whole(target) == ALL, "the second run is whole", str(snapshots(target)))
    expect(len(seen) > 1, "copies are killed at several points", str(seen))


def main():
    for case in (as_a_run, damaged, damaged_later, unreadable_source, damaged_manifest_at_the_target, by_several, other_save,
                 other_run, plain_tree_over_a_run, run_over_a_plain_tree, a_stream_without_snapshots, killed_sync, files_of_others, killed):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
            os.environ["XDG_CACHE_HOME"] = scratch + "/cache"
            case(pathlib.Path(scratch))
            print(f"ok: {case.__name__}", flush=True)


main()
