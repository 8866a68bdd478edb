"""Goal: a copy of a run reaches nothing behind a link: no snapshot outside both trees is removed, written into or told to be
at the target.

Method: links in the places of streams, steps, node files, manifests, folders of node files and of the run's identity, in the
source and in the target, that lead to another run or to nothing; what lies behind them is compared with what it was.
"""

import json
import os
import pathlib
import tempfile

import peak
from forebay_test import BUILD, FOREBAY, expect, run
from small_runs import ALL, IDENTITY, copy, entries, identify, make, save, snapshots, whole

NAMES = 60_000


def other_run(place):
    for step in (100, 500):
        save(place, "restart", step, "beef")
    return place


def in_the_target(place):
    """Whatever the link stands for: a stream, a step, or a place that the source alone has."""
    source, other = make(place / "run"), other_run(place / "other")
    before = entries(other)
    for number, (name, leads_to) in enumerate((("restart", other / "restart"), ("restart/step-000100", other / "restart/step-000100"),
                                               ("fields", place / "not-mounted"), ("forebay", other / "restart"))):
        target = place / f"copy-{number}"
        identify(target)
        if name == "forebay":
            run("rm", "-rf", target / "forebay")
        (target / name).parent.mkdir(exist_ok=True)
        (target / name).symlink_to(leads_to)
        for verb, words in (("copy", ()), ("sync", ("--delete",)), ("copy", ("--dry-run",))):
            is_no_run = name == "forebay" and "--delete" in words
            said = copy(source, target, *words, code=2, verb=verb)
            expect(is_no_run or ("symbolic link" in said and name in said), f"{verb} {words}: it is refused", said)
            expect(entries(other) == before and (target / name).is_symlink(), f"{verb} {words}: nothing is changed")


def in_the_source(place):
    """A stream on another disk, which may not be mounted: the copy that was made before stays."""
    source, target = make(place / "run"), place / "copy"
    copy(source, target)
    for name in ("restart", "restart/step-000100"):
        kept = place / "disk" / name
        kept.parent.mkdir(parents=True, exist_ok=True)
        (source / name).rename(kept)
        for leads_to in (kept, place / "not-mounted"):
            (source / name).symlink_to(leads_to)
            for verb, words in (("copy", ()), ("sync", ("--delete",))):
                said = copy(source, target, *words, code=2, verb=verb)
                expect("symbolic link" in said and "--as-files" in said and "read back" not in said, "it is refused", said)
                expect(snapshots(target) == ALL, "nothing is removed", str(snapshots(target)))
            (source / name).unlink()
        kept.rename(source / name)


def in_a_snapshot(place):
    """What is a link there is nothing of it: neither whole, nor written through."""
    source, target, outside = make(place / "run"), place / "copy", place / "outside"
    outside.mkdir()
    for number, name in enumerate(("manifest.json", "node-00000.h5")):
        file = source / f"restart/step-000{100 + 20 * number}" / name
        file.rename(outside / f"{number}-{name}")
        file.symlink_to(outside / f"{number}-{name}")
    said = copy(source, target, code=1)
    expect(snapshots(target) == [ALL[0], ALL[3]], "the others alone are there", said)
    expect("2 snapshots of the run are at" in said and said.count("which is not followed") == 2, "those of links are named", said)
    file = target / "restart/step-000140/node-00001.h5"
    file.rename(outside / "node")
    file.symlink_to(outside / "node")
    said = copy(source, target, code=1)
    expect("restart/step-000140" in said and "1 snapshot of the run is at" in said, "at the target, too", said)


def views(place):
    """Of a snapshot that another save takes the place of."""
    source, target, outside = make(place / "run"), place / "copy", place / "outside"
    outside.mkdir()
    run(FOREBAY, "view", f"{source}/restart@140")
    copy(source, target)
    view = target / "restart/step-000140.h5"
    view.rename(outside / "view.h5")
    view.symlink_to(outside / "view.h5")
    run("rm", "-rf", source / "restart/step-000140", source / "restart/step-000140.h5")
    save(source, "restart", 140, "beef")
    copy(source, target, "--delete", verb="sync")
    expect((outside / "view.h5").exists() and snapshots(target) == ALL, "a view outside stays")


def identity_behind_a_link(place):
    """A directory is no run by a link of that name: all of it is copied."""
    other, source, target = make(place / "run"), place / "tree", place / "copy"
    source.mkdir()
    (source / "forebay").symlink_to(other / "forebay")
    (source / ".save").write_text("precious")
    told = json.loads(run(FOREBAY, "copy", source, target, "--json").stdout)
    expect("snapshots" not in told and (target / ".save").exists() and (target / "forebay").is_symlink(), "it is a tree", str(told))
    expect((other / IDENTITY).exists(), "and no other one is touched")


def asked_page_by_page(place):
    """Whether a directory is a run costs no memory, however much lies in one that is called forebay."""
    peaks = []
    for name in ("others", "forebay"):
        folder = place / f"of-{name}" / name
        folder.mkdir(parents=True)
        for number in range(NAMES):
            os.mknod(folder / f"a name of some length, as trees of files have them {number:08}")
        code, peak_bytes = peak.run([FOREBAY, "copy", folder.parent, place / "copy", "--dry-run", "--threads", "1"])
        expect(code == 0, "it is a tree")
        peaks.append(peak_bytes)
    expect(peaks[1] < peaks[0] + NAMES * 50, "no more than another one", str(peaks))


def main():
    for case in (in_the_target, in_the_source, in_a_snapshot, views, identity_behind_a_link, asked_page_by_page):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
            os.environ["XDG_CACHE_HOME"] = scratch + "/cache"
            case(pathlib.Path(scratch))
            print(f"ok: {case.__name__}", flush=True)


main()
