"""Goal: a run of Forebay that lies below a tree is never copied or archived in silence: one line says how many there are, where,
that they were taken like any files, and by what command one is copied as a run. A migration is a copy of all, of runs too.

Method: a project with two runs, each with a snapshot that is being drained; all ways in which its files are taken. The
command that is told is run as it is told. Migrations of a project that is a run and of one with runs, to their comparison.
"""

import json
import os
import pathlib
import re
import shlex
import tempfile

import s3_support
from forebay_test import BUILD, FOREBAY, all_of_forebay, expect, forebay, run
from small_runs import ALL, IDENTITY, make, snapshots, whole


def project(place):
    (place / "project/a/b").mkdir(parents=True)
    (place / "project/plain").write_text("plain")
    make(place / "project/sim1")
    make(place / "project/a/b/sim2")
    return place / "project"


def lines_of_runs(said):
    return [line for line in said.splitlines() if "of Forebay" in line]


def told_line(said):
    lines = lines_of_runs(said)
    expect(len(lines) == 1, "one line tells of runs", said)
    return lines[0]


def told_by_copies(place):
    source = project(place)
    for number, (verb, *words) in enumerate((("copy",), ("sync", "--delete"), ("copy", "--as-files"), ("copy", "--hosts", "localhost,localhost"),
                                             ("copy", "--exclude", "*.o"), ("copy", "--threads", "8"))):
        target = place / f"copy-{number}"
        for turn in ("first", "again"):
            line = told_line(forebay(verb, source, target, *words))
            expect("2 runs of Forebay" in line and "(a/b/sim2, sim1) were copied like any files" in line, f"{verb} {words}, {turn}", line)
        forebay("compare", source, target)
        report = place / "report.jsonl"
        told = json.loads(forebay(verb, source, target, *words, "--json", "--report", report))
        expect(told["remarks"]["as_files"] == 2, "the object counts them", str(told))
        found = sorted((one["kind"], one["path"]) for one in map(json.loads, report.read_text().splitlines()))
        expect(found == [("as_files", "a/b/sim2"), ("as_files", "sim1")], "the report names them", str(found))
    dry = told_line(forebay("copy", source, place / "dry", "--dry-run"))
    expect("would be copied like any files" in dry and not (place / "dry").exists(), "a dry run tells it", dry)
    (place / "list").write_text("sim1\n")
    line = told_line(forebay("copy", source, place / "listed", "--files-from", place / "list"))
    expect("1 run of Forebay" in line and "(sim1) was copied" in line, "so does a list", line)
    expect(not lines_of_runs(forebay("copy", source, place / "others", "--exclude", "sim*")), "runs that patterns leave out are not told")


def told_command(place):
    """It makes a run of what lies there."""
    source, target = project(place), place / "copy"
    line = told_line(forebay("copy", source, target))
    expect(list((target / "a/b/sim2").glob("restart/.step*")), "like any files: with what is being drained")
    command = shlex.split(re.search(r"As a run: forebay (.*)", line)[1])
    expect(command == ["copy", str(source / "a/b/sim2"), str(target / "a/b/sim2")], "it names the first", line)
    said = forebay(*command)
    expect("4 snapshots of the run are at the target, read back whole" in said and not lines_of_runs(said), "a run is copied as one", said)
    expect(whole(target / "a/b/sim2") == ALL, "and whole")


def of_the_source_itself(place):
    source = make(place / "run")
    line = told_line(forebay("copy", source, place / "files", "--as-files"))
    expect(line.startswith(f"The run of Forebay {source} was copied like any files") and line.endswith(f"forebay copy {source} {place}/files"),
           "the source itself", line)
    for words in ((), ("--hosts", "localhost"), ("--dry-run",)):
        said = forebay("copy", source, place / f"copy-{len(words)}", *words)
        expect(not lines_of_runs(said), f"copied as a run it is not told, {words}", said)
    make(source / "more/inner")
    line = told_line(forebay("copy", source, place / "copy-0"))
    expect("1 run of Forebay" in line and "(more/inner) was copied like any files" in line, "a run in a run", line)
    inner = place / "copy-0/more/inner"
    expect(snapshots(inner) == ALL and (inner / ".stop").exists() and list(inner.glob("restart/.step*")), "has all of its files",
           str(sorted(inner.rglob("*"))))


def of_many(place):
    source = place / "project"
    for number in range(300):
        (source / f"sim-{number:03}/forebay").mkdir(parents=True)
        (source / f"sim-{number:03}" / IDENTITY).write_text("{}\n")
    line = told_line(forebay("copy", source, place / "copy", "--threads", "1"))
    expect("300 runs of Forebay" in line and line.count("sim-") == 5 and "and 297 more" in line, "three are named", line)
    for words in ((), ("--hosts", "localhost"), ("--hosts", "localhost", "--dry-run")):
        told = json.loads(forebay("copy", source, place / f"copy-{len(words)}", "--threads", "1", "--json", *words))
        expect(told["remarks"]["as_files"] == 300, f"{words}: whoever meets a run, it is counted", str(told))
        runs = [one for one in told["first"] if one["kind"] == "as_files"]
        expect(0 < len(runs) <= 10, "runs do not take the place of what is wrong", str(told))
    names = ["forebay/run-00f30000c0ffee9a.json.old", "forebay/run-00f30000C0FFEE9A.json", "forebay/run-0000000000000000.json",
             "other/run-00f30000c0ffee9a.json", "run-00f30000c0ffee9a.json", "forebay/below/run-00f30000c0ffee9a.json"]
    for name in names:
        (place / "none" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "none" / name).touch()
    said = forebay("copy", place / "none", place / "none-copy") + forebay("copy", place / "none/forebay", place / "forebay-copy")
    expect(not lines_of_runs(said), "nothing else is a run", said)


def last_copy_is_kept(place):
    """Its times are what a sync of a tree without runs has, too."""
    source = project(place)
    run(FOREBAY, "copy", source, place / "copy")
    kept = list((pathlib.Path(os.environ["XDG_CACHE_HOME"]) / "forebay/copies").iterdir())
    expect(len(kept) == 1, "what was looked at need not be looked at again", str(kept))


def told_by_archives(place):
    source, archive = project(place), place / "case.tar"
    dry = told_line(forebay("archive", source, archive, "--dry-run"))
    expect("would be archived like any files" in dry and not archive.exists(), "a dry run tells it", dry)
    line = told_line(forebay("archive", source, archive))
    expect("2 runs of Forebay" in line and "(a/b/sim2, sim1) were archived like any files" in line and "may lack files" in line, "both are told", line)
    expect(f"forebay copy {source}/a/b/sim2 COPY, then archive COPY" in line, "and the way", line)
    told = json.loads(forebay("archive", source, archive, "--force", "--json"))
    expect(told["remarks"]["as_files"] == 2, "the object counts them", str(told))
    line = told_line(forebay("archive", source / "sim1", place / "one.tar"))
    expect(line.startswith(f"The run of Forebay {source}/sim1 was archived"), "the source itself", line)


def migrated(place):
    """Also what a run leaves behind of its uncommitted saves, and whoever writes it: no pass leaves it out."""
    source = project(place)
    plan = place / "plan.toml"

    def write(name, old, new):
        plan.write_text(f'state = "{place}/state-{name}"\nreports = "{place}/reports-{name}"\nfreeze = "true"\nwait_days = 0\n'
                        f'[[project]]\nname = "{name}"\nsource = "{old}"\ntarget = "{new}"\n')

    (place / "new").mkdir()
    for name, old in (("project", source), ("run", source / "sim1")):
        write(name, old, place / "new" / name)
        all_of_forebay("migrate", plan)
        forebay("compare", old, place / "new" / name)
        said = (place / f"reports-{name}/{name}/report.txt").read_text()
        expect("as_files" in said and "\n  none\n" in said, "the page counts runs, and takes them for nothing wrong", said)
    expect(list((place / "new/run").glob("restart/.step*")) and (place / "new/run/forebay/sessions").exists(), "all of it came")
    (place / "plain").mkdir()
    (place / "plain/file").touch()
    write("other", place / "plain", place / "new/run")
    said = all_of_forebay("migrate", plan, code=2)
    expect("is a run of Forebay" in said and snapshots(place / "new/run") == ALL, "no project is moved into a run", said)
    write("same", source / "sim1", place / "new/run")
    all_of_forebay("migrate", plan)


def in_buckets(place):
    if not (BUILD / "lib/libforebay_s3.so").exists():
        print("forebay was built without S3: buckets are left out")
        return
    source = project(place)
    with s3_support.Own(place / "server") as server:
        root = f"{s3_support.ROOT}/all"
        line = told_line(server.forebay("copy", source, root))
        expect(f"forebay copy {source}/a/b/sim2 {root}/a/b/sim2" in line, "to a bucket", line)
        line = told_line(server.forebay("copy", root, place / "back"))
        expect("(a/b/sim2, sim1) were copied" in line and f"forebay copy {root}/a/b/sim2 {place}/back/a/b/sim2" in line, "and from one", line)
        server.forebay("copy", source / "plain", f"{s3_support.ROOT}/other/plain")
        said = server.forebay("sync", source / "sim1", f"{s3_support.ROOT}/other", "--delete", code=2)
        expect("is a run of Forebay" in said and server.keys("other/") == ["other/plain"], "a prefix of other keys is not emptied", said)
        server.forebay("sync", source / "sim1", f"{s3_support.ROOT}/new", "--delete")
        server.forebay("sync", source / "sim1", f"{s3_support.ROOT}/new", "--delete")


def main():
    for case in (told_by_copies, told_command, of_the_source_itself, of_many, last_copy_is_kept, told_by_archives, migrated, in_buckets):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
            os.environ["XDG_CACHE_HOME"] = scratch + "/cache"
            case(pathlib.Path(scratch))
            print(f"ok: {case.__name__}", flush=True)


main()
