"""Goal: `forebay copy RUN TARGET --node-files N` gives each snapshot N node files at the target, and changes nothing else
of it: what it holds, which save it is, whom its files belong to. Views that would show the wrong bytes stay behind, and
what is killed, damaged or impossible leaves whole snapshots alone.

Method: small runs of several nodes, copied with fewer, more and as many node files, verified, and compared by exports of
their data; kills at several points; damage, a second sync, options that contradict each other.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import time

from forebay_test import BUILD, FOREBAY, SECONDS_MAX, expect, run

IDENTITY = "forebay/run-00f30000c0ffee9a.json"
ALL = {"fields/step-000120": 3, "restart/step-000100": 5, "restart/step-000120": 5, "restart/step-000140": 1}


def save(place, stream, step, nodes, identity):
    run(BUILD / "tests" / "make_small_run", place, stream, str(step), str(nodes), identity)


def make(place):
    for name, nodes in ALL.items():
        stream, step = name.split("/step-")
        save(place, stream, int(step), nodes, f"{int(step):x}")
    (place / IDENTITY).parent.mkdir()
    (place / IDENTITY).write_text("{}\n")
    (place / "restart/step-000100/notes.txt").write_text("mine")
    return place


def copy(source, target, *words, code=0, verb="copy"):
    done = run(FOREBAY, verb, source, target, *words, code=None)
    expect(done.returncode == code, f"exit code {code}, not {done.returncode}", done.stdout + done.stderr)
    return done.stdout + done.stderr


def node_files(place):
    """How many node files each whole snapshot has: as the manifest says, and no others beside."""
    found = {}
    for path in sorted(place.glob("*/*/manifest.json")):
        named = [line["path"] for line in json.loads(path.read_text())["nodes"]]
        there = [str(file.relative_to(path.parent)) for file in path.parent.rglob("node-*.h5*")]
        expect(sorted(named) == sorted(there), f"{path} names all node files that are there", str((named, there)))
        found[str(path.parent.relative_to(place))] = len(named)
    return found


def whole(place):
    """How many snapshots there are; directories that have no manifest yet are none."""
    done = run(FOREBAY, "verify", place, "--json", code=None)
    found = [one for one in json.loads(done.stdout) if (pathlib.Path(one["directory"]) / "manifest.json").exists()]
    expect(all(one["whole"] for one in found), "every snapshot is whole", done.stdout)
    return len(found)


def dumped(file):
    """All datasets of an HDF5 file, without its name and the attributes that say how many node files it is of."""
    return run("h5dump", "-A", "0", file).stdout.split("\n", 1)[1]


def data_of(place, name, scratch):
    """What an export of a snapshot holds."""
    stream, step = name.split("/step-")
    made = scratch / f"export-{os.urandom(4).hex()}.h5"
    run(FOREBAY, "export", "plain", f"{place}/{stream}@{int(step)}", made)
    return dumped(made)


def wished(number):
    return {name: min(number, 2 * nodes) for name, nodes in ALL.items()}  # of two ranks each


def in_any_number(place):
    source = make(place / "run")
    os.chmod(source / "restart/step-000120/node-00000.h5", 0o640)
    os.utime(source / "restart/step-000120/node-00000.h5", (1e9, 1e9))
    before = {name: data_of(source, name, place) for name in ALL}
    for number in (1, 2, 5, 8, 64):
        target = place / f"copy-{number}"
        told = json.loads(copy(source, target, "--node-files", number, "--json"))
        expect(node_files(target) == wished(number), f"{number} node files", str(node_files(target)))
        expect(whole(target) == told["snapshots"] == 4, "all are whole", str(told))
        changed = sum(wished(number)[name] != nodes for name, nodes in ALL.items())
        expect(told["resharded"] == changed, "those that have as many are copied as they are", str(told))
        for name in ALL:
            expect(data_of(target, name, place) == before[name], f"{name} holds the same in {number} node files")
        file = target / "restart/step-000120/node-00000.h5"
        expect(file.stat().st_mode & 0o777 == 0o640 and file.stat().st_mtime == 1e9, "permissions and times are kept",
               str(file.stat()))
        expect((target / "restart/step-000100/notes.txt").read_text() == "mine", "files of others in a snapshot come along")
    restored = place / "again"
    copy(place / "copy-8", restored, "--node-files", 2)
    expect(data_of(restored, "restart/step-000120", place) == before["restart/step-000120"], "a copy of a copy")


def known_again(place):
    """What is there is left alone, by copy and sync, with the option and without; and it is said."""
    source, target = make(place / "run"), place / "copy"
    copy(source, target, "--node-files", 2)
    for verb, words in (("sync", ()), ("sync", ("--delete", "--checksum")), ("copy", ("--node-files", 2))):
        told = json.loads(copy(source, target, *words, "--json", verb=verb))
        expect(told["copied"] == told["removed"] == told["resharded"] == 0, f"{verb} {words} changes nothing", str(told))
        expect(node_files(target) == wished(2), "as many as before", str(node_files(target)))
    said = copy(source, target, "--node-files", 4)
    expect(node_files(target) == wished(2) and "with 2 node files" in said and "forebay delete" in said, "and this is said", said)
    said = copy(source, target, "--delete", "--dry-run", verb="sync")
    expect("0 (0 B) would be copied, 0 (0 B) replaced, 0 adjusted, 0 (0 B) removed" in said, "a dry run says the same", said)
    run("rm", "-rf", source / "restart/step-000140")
    save(source, "restart", 140, 3, "beef")
    said = copy(source, target, "--node-files", 2, verb="sync", code=1)
    expect("restart/step-000140  failed" in said and "000000000000beef" not in (target / "restart/step-000140/manifest.json").read_text(),
           "another save of a step is not replaced", said)
    copy(source, target, "--node-files", 2, "--delete", verb="sync")
    expect("000000000000beef" in (target / "restart/step-000140/manifest.json").read_text() and
           node_files(target) == wished(2) and whole(target) == 4, "but with --delete another save of a step takes its place")
    said = copy(source, place / "dry", "--node-files", 2, "--dry-run")
    expect(not (place / "dry").exists() and "with 2 node files" in said, "a dry run makes nothing, and says what it would", said)


def views(place):
    source, target = make(place / "run"), place / "copy"
    for what in (("restart@120",), ("fields@120",), ("restart", "--as", "openpmd", "--series")):
        run(FOREBAY, "view", f"{source}/{what[0]}", *what[1:])
    (source / "restart/step-000100.h5").write_text("an export of somebody")
    said = copy(source, target, "--node-files", 3)
    left = {path.name for path in target.glob("*/*.h5")}
    expect(left == {"step-000120.h5", "step-000100.h5"} and (target / "fields/step-000120.h5").exists(),
           "views of what has as many node files as before, and what is none", str(left))
    expect(f"forebay view {target}/restart --as plain --all" in said and "--as openpmd --series" in said, "the others are named", said)
    expect(dumped(target / "fields/step-000120.h5") == dumped(source / "fields/step-000120.h5"), "a view that was copied shows what it showed")
    (target / "restart/step-000100.h5").unlink()
    run(FOREBAY, "view", f"{target}/restart", "--as", "plain", "--all")
    made = dumped(target / "restart/step-000120.h5")
    expect(made == dumped(source / "restart/step-000120.h5"), "the command makes them anew")
    os.unlink(source / "restart/step-000100.h5")
    copy(source, target, "--delete", verb="sync")
    expect(dumped(target / "restart/step-000120.h5") == made, "a sync leaves these alone", made)


def damaged(place):
    source, target = make(place / "run"), place / "copy"
    file = source / "restart/step-000120/node-00003.h5"
    data = bytearray(file.read_bytes())
    data[max(at for at, byte in enumerate(data) if byte)] ^= 1
    file.write_bytes(data)
    said = copy(source, target, "--node-files", 2, code=1)
    expect("restart/step-000120" in said and "node-00003.h5" in said and "variable" in said, "the bytes are named", said)
    expect("restart/step-000120" not in node_files(target) and len(node_files(target)) == whole(target) == 3, "the others are there")
    expect(not (target / "restart/step-000120").exists(), "nothing of it is left")


def killed(place):
    source = make(place / "run")
    size = sum(path.stat().st_size for path in source.rglob("*") if path.is_file())
    seen = set()
    for number in range(8):
        target = place / f"copy-{number}"
        words = [FOREBAY, "copy", source, target, "--node-files", "2", "--rate", str(size), "--threads", "1"]
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(0.05 + 0.12 * number)
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait(SECONDS_MAX)
        there = list(target.glob("*/*/manifest.json"))
        seen.add(len(there))
        expect(not there or whole(target) == len(there), "what shows is whole", str(there))
        again = 2 if number % 2 else 3
        copy(source, target, "--node-files", again)
        expect(set(node_files(target).values()) <= {1, 2, again} and whole(target) == 4, "the second run is whole", str(node_files(target)))
    expect(len(seen) > 1, "copies are killed at several points", str(seen))


def two_at_once(place):
    source, target = make(place / "run"), place / "copy"
    size = sum(path.stat().st_size for path in source.rglob("*") if path.is_file())
    words = [FOREBAY, "copy", source, target, "--node-files", "2", "--rate", str(size), "--threads", "1"]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as first:
        while not list(target.glob("*/*/node-*.h5")):
            expect(first.poll() is None, "the first copy is under way")
            time.sleep(0.01)
        said = copy(source, target, "--node-files", 3, code=2)
        expect("another process copies" in said, "a second one is refused", said)
    expect(first.returncode == 0 and node_files(target) == wished(2) and whole(target) == 4, "and takes nothing from the first")


def never_in_silence(place):
    """Where the name of a stream is a pattern that fits another one's, and so leaves its files out."""
    source, target = make(place / "run"), place / "copy"
    save(source, "a*", 120, 3, "f8")
    copy(source, target, "--node-files", 2)
    save(source, "ab", 120, 2, "f9")
    said = copy(source, target, code=1)
    expect("ab/step-000120" in said and "did not come" in said, "what is left out by mistake is named", said)


def refused(place):
    source = make(place / "run")
    (place / "tree").mkdir()
    for words, why in (((place / "tree", place / "copy"), "run of Forebay"), ((source, place / "copy", "--as-files"), "as a run"),
                       ((source, place / "copy", "--exclude", "x"), "as a run"), ((source, "s3://bucket/run"), "directory"),
                       ((source, place / "copy", "--hosts", "localhost"), "one process")):
        said = copy(*words, "--node-files", 2, code=2)
        expect(why in said and not (place / "copy").exists(), f"{words} is refused", said)


def main():
    for case in (in_any_number, known_again, views, damaged, killed, two_at_once, never_in_silence, refused):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
            os.environ["XDG_CACHE_HOME"] = scratch + "/cache"
            case(pathlib.Path(scratch))
            print(f"ok: {case.__name__}", flush=True)


main()
