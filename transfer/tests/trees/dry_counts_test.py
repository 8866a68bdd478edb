"""Goal: what a dry run counts is what the run after it counts, of a tree that nobody changes: all verbs, runs of Forebay too.

Method: the same command with and without --dry-run, whose JSON objects are compared, number by number. Folders that a run
makes are neither `copied` nor `linked`: they are counted at the target. Times that ext4 has not, where it may be mounted.
"""

import os
import pathlib
import shutil
import tempfile

from dry_run_test import make as make_trees
from dry_run_test import told
from forebay_test import expect, run
from own_mounts import AS_USER, USER, user_may_run
from small_runs import make as make_run
from small_runs import save

FORESEEN = {"would_copy", "would_adjust", "would_remove", "adjusted"}


def folders_in(place):
    """Without the empty directory of claims, which a copy of a run leaves at the target."""
    folders = {path for path in place.rglob("*") if path.is_dir() and not path.is_symlink()} if place.exists() else set()
    return {path for path in folders if not str(path).endswith("forebay/sessions") or any(path.iterdir())}


def check(target, *words, code=0, knows_bytes=True, before=()):
    """Runs it twice, and returns what the run told."""
    old = folders_in(target)
    dry = told(*words, "--dry-run", code=code, before=before)
    expect(folders_in(target) == old, f"{words}: a dry run makes nothing")
    done = told(*words, code=code, before=before)
    made = done["folders"] if words[0] == "archive" else len(folders_in(target) - old)
    both = str((words, made, dry, done))
    for key in ("entries", "folders", "equal"):
        expect(dry.get(key) == done.get(key), f"{words}: as many {key}", both)
    moved = dry.get("would_copy", {"entries": 0, "bytes": 0}), dry.get("would_replace", {"entries": 0, "bytes": 0})
    expect(sum(one["entries"] for one in moved) == done.get("copied", 0) + done.get("linked", 0) + made, f"{words}: as many are moved", both)
    if knows_bytes:
        expect(sum(one["bytes"] for one in moved) == done.get("bytes", 0), f"{words}: as many bytes", both)
    expect(dry["remarks"]["would_adjust"] == done.get("adjusted", 0) == done["remarks"]["adjusted"], f"{words}: as many are adjusted", both)
    expect(dry.get("would_remove", {"entries": 0})["entries"] == done.get("removed", 0), f"{words}: as many are removed", both)
    for kind, count in done["remarks"].items():
        expect(kind in FORESEEN or dry["remarks"][kind] == count, f"{words}: as many are {kind}", both)
    expect(dry["exit_code"] == done["exit_code"] == code, f"{words}: both have the exit code", both)
    return done


def check_trees(place):
    for number, words in enumerate((("copy",), ("sync",), ("sync", "--delete"), ("sync", "--delete", "--hosts", "localhost", "--threads", 1),
                                    ("copy", "--exclude", "new"), ("sync", "--delete", "--preserve", "none"))):
        verb, *more = words
        source, target = make_trees(place / str(number))
        os.mkfifo(source / "fifo")
        (source / "link").symlink_to("fifo")
        is_blocked = "--delete" not in more  # a folder stands where the source has a file
        check(target, verb, source, target, *more, code=1 if is_blocked else 0)
        again = check(target, verb, source, target, *more, code=1 if is_blocked else 0)
        expect(again["copied"] == 0, f"{words}: once more nothing is copied", str(again))
        check(place / f"{number}/fresh", verb, source, place / f"{number}/fresh", *more)
        check(target, "delete", target)


def check_names(place):
    """A file of three names, of other permissions at the target; then one of its names is another file there."""
    source, target = place / "source", place / "target"
    source.mkdir(parents=True)
    (source / "a").write_text("x")
    for name in "bc":
        os.link(source / "a", source / name)
    check(target, "copy", source, target)
    (source / "a").chmod(0o600)
    done = check(target, "sync", source, target, "--threads", 1)
    expect(done["adjusted"] == 1 and done["equal"] == 2, "an inode is adjusted once", str(done))
    (source / "a").chmod(0o640)
    for name in "abc":
        (target / name).unlink()
        (target / name).write_text("other bytes")
        done = check(target, "sync", source, target, "--threads", 1)
        expect(len({path.stat().st_ino for path in target.iterdir()}) == 1, "the names are one", str(done))


def check_archives(place):
    source, _ = make_trees(place)
    os.link(source / "new/again", source / "both/third")
    for words in ((), ("--exclude", "again"), ("--threads", 1)):
        (place / "a.tar").unlink(missing_ok=True)
        check(place / "none", "archive", source, place / "a.tar", *words)
    # The root is an entry of the archive. It is made with the target, and is not counted.
    dry = told("restore-archive", place / "a.tar", place / "restored", "--dry-run")
    done = told("restore-archive", place / "a.tar", place / "restored")
    made = len(folders_in(place / "restored"))
    kept = told("archive", source, place / "all.tar")
    done_of_all = told("restore-archive", place / "all.tar", place / "all")
    expect(kept["entries"] == done_of_all["entries"], "a restore counts as many entries as the archive", str((kept, done_of_all)))
    expect(dry["entries"] == done["entries"] and dry["would_copy"] == {"entries": done["copied"] + done["linked"] + made, "bytes": done["bytes"]},
           "a dry run of a restore counts as the restore", str((dry, done)))


def check_runs(place):
    source, target = make_run(place / "run"), place / "copy"
    check(target, "copy", source, target)
    check(target, "copy", source, target)
    save(source, "restart", 180, "b4")
    check(target, "sync", source, target)
    shutil.rmtree(source / "restart/step-000100")
    (target / "extra").write_text("more")
    (source / "notes.txt").write_text("other, and longer")
    done = check(target, "sync", source, target, "--delete")
    expect(done["removed"] == 5, "a snapshot that goes counts with its files", str(done))
    shutil.rmtree(source / "restart/step-000120")
    save(source, "restart", 120, "c7")
    check(target, "copy", source, target, code=1)  # replaces no other save
    check(target, "sync", source, target, "--delete")
    check(place / "hosts", "copy", source, place / "hosts", "--hosts", "localhost", "--threads", 1)
    check(place / "files", "copy", source, place / "files", "--as-files")


def check_user(place):
    """Of a run of others a user gets whole snapshots, without their owners."""
    source, targets = make_run(place / "run"), place / "targets"
    targets.mkdir()
    os.chown(targets, USER, USER)
    for words, code in ((("--manifest", targets / "manifest"), 0), (("--cannot-keep", "drop"), 1)):
        for again in (False, True):
            done = check(targets / f"copy-{code}", "copy", source, targets / f"copy-{code}", *words, code=code, before=AS_USER)
            expect(done["snapshots"] == 4 and done["remarks"]["failed"] == 0, f"{words}, {again}: all are there", str(done))


def check_times(place):
    """A time of 2600, which ext4 has not."""
    image, mount, source = place / "image", place / "mount", place / "far"
    mount.mkdir(parents=True)
    image.write_bytes(b"")
    os.truncate(image, 16 << 20)
    if run("mkfs.ext4", "-q", "-F", image, code=None).returncode or run("mount", "-o", "loop", image, mount, code=None).returncode:
        return print("left out, times that a target has not: no ext4 may be mounted here")
    try:
        (source / "below").mkdir(parents=True)
        for name in ("far", "near", "below/far"):
            (source / name).write_text(name)
            run("touch", "-d", "2600-01-01" if name.endswith("far") else "1960-01-01", source / name)
        done = check(mount / "refused", "copy", source, mount / "refused", code=1, knows_bytes=False)  # written, and not kept
        expect(done["remarks"]["not_kept"] == 2, "two are refused", str(done))
        check(mount / "dropped", "copy", source, mount / "dropped", "--cannot-keep", "drop", code=1)
        check(mount / "dropped", "sync", source, mount / "dropped", "--cannot-keep", "drop", code=1)
    finally:
        run("umount", mount)
    return None


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-dry-counts-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        check_trees(place / "trees")
        check_names(place / "names")
        check_archives(place / "archives")
        check_runs(place / "runs")
        if os.geteuid() == 0:
            check_times(place / "times")
        if os.geteuid() == 0 and shutil.which("setpriv") and user_may_run():
            place.chmod(0o755)
            check_user(place / "user")
    print("dry runs count as the runs do")


if __name__ == "__main__":
    main()
