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

from forebay_test import BUILD, FOREBAY, SECONDS_MAX, expect, run

IDENTITY = "forebay/run-00f30000c0ffee9a.json"


def save(place, stream, step, identity="f3", arrived=None):
    run(BUILD / "tests" / "make_small_run", place, stream, str(step), "2", identity, *([str(arrived)] if arrived else []))


def identify(place, name=IDENTITY):
    (place / "forebay/sessions/000001").mkdir(parents=True, exist_ok=True)
    (place / name).write_text("{}\n")
    (place / "forebay/sessions/000001/claim.json").write_text("{}\n")


def make(place):
    for step in (100, 120, 140):
        save(place, "restart", step, f"{step:x}")
    save(place, "fields", 120)
    save(place, "restart", 160, "a0", arrived=1)
    identify(place)
    (place / "notes.txt").write_text("mine")
    (place / ".stop").write_text("")
    return place


def copy(source, target, *words, code=0, verb="copy"):
    done = run(FOREBAY, verb, source, target, *words, code=None)
    expect(done.returncode == code, f"exit code {code}, not {done.returncode}", done.stdout + done.stderr)
    return done.stdout + done.stderr


def snapshots(place):
    return sorted(str(path.parent.relative_to(place)) for path in place.glob("*/*/manifest.json"))


def whole(place):
    """Every snapshot of the run there, as `forebay verify` reads it; none is no fault."""
    done = run(FOREBAY, "verify", place, "--json", code=None)
    if done.returncode == 3:
        return []
    found = json.loads(done.stdout)
    expect(all(one["whole"] for one in found), "every snapshot is whole", done.stdout)
    return sorted(f"{one['stream']}/step-{one['step']:06}" for one in found)


ALL = ["fields/step-000120", "restart/step-000100", "restart/step-000120", "restart/step-000140"]


def as_a_run(place):
    source, target = make(place / "run"), place / "copy"
    said = copy(source, target)
    expect("4 snapshots of the run" in said, "it says how many", said)
    expect(whole(target) == ALL == snapshots(target), "all are there", str(snapshots(target)))
    expect((target / "notes.txt").read_text() == "mine" and (target / IDENTITY).exists(), "files of others, and which run it is")
    left = [name for name in (".stop", "forebay/sessions") if (target / name).exists()] + list(target.glob("*/.step*"))
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
    expect("restart/step-000140" in said and "left as it is" in said and "restart/step-000140" in snapshots(target),
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
    copy(source, target)
    manifest = (target / "restart/step-000140/manifest.json").read_text()
    expect("000000000000beef" in manifest and whole(target) == ALL, "another save of a step takes its place", manifest)
    copy(source, target, "--delete", verb="sync")
    expect(whole(target) == [one for one in ALL if "100" not in one], "a sync that removes removes snapshots", str(snapshots(target)))


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
        process = subprocess.Popen([FOREBAY, "copy", source, target, "--rate", str(size), "--threads", "1"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(0.05 + 0.12 * number)
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait(SECONDS_MAX)
        seen.add(len(whole(target)) if target.exists() else 0)
        copy(source, target)
        expect(whole(target) == ALL, "the second run is whole", str(snapshots(target)))
    expect(len(seen) > 1, "copies are killed at several points", str(seen))


def main():
    for case in (as_a_run, damaged, damaged_later, unreadable_source, by_several, other_save, other_run, plain_tree_over_a_run, killed):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
            os.environ["XDG_CACHE_HOME"] = scratch + "/cache"
            case(pathlib.Path(scratch))
            print(f"ok: {case.__name__}", flush=True)


main()
