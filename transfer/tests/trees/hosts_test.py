"""Goal: a tree that several processes copy, sync, compare, walk or delete comes out as that of one process, with hard links
over all of them; a folder of many names and a large file are shared.

Method: trees TS and special, by workers over a stand-in for ssh and as localhost, and by 1, 2 and 3 ranks of MPI; the judge,
which has no code of ours, compares copies, and reports are compared with those of one process. Then a folder of 60,000
files and a file of 1 GiB: each process must have had a part. Files of the target that are one inode there and two in the
source must come apart. A list of paths that is longer than one message is obeyed by all.
"""

import os
import pathlib
import shutil
import tempfile
import threading

import conformance
import make_tree
import team
from forebay_test import FOREBAY, all_of_forebay, expect, forebay, run

WALKED = ["entries", "file", "folder", "link", "fifo", "socket", "bytes", "allocated_bytes", "further_names", "with_holes", "released_files",
          "largest_bytes", "deepest"]
PORTION, PIECE = 256, 32 << 20  # the least that a process is given: names of a folder, bytes of a file


def ways(place):
    """Name and how a verb is run with others: (arguments) -> report."""
    for workers in (1, 2, 3):
        hosts = team.Hosts(place / f"hosts-{workers}", *[f"node{number}" for number in range(workers)])
        yield f"{workers} over ssh", lambda *words, hosts=hosts: team.told(*words, *hosts.options(), "--threads", 2)[0]
    yield "localhost", lambda *words: team.told(*words, "--hosts", "localhost,localhost", "--threads", 1)[0]
    if shutil.which("mpiexec") and (team.FOREBAY.parent / "forebay-mpi").exists():
        for ranks in (1, 2, 3):
            yield f"{ranks} ranks", lambda *words, ranks=ranks: team.with_ranks(ranks, *words, "--threads", 2)
    else:
        print("not under MPI: there is no mpiexec, or this build has none")


def change(target):
    """What a sync has to put right; gives how many names are too many."""
    files = sorted(path for path in target.rglob("*") if path.is_file() and not path.is_symlink())
    for path in files[::40]:
        path.chmod(0o600)
        path.write_bytes(b"other bytes")
    (target / "more" / "below").mkdir(parents=True)
    (target / "more" / "below" / "file").touch()
    return 3


class Alone:
    """What one process says of a copy and a walk, and its checksums."""

    def __init__(self, place, source):
        self.copied, _ = team.told("copy", source, place / "by-one")
        self.walked, _ = team.told("walk", source)
        run(team.FOREBAY, "walk", source, "--checksums", place / "sums-alone")
        self.sums = sorted((place / "sums-alone").read_bytes().splitlines())


def check_way(place, name, verb, source, by_one):
    target, alone, walked_alone = place / f"{name}-copy".replace(" ", "-"), by_one.copied, by_one.walked
    report = verb("copy", source, target)
    team.expect_equal(source, target, f"copy, {name}")
    for key in ("entries", "folders", "copied", "linked", "equal"):
        expect(report[key] == alone[key], f"copy, {name}: {key} as of one process", f"{report[key]} and {alone[key]}")
    if "processes" in report:
        entries = sum(one["entries"] for one in report["processes"])
        expect(entries == report["entries"], f"copy, {name}: what processes did is all", str(report["processes"]))
    walked = verb("walk", source)
    for key in WALKED:
        expect(walked[key] == walked_alone[key], f"walk, {name}: {key} as of one process", f"{walked[key]} and {walked_alone[key]}")
    verb("walk", source, "--checksums", place / "sums")
    sums = sorted((place / "sums").read_bytes().splitlines())
    expect(sums == by_one.sums, f"checksums, {name}: as of one process")
    compared = verb("compare", source, target)
    expect(compared["entries"] == alone["entries"], f"compare, {name}: all entries", str(compared))
    too_many = change(target)
    synced = verb("sync", source, target, "--delete")
    expect(synced["removed"] == too_many and synced["copied"] > 0, f"sync, {name}: removes and copies", str(synced))
    team.expect_equal(source, target, f"sync, {name}")
    removed = verb("delete", target)
    expect(removed["removed"] == walked["entries"] and not target.exists(), f"delete, {name}: all of it", str(removed))


def check_differences(place, source):
    """Of a comparison by several processes, each difference once, names of one inode among them."""
    target = place / "differing"
    run("cp", "-a", source, target)
    links = {}
    for path in sorted(target.rglob("*")):
        found = path.lstat()
        if found.st_nlink > 1 and path.is_file() and not path.is_symlink():
            links.setdefault(found.st_ino, []).append(path)
    parted = next(paths[0] for paths in links.values() if len(paths) > 1)
    run("cp", "-a", "--remove-destination", parted, f"{parted}.new")
    os.rename(f"{parted}.new", parted)
    next(path for path in sorted(target.rglob("*")) if path.is_fifo()).unlink()
    for options in ([], ["--hosts", "localhost,localhost"]):
        report = place / "report"
        told, _ = team.told("compare", source, target, "--report", report, *options, code=1)
        kinds = (told["remarks"]["differs"] >= 2, told["remarks"]["only_source"])
        expect(kinds == (True, 1), f"compare {options}: the fifo, the folder and the parted names", str(told["first"]))
        text = report.read_text()
        expect("its hard links differ" in text, f"compare {options}: names of one inode", text)
    conformance.removed(target)


def check_two_of_one(place):
    """One inode of the target that is two files of the source, in folders that different processes may have."""
    source, target = place / "two", place / "one"
    for number in range(40):
        for side in "ab":
            (source / f"{side}{number}").mkdir(parents=True)
            (target / f"{side}{number}").mkdir(parents=True)
        for side in "ab":
            file = source / f"{side}{number}" / "file"
            file.write_bytes(b"same bytes")
            os.utime(file, ns=(10**18, 10**18))
            os.link(file, f"{file}-2")
        run("cp", "-a", source / f"a{number}" / "file", target / f"a{number}" / "file")
        os.link(target / f"a{number}" / "file", target / f"b{number}" / "file")
    team.told("sync", source, target, "--hosts", "localhost,localhost", "--threads", 1)
    team.expect_equal(source, target, "one inode of the target for two of the source")


def check_listed(place, source):
    """All processes take the same of a list that is sent to them in several turns."""
    listed = place / "listed.txt"
    files = sorted(str(path.relative_to(source)) for path in source.rglob("*") if path.is_file() and not path.is_symlink())
    absent = [f"not there/{number:06}{'x' * 100}" for number in range(30_000)]
    listed.write_bytes(b"".join(os.fsencode(path) + b"\0" for path in [*files[::2], *absent, "gone", *reversed(files[::3])]))
    alone, shared = place / "listed-alone", place / "listed-shared"
    forebay("copy", source, alone, "--files-from", listed, "--null", code=1)
    told, _ = team.told("copy", source, shared, "--files-from", listed, "--null", "--hosts", "localhost,localhost", "--threads", 1, code=1)
    expect(told["remarks"]["vanished"] == 2, "what of the list is not there is named once", str(told["first"]))
    team.expect_equal(alone, shared, "a list, by several processes")
    copied = sorted(str(path.relative_to(shared)) for path in shared.rglob("*") if path.is_file() and not path.is_symlink())
    expect(copied == sorted({*files[::2], *files[::3]}), "the files of the list, and no others")


def check_growing(place):
    """A log of two names, one at the begin of a slow copy and one at its end, that grows meanwhile is one inode there."""
    source, target = place / "growing", place / "growing-copy"
    for folder in ("a", "m", "z"):
        (source / folder).mkdir(parents=True)
        for number in range(60):
            (source / folder / f"file{number}").write_bytes(b"x" * 20_000)
    (source / "a/log").write_text("0")
    os.link(source / "a/log", source / "z/log")
    ended = threading.Event()

    def grow():
        while not ended.wait(0.5):
            with open(source / "a/log", "a", encoding="ascii") as log:
                log.write("more")

    grows = threading.Thread(target=grow)
    grows.start()
    try:
        team.told("copy", source, target, "--hosts", "localhost", "--threads", 1, "--rate", "2M")
    finally:
        ended.set()
        grows.join()
    expect(os.path.samefile(target / "a/log", target / "z/log"), "a file that grows stays one inode of two names")


def expect_shared(report, kind, least, what):
    """The others were given something, which the first one had; how much depends on what else the machine does."""
    lead, *others = report["processes"]
    given = lead["gifts_given"] > 0 and all(one["gifts_taken"] > 0 for one in others)
    expect(given and min(one[kind] for one in report["processes"]) >= least, what, str(report["processes"]))


def check_shared(place):
    hosts = ["--hosts", "localhost,localhost", "--threads", 1]
    many = place / "many"
    make_tree.make("many", many, 0.06)
    for verb in (["copy", many, place / "many-copy"], ["compare", many, place / "many-copy"], ["walk", many]):
        expect_shared(team.told(*verb, *hosts)[0], "entries", PORTION, f"{verb[0]}: all processes have a part of one folder")
    large = place / "large"
    large.mkdir()
    with open(large / "file", "wb") as file:
        for number in range(512):
            file.write(number.to_bytes(8, "little") * (2 << 17))
    report, _ = team.told("copy", large, place / "large-copy", *hosts)
    expect_shared(report, "bytes", PIECE, "all processes have a part of one file")
    team.expect_equal(large, place / "large-copy", "one file by three processes")


def check_refusals(place, source):
    target = place / "refused"
    for options in (["--hosts", "-oProxyCommand=x"], ["--hosts", ","], ["--hosts", "a", "--ssh", " "], ["--hosts", "@/missing"],
                    ["--hosts", "localhost", "--patience", "0"], ["--hosts", "slurm"]):
        forebay("copy", source, target, *options, code=None)
        expect(not target.exists(), f"{options} are refused before anything is made")


def check_other_group(place, source):
    """Entries that get no owner would have the group of the process that makes them."""
    hosts = team.Hosts(place / "hosts-group", "node1", before="setpriv --regid 1234 --clear-groups")
    _, errors = team.ended(team.start("copy", source, place / "group", "--preserve", "times", *hosts.options()), 2)
    expect("node1: group 1234 works there, and group 0 works here" in errors, "a host of another group", errors)
    team.told("copy", source, place / "group", *hosts.options())
    team.expect_equal(source, place / "group", "owners are given by a host of another group")


def check_other_limits(place, source):
    """What one host alone has not is said of that host."""
    hosts = team.Hosts(place / "hosts-limits", "node1", before="prlimit --nofile=24:24")
    _, errors = team.ended(team.start("copy", source, place / "limited", "--rate", "10M", "--threads", 2, *hosts.options()), 5)
    expect("forebay: node1: " in errors and errors.count("oo many open files") == 2, "a host that may open few files", errors)


def check_none_comes(place, source):
    """Hosts that a typing error has named, or that have no forebay: the tree is copied, and who did it is said."""
    target, ssh, listed = place / "alone", place / "ssh-127", place / "slots"
    ssh.write_text("#!/bin/sh\nexit 127\n")
    ssh.chmod(0o755)
    said = all_of_forebay("copy", source, target, "--hosts", "n1,n2", "--ssh", ssh)
    expect("no host of --hosts helped: this process did all the work" in said, "that nobody came is said", said)
    expect(f"exit code 127: that host does not have {FOREBAY}-transfer" in said, "and what is missing there", said)
    said = all_of_forebay("sync", source, target, "--hosts", "n1,localhost", "--ssh", ssh)
    expect("no host of --hosts helped" not in said, "one host is enough", said)
    listed.write_text("n1 slots=4\n")
    said = all_of_forebay("copy", source, place / "none", "--hosts", f"@{listed}", code=2)
    expect("slots=4" in said and not (place / "none").exists(), "words of mpiexec are no hosts", said)


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-hosts-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        source, special = place / "TS", place / "special"
        make_tree.make("TS", source, 0.5)
        make_tree.make("special", special)
        by_one = Alone(place, source)
        for name, verb in ways(place):
            check_way(place, name, verb, source, by_one)
            target = place / "special-copy"
            verb("copy", special, target)
            team.expect_equal(special, target, f"special, {name}")
            conformance.removed(target)
        check_differences(place, source)
        check_two_of_one(place)
        check_growing(place)
        check_listed(place, source)
        check_refusals(place, source)
        check_other_group(place, source)
        check_other_limits(place, source)
        check_none_comes(place, special)
        check_shared(place)
        conformance.removed(place)
        place.mkdir()


main()
