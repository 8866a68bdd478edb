"""Goal: `forebay migrate` works on the directories that it began with, and removes nothing of a source whose target is not
there: what is mounted elsewhere, or not at all, is noticed before and while something is removed, in a bucket too.

Method: sources and targets that other directories stand for; a target that goes away before, in and after a kill of the
removal; a plan whose places meet by bind mounts; two plans of one target; a server of S3 whose objects are removed.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import s3_support
from forebay_test import BUILD, FOREBAY, SECONDS_MAX, expect, run
from migration_site import Site, expect_in, may_mount


def check_other_source(place):
    """A note in the mount point is not the project: nothing of the target goes for it, and its users stay out of it."""
    site = Site(place / "source", freeze=f"touch {place}/closed")
    site.migrate("--until", "live-sync")
    old, before = site.place / "old/a", site.files("new")
    old.rename(place / "away")
    old.mkdir()
    (old / "NOT_MOUNTED").touch()
    for words, seen in ((), "the walk of 20"), (("--again", "live-sync"), "the walk of 20"), (("--again", "walk"), "an earlier walk"):
        said = site.migrate("--project", "a", *words, code=2)
        expect_in(said, f"source {old} is not the same directory as at {seen}", "a source that is not mounted")
        expect_in(said, f"forebay migrate {site.plan} --project a --moved", "with what to say where it is meant")
    expect(site.files("new") == before and not (place / "closed").exists(), "nothing of the target goes, and no hook is called")
    shutil.rmtree(old)
    run("cp", "-a", place / "away", old)
    expect_in(site.migrate("--project", "a", code=2), "is not the same directory as", "a copy of it is another one, too")
    expect_in(site.migrate("--moved", code=2), "--moved --project NAME", "one cannot mean all of them")
    site.migrate("--project", "a", "--moved")
    expect(site.next("a") == "done" and not old.exists() and site.files("new") == before, "unless that is meant")


def check_other_target(place):
    """The release opens no mount point, and no source goes for what is below one."""
    site = Site(place / "target", release=f"touch {place}/opened-$FOREBAY_PROJECT")
    site.migrate("--project", "a", "--until", "report")
    new, away = site.place / "new/a", place / "away"
    for done in ("report", "wait"):
        site.migrate("--project", "a", "--until", done)
        new.rename(away)
        expect_in(site.migrate("--project", "a", code=3), f"target {new} is missing, but the copy of 20", f"a missing target after {done}")
        new.mkdir()
        (new / "NOT_MOUNTED").touch()
        said = site.migrate("--project", "a", code=2)
        expect_in(said, f"target {new} is not the same directory as at the copy of 20", f"another target after {done}")
        expect((place / "opened-a").exists() == (done == "wait"), "a hook opens the right one alone")
        shutil.rmtree(new)
        away.rename(new)
    expect(len(site.files("old")) == 31, "all of the source is there")
    run("cp", "-a", new, away)
    new.rename(place / "first")
    away.rename(new)
    site.migrate("--project", "a", code=2)
    site.migrate("--project", "a", "--moved")
    expect(site.next("a") == "done" and not (site.place / "old/a").exists(), "a target that was moved, and is meant")


def check_older_state(place):
    """Which target an older program has compared is not known: nothing of the source goes before somebody has looked."""
    site = Site(place / "older")
    kept, old, new, away = site.place / "state/a.json", site.place / "old/a", site.place / "new/a", place / "away"

    def forget():
        state = json.loads(kept.read_text())
        for key in ("source_root", "target_root", "released_unix_s"):
            state.pop(key, None)
        kept.write_text(json.dumps(state))

    site.migrate("--project", "a", "--until", "copy")
    forget()
    old.rename(away)
    old.mkdir()
    (old / "NOT_MOUNTED").touch()
    for until in ("live-sync", "compare"):
        expect_in(site.migrate("--project", "a", "--until", until, code=2), "an older program has walked it", "what lies in a mount point")
    expect(len(site.files("new")) == 31, "nothing of the target goes for it")
    shutil.rmtree(old)
    away.rename(old)
    new.rename(away)
    new.mkdir()
    (new / "NOT_MOUNTED").touch()
    expect_in(site.migrate("--project", "a", code=2), f"check that {old} and {new} are mounted", "both are named")
    expect_in(site.migrate("--project", "a", "--moved", code=2), f"target {new} has no entry in common with source {old}. Is it mounted?", "a target in which nothing is the source's")
    expect(os.listdir(new) == ["NOT_MOUNTED"] and old.exists(), "is not filled")
    shutil.rmtree(new)
    away.rename(new)
    site.migrate("--project", "a", "--moved", "--until", "wait")
    forget()
    expect_in(site.migrate("--project", "a", "--again", "final-sync", code=2), "its release began on 20", "the release is known by its pass")
    new.rename(away)
    new.mkdir()
    (new / "README").touch()
    said = site.migrate("--project", "a", code=2)
    expect_in(said, "an older program has compared it", "another target")
    expect(len(site.files("old")) == 31, "all of the source is there")
    (new / "README").unlink()
    expect_in(site.migrate("--project", "a", code=2), "and delete = false for this project in the plan", "an emptied target")
    new.rmdir()
    away.rename(new)
    site.migrate("--project", "a", "--moved")
    expect(site.next("a") == "done" and not (site.place / "old/a").exists(), "it goes when that is said")


def removing(site):
    """The verb that removes, which stands still after its first entries."""
    hold = site.place / "old/a/below"
    for number in range(20_000):
        (hold / f"more-{number}").touch()
    site.migrate("--project", "a", "--until", "wait")
    migrate = subprocess.Popen([FOREBAY, "migrate", site.plan, "--project", "a"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while migrate.poll() is None and len(os.listdir(hold)) == 20_031:
        pass
    verbs = pathlib.Path(f"/proc/{migrate.pid}/task/{migrate.pid}/children").read_text().split()
    expect(migrate.poll() is None and len(verbs) == 1, "the removal works", str(verbs))
    os.kill(int(verbs[0]), signal.SIGSTOP)
    return migrate, int(verbs[0])


def check_target_goes(place):
    site = Site(place / "goes")
    migrate, verb = removing(site)
    old, new = site.place / "old/a", site.place / "new/a"
    new.rename(place / "away")
    time.sleep(2.5)
    os.kill(verb, signal.SIGCONT)
    said = migrate.communicate(timeout=SECONDS_MAX)[1]
    left = len(site.files("old"))
    expect(migrate.returncode == 3 and left > 0, "the removal ends when the target is not there any more", said)
    expect_in(said, f"a: delete: target {new} is missing", "with the reason")
    expect_in(said, "nothing more was removed", "and what is safe")
    expect_in(site.migrate("--project", "a", code=3), f"target {new} is missing", "it does not go on")
    new.mkdir()
    expect_in(site.migrate("--project", "a", code=2), f"target {new} has 0 entries", "nor with an empty target")
    (new / "NOT_MOUNTED").touch()
    expect_in(site.migrate("--project", "a", code=2), "is not the same directory as at the copy", "nor with another one")
    expect(len(site.files("old")) == left, "what was left of the source stays")
    shutil.rmtree(new)
    (place / "away").rename(new)
    site.migrate("--project", "a")
    expect(not old.exists() and len(site.files("new")) == 20_031, "the rest goes when the target is back")


def check_bind_mounts(place):
    """One project's place in another one's, by a path that does not tell it."""
    if not may_mount():
        return print("migrate: bind mounts are left out: no mounts here")
    site = Site(place / "bind")
    inner = site.place / "new/a/inner/deep"
    inner.mkdir(parents=True)
    (inner / "file").write_text("of project b")
    bind = site.place / "bind"
    bind.mkdir()
    good = site.plan.read_text()
    for seen, source in (("new/a", "bind/inner"), ("new/a/inner", "bind"), ("new/a/inner", "bind/deep"), ("new", "bind/a/inner")):
        site.plan.write_text(good.replace(f"{site.place}/old/b", f"{site.place}/{source}"))
        command = f"mount --bind {site.place}/{seen} {bind} && {FOREBAY} migrate {site.plan}"
        done = run("unshare", "--mount", "--propagation", "private", "sh", "-c", command, code=2)
        expect_in(done.stderr, f"the source of b, {site.place}/{source}/, lies in the target of a, {site.place}/new/a/, by another path", source)
    expect((inner / "file").exists(), "nothing is removed")
    return None


def check_two_plans(place):
    """A project that was begun elsewhere since this process has looked at the states."""
    site = Site(place / "plans", at_once=1, delete=False)
    text = site.plan.read_text()
    other = site.place / "other.toml"
    freeze = f'freeze = "touch {place}/begun; while [ ! -e {place}/go ]; do sleep 0.05; done"\n'
    run("cp", "-a", site.place / "old/b", site.place / "old/late")
    other.write_text(text[: text.index("[[project]]")] + f'[[project]]\nname = "c"\nsource = "{site.place}/old/b"\ntarget = "{site.place}/new/c"\n{freeze}'
                     f'[[project]]\nname = "late"\nsource = "{site.place}/old/late"\ntarget = "{site.place}/new/a"\n')
    with subprocess.Popen([FOREBAY, "migrate", other], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while not (place / "begun").exists():
            expect(process.poll() is None, "the other plan works")
            time.sleep(0.01)
        site.migrate("--project", "a")
        before = site.files("new")
        (place / "go").touch()
        said = process.communicate(timeout=SECONDS_MAX)[1]
    expect(process.returncode == 2, "the other plan is refused", said)
    expect_in(said, "late: it has the same target as project a, in use since 20", "with the reason")
    expect(site.files("new") == before, "what was released stays")
    taken = site.place / "taken.toml"
    taken.write_text(text.replace('name = "a"', 'name = "third"').replace("/new/a", "/old/a").replace("old/a\"\ntarget", "old/late\"\ntarget", 1))
    said = run(FOREBAY, "migrate", taken, "--project", "third", code=2).stderr
    expect_in(said, "third: its target is the source of project a", "a source that may be removed some day is no target")


def check_taken_elsewhere(place):
    """The target of a released project, which another plan of the same state reaches by another path."""
    site = Site(place / "taken", delete=False)
    site.migrate("--project", "a")
    bind, plan, good = site.place / "bind", site.place / "other.toml", site.plan.read_text().rpartition("[[project]]")[0]
    bind.mkdir()
    plans = [(f"mv {site.place}/new {site.place}/newer", target, f"mv {site.place}/newer {site.place}/new") for target in ("newer/a", "newer/a/below", "newer/a/none")]
    if may_mount():
        plans += [(f"mount --bind {site.place}/{seen} {bind}", target, "true") for seen, target in (("new", "bind/a"), ("new/a", "bind/more"), (".", "bind/new"))]
    for before, target, after in plans:
        plan.write_text(good.replace('name = "a"', 'name = "other"').replace(f"{site.place}/new/a", f"{site.place}/{target}"))
        command = f"{before} && {FOREBAY} migrate {plan} --project other; code=$?; {after}; exit $code"
        done = run("unshare", "--mount", "--propagation", "private", "sh", "-c", command, code=2) if after == "true" else run("sh", "-c", command, code=2)
        expect_in(done.stderr, f"other: it has the same target as project a ({site.place}/new/a/), in use since 20", target)
    expect(len(site.files("new")) == 31, "what was released stays")


def check_equal_roots(place):
    """Births do not tell file systems apart that were made in one second."""
    if not may_mount() or not shutil.which("mkfs.ext4") or run("losetup", "-f", code=None).returncode:
        return print("migrate: equal roots are left out: needs root, mkfs.ext4 and losetup")
    site = Site(place / "equal", delete=False)
    site.plan.write_text(site.plan.read_text().replace(f"{site.place}/new/", f"{site.place}/"))
    command = f"set -e; cd {site.place}"
    for name in "ab":
        command += f"; mkdir {name}; truncate -s 8M {name}.img; mkfs.ext4 -q {name}.img; mount -o loop {name}.img {name}; rmdir {name}/lost+found"
    command += "; test $(stat -c %i-%W a) = $(stat -c %i-%W b)"
    command += "".join(f"; {FOREBAY} migrate {site.plan} --project {name}" for name in "ab")
    command += "; diff -r old/a a; diff -r old/b b"
    run("unshare", "--mount", "--propagation", "private", "sh", "-c", command, env={**os.environ, "E2FSPROGS_FAKE_TIME": "1700000000"})
    return None


def check_bucket(server, place):
    site = Site(place / "bucket", preserve="permissions,times")
    site.plan.write_text(site.plan.read_text().replace(f"{site.place}/new/", f"{s3_support.ROOT}/"))
    words = ("migrate", site.plan, "--project", "a")
    server.forebay(*words, "--until", "wait")
    server.forebay("delete", f"{s3_support.ROOT}/a")
    said = server.forebay(*words, code=3)
    expect_in(said, f"target {s3_support.ROOT}/a is missing, but the copy of 20", "a prefix without a key")
    expect(len(site.files("old")) == 31, "removes nothing of the source")
    server.forebay("copy", site.place / "old/a", f"{s3_support.ROOT}/a", "--preserve", "permissions,times")
    server.kill()
    server.forebay(*words, code=None, AWS_MAX_ATTEMPTS="1")
    expect(len(site.files("old")) == 31, "nor does a server that is not there")
    server.start()
    server.forebay(*words, "--moved")
    expect(not (site.place / "old/a").exists(), "it goes when all is there")


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-places-", dir="/dev/shm") as name:
        for check in (check_other_source, check_other_target, check_older_state, check_target_goes, check_bind_mounts, check_two_plans, check_taken_elsewhere, check_equal_roots):
            place = pathlib.Path(name) / check.__name__
            place.mkdir()
            check(place)
        if not (BUILD / "lib/libforebay_s3.so").exists():
            print("migrate: buckets are left out: forebay was built without S3")
            sys.exit(0)
        with s3_support.Own(pathlib.Path(name) / "server") as server:
            check_bucket(server, pathlib.Path(name))
    print("migrate: a project keeps its places")


main()
