"""Goal: `forebay migrate` removes and overwrites nothing where something is not as it must be, says what, and goes on
when that is corrected; its scripts move projects job by job.

Method: small projects; sources and targets that are not mounted, plans and sources that change, hooks that fail and hang,
two at once, a full target, states that are damaged or half written; a queue that stands for Slurm and PBS and whose jobs
end after seconds.
"""

import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from forebay_test import FOREBAY, SECONDS_MAX, all_of_forebay, expect, forebay, run
from migration_site import Queue, Site, expect_in, may_mount


def check_not_mounted(place):
    """The other project goes on."""
    site = Site(place / "mounts")
    site.migrate("--until", "freeze")
    old, new = site.place / "old/a", site.place / "new/a"
    before = site.files("new")
    old.rename(place / "away")
    said = site.migrate("--until", "compare", code=3)
    expect_in(said, "is missing, but the walk of ", "a source that is missing is named")
    expect(site.next("b") == "now" and "compare" not in site.migrate("--status", "--project", "b"), "the other project went on")
    old.mkdir()
    said = site.migrate("--until", "compare", code=2)
    expect_in(said, "has 0 entries, but the walk of ", "an empty source is named")
    expect_in(said, "Is it mounted?", "and why it may be")
    expect(site.files("new") == before and site.next("a") == "stopped", "nothing was removed")
    old.rmdir()
    (place / "away").rename(old)
    new.rename(place / "away-new")
    expect_in(site.migrate(code=3), "is missing, but the copy of ", "a target that is missing")
    new.mkdir()
    expect_in(site.migrate(code=2), "has 0 entries, but the copy of ", "a target that is empty")
    new.rmdir()
    (place / "away-new").rename(new)
    site.migrate()
    expect(not old.exists() and site.files("new") == before, "it goes on when all is mounted")


def check_changed_source(place):
    site = Site(place / "changed")
    site.migrate("--until", "wait")
    late = site.place / "old/a/below/file-3"
    stamp = late.stat()
    data = bytearray(late.read_bytes())
    data[0] ^= 1
    late.write_bytes(data)
    os.utime(late, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # it looks as before, but for the time of its change
    said = site.migrate("--dry-run")
    expect_in(said, "delete      forebay delete", "a dry run says what is next")
    said = site.migrate(code=1)
    expect_in(said, "the source changed after the final sync (below/file-3 changed on 20", "a changed source is not removed")
    expect_in(said, f"forebay delete {site.place}/old/a, and delete = false for this project", "with a way to its end")
    expect(len(site.files("old")) == 31 and not (site.place / "old/b").exists(), "all of it stays, and the other project goes on")
    expect_in(site.migrate("--again", "final-sync", "--project", "a", code=2), "A sync would undo later changes by users", "no sync after the release")
    forebay("delete", site.place / "old/a")
    source = f'source = "{site.place}/old/a"'
    site.plan.write_text(site.plan.read_text().replace(source, f"delete = false\n{source}"))
    site.migrate()
    expect(site.next("a") == "done", "which closes the project")


def check_removal_goes_on(place):
    """A part is removed, as after a kill; what somebody adds then is not."""
    site = Site(place / "removal")
    hold = site.place / "old/a/below"
    for number in range(5000):
        (hold / f"more-{number}").touch()
    site.migrate("--until", "wait")
    (site.place / "old/b").rename(place / "b")
    with subprocess.Popen([FOREBAY, "migrate", site.plan, "--project", "a"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and len(os.listdir(hold)) == 5031:
            pass
        process.kill()
    state = json.loads((site.place / "state/a.json").read_text())
    expect(state["being_removed"] and not state["passes"]["delete"]["done"], "the kill came in the removal")
    time.sleep(0.5)  # its verb ends with it, but not in the same moment
    expect(hold.exists(), "a part of the source is there")
    (hold / "late").write_text("from a user")
    said = site.migrate("--project", "a", code=2)
    expect_in(said, "below/late was changed or added during the removal of the source", "what was added is named")
    expect((hold / "late").read_text() == "from a user", "and stays")
    expect_in(site.migrate("--project", "a", "--again", "copy", code=2), "its source is being removed", "there is no way back")
    (hold / "late").unlink()
    site.migrate("--project", "a")
    expect(site.next("a") == "done" and not (site.place / "old/a").exists(), "the rest is removed")
    state["passes"]["delete"]["done"] = False
    state["being_removed"] = True
    (site.place / "state/a.json").write_text(json.dumps(state))
    (site.place / "state/a.links").touch()
    site.migrate("--project", "a")
    expect(not (site.place / "state/a.links").exists(), "a kill behind the last removal leaves nothing")
    state["above_inode"] += 1
    (site.place / "state/a.json").write_text(json.dumps(state))
    expect_in(site.migrate("--project", "a", code=3), "and the directory above it are missing. Is it mounted?", "a place that is gone is not a removed source")


def check_plan(place):
    site = Site(place / "plan")
    site.migrate("--until", "copy")
    good = site.plan.read_text()
    for wrong, part in [(good.replace("threads", "thread"), "'thread' is not known. Nearest: 'threads'"),
                        (good.replace("/old/b", "/old/a/below"), "lies in the source of a"),
                        (good.replace("/new/b", "/old/a/copy"), "lies in the source of a"),
                        (good.replace("/state", "/old/a/state"), "must not lie in the source of a"),
                        (good.replace('name = "b"', 'name = "a"'), "has the name a twice"),
                        (good.replace('name = "b"', 'name = "../b"'), "'project.name' is \"../b\", and must be letters"),
                        (good.replace('freeze = "true"', ""), "'project.freeze' of a is missing"),
                        (good.replace("source = ", "sorce = ", 1), "'project.sorce' is not known. Nearest: 'project.source'"),
                        (good.replace(f'target = "{site.place}/new/b"', ""), "'project.target' of b is missing, as in target = "),
                        (good.replace('freeze = "true"', 'freeze = "true"\nexclude = ["*.o"]'), "delete_excluded"),
                        (good.replace(f"{site.place}/old/b", "old/b"), "must be an absolute path"),
                        (good.replace("/old/a", "/old/c"), "but ")]:
        site.plan.write_text(wrong)
        expect_in(site.migrate(code=2), part, "a plan is refused")
    site.plan.write_text(good)
    expect_in(site.migrate("--project", "c", code=2), "has no project c", "an unknown project")
    expect_in(site.migrate("--until", "clean", code=2), "passes are walk, copy", "an unknown pass")
    site.migrate("--until", "copy")
    site.write(exclude=["*.core", "it's"], delete_excluded=True)
    expect_in(site.migrate("--dry-run"), r"--exclude '*.core' --exclude 'it'\''s' --preserve all", "calls can be typed as they are shown")
    site.migrate("--until", "live-sync")
    expect_in((site.place / "reports/a/log").read_text(), r"--exclude '*.core' --exclude 'it'\''s'", "those of the log, too")


def check_not_bound(place):
    """A project that copied nothing moves wherever the plan says now; one that copied does not."""
    site = Site(place / "bound")
    good = site.plan.read_text()
    site.plan.write_text(good.replace("/old/a", "/old/away"))
    expect_in(site.migrate("--project", "a", code=3), "does not exist", "a source that is missing")
    site.plan.write_text(good.replace("/new/a", "/new/no/a"))
    expect_in(site.migrate("--project", "a", code=3), "cannot be made", "a target whose directory is missing")
    said = site.migrate("--project", "a", "--status", code=1)
    expect_in(said, "a has stopped in copy:", "the status has the reason")
    reason = " ".join(said[said.index("has stopped"):].split())
    expect_in(reason, "make the directory above it, or correct the path", "whole, up to its next step")
    expect(max(len(line) for line in said.splitlines() if "/" not in line) <= 100, "in lines of a terminal", said)
    site.plan.write_text(good)
    site.migrate("--project", "a", "--until", "copy")
    site.plan.write_text(good.replace("/new/a", "/new/other"))
    expect_in(site.migrate("--project", "a", code=2), "began with", "one that has copied is bound")


def check_hooks(place):
    site = Site(place / "hooks", freeze=f"echo no users; test -e {place}/closed", hook_minutes=5)
    said = site.migrate(code=2)
    expect_in(said, "the hook freeze failed: exit code 1: no users", "a hook that fails")
    expect(site.next("a") == "stopped", "the project stops there")
    site.write(freeze="sleep 100 & sleep 100", hook_minutes=0.01)
    begin = time.monotonic()
    expect_in(site.migrate(code=2), "it was stopped after 600 ms", "a hook that hangs")
    expect(time.monotonic() - begin < 90, "is ended")
    site.write(freeze='echo "$FOREBAY_PROJECT $FOREBAY_SOURCE $FOREBAY_TARGET" >> ' + f"{place}/closed", hook_minutes=5)
    site.migrate("--until", "compare")
    told = sorted((place / "closed").read_text().split("\n")[:2])
    expect(told == [f"{name} {site.place}/old/{name} {site.place}/new/{name}" for name in "ab"], "what a hook is told", str(told))


def check_told_once(place):
    """The reason stands in what a call prints once; --status has it, too."""
    site = Site(place / "once", freeze="echo closed $((1 + 1)) days; false")
    said = site.migrate(code=2)
    expect(said.count("closed 2 days") == 2 and said.count("forebay: a: freeze: ") == 1, "once of each project", said)
    expect(said.count("Next: correct the cause") == 2 and "has stopped in" not in said, "with its next step", said)
    expect_in(site.migrate("--status", code=1), "a has stopped in freeze:", "the status")
    expect_in((site.place / "reports/a/log").read_text(), "freeze: the hook freeze failed", "and the log")
    (site.place / "state/a.json").write_text("{")
    said = site.migrate("--project", "a", code=1)
    expect(said.count("is not a valid state of a migration") == 1, "of a state that cannot be read, too", said)


def check_fewer_days(place):
    """Days that were told once are waited for, and it is said that fewer of the plan do not count."""
    site = Site(place / "days", wait_days=20)
    site.migrate("--until", "wait")
    until = json.loads((site.place / "state/a.json").read_text())["wait_until_unix_s"]
    expect("is not obeyed" not in site.migrate("--status"), "nothing is said of days that are obeyed")
    site.write(wait_days=2.5)
    for words in ((), ("--status",), ("--dry-run",)):
        expect_in(site.migrate(*words), "wait_days = 2.5 in the plan is shorter and is ignored: --again wait", f"fewer days {words}")
    expect(json.loads((site.place / "state/a.json").read_text())["wait_until_unix_s"] == until, "the date stays")
    site.migrate("--again", "wait")
    begun = json.loads((site.place / "state/a.json").read_text())
    expect(abs(begun["wait_until_unix_s"] - time.time() - 2.5 * 86_400) < 600, "and how they are", str(begun["wait_until_unix_s"]))
    expect("is not obeyed" not in site.migrate("--status"), "then all is as the plan says")
    site.write(wait_days=3)
    site.migrate()
    expect("is not obeyed" not in site.migrate("--status"), "more days are obeyed")


def check_wrong_clock(place):
    """A wait that began by a clock that was wrong is not over when the clock is right."""
    site = Site(place / "clock", wait_days=30)
    site.migrate()
    path = site.place / "state/a.json"
    for days in (-400, 400):
        state = json.loads(path.read_text())
        state["passes"]["wait"]["began_unix_s"] += days * 86_400
        state["wait_until_unix_s"] += days * 86_400
        path.write_text(json.dumps(state))
        expect_in(site.migrate("--project", "a"), "by a wrong clock, and counts from now", f"a clock that was {days} days ahead")
        until = json.loads(path.read_text())["wait_until_unix_s"]
        expect(abs(until - time.time() - 30 * 86_400) < 600, "then all days are waited for", str(until))
        expect("wrong clock" not in site.migrate("--project", "a"), "once")
    expect(len(site.files("old")) == 31, "the source is there")


def check_two_at_once(place):
    site = Site(place / "two", freeze=f"touch {place}/begun; while [ ! -e {place}/go ]; do sleep 0.05; done")
    with subprocess.Popen([FOREBAY, "migrate", site.plan, "--project", "a"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as first:
        while not (place / "begun").exists():
            expect(first.poll() is None, "the first one works")
            time.sleep(0.01)
        expect_in(site.migrate("--project", "a", code=2), "another forebay migrate works on this project", "a second one is refused")
        expect(site.next("a") == "running", "and sees it")
        with open(site.place / "reports/a/log", "a", encoding="utf-8") as log:
            log.write("copy [####....]  50 %  1 of 2\n")  # as a verb does each minute
        expect_in(site.migrate("--status", "--project", "a"), "copy [####....]  50 %  1 of 2", "with how far it is")
        first.send_signal(signal.SIGTERM)
        expect(first.wait(SECONDS_MAX) == -signal.SIGTERM, "a signal ends it, and its hook")
    expect(site.next("a") == "now", "which is no error")
    (place / "go").touch()
    site.migrate()
    expect(site.next("a") == site.next("b") == "done", "and it goes on")


def check_states(place):
    site = Site(place / "states")
    site.migrate("--until", "copy")
    path = site.place / "state/a.json"
    good = path.read_text()
    half = site.place / "state/.a.json.77-0123456789abcdef.tmp"
    half.write_text(good[:100])
    other = site.place / "state/.a.json.json.77-0123456789abcdef.tmp"
    other.write_text("of a project a.json")
    site.migrate("--until", "compare")
    expect(not half.exists() and other.exists(), "a state that was being written is removed, and that of another project is not")
    good = path.read_text()
    path.write_text(good[:-20])
    expect_in(site.migrate(code=1), "is not a valid state of a migration", "a damaged state")
    path.write_text(good.replace('"version": 1', '"version": 2'))
    expect_in(site.migrate(code=6), "has version 2", "a newer state")
    expect(len(site.files("old")) == 31 and site.next("b") == "done", "touches nothing, and the other project goes on")
    path.write_text(good)
    (site.place / "new/a/below/file-7").write_bytes(b"other")
    said = site.migrate("--project", "a", "--again", "compare", code=1)
    expect_in(said, "source and target differ", "trees that differ")
    expect(len(site.files("old")) == 31, "nothing is removed then")
    site.migrate("--project", "a", "--again", "final-sync")
    expect(site.next("a") == "done", "a sync makes them equal again")


def check_example(place):
    """The worked example of the page of the format is a state that the program reads."""
    site = Site(place / "example")
    site.write()
    site.plan.write_text(site.plan.read_text().replace(f"{site.place}/old/a", "/old/projects/climate").replace(
        f"{site.place}/new/a", "/new/projects/climate").replace('"a"', '"climate"'))
    (site.place / "state").mkdir()
    shutil.copy(pathlib.Path(os.environ["FOREBAY_SOURCE_DIR"]) / "docs/formats/examples/migrate.json", site.place / "state/climate.json")
    told = json.loads(forebay("migrate", site.plan, "--project", "climate", "--status", "--json"))["projects"][0]
    expect((told["state"], told["pass"], told["entries"]) == ("due", "delete", 33), "the example says how far a project is", str(told))


def check_full(place):
    if not may_mount():
        return print("migrate: a full target is left out: no mounts here")
    site = Site(place / "full")
    command = f"mount -t tmpfs -o size=200k none {site.place}/new && {FOREBAY} migrate {site.plan} --project a"
    done = run("unshare", "--mount", "--propagation", "private", "sh", "-c", command, code=5)
    expect("full" in done.stderr.lower() or "room" in done.stderr.lower() or "space" in done.stderr.lower(), "a full target is named", done.stderr)
    expect(len(site.files("old")) == 31, "the source is as it was")
    site.migrate("--project", "a", "--until", "release")
    return None


def check_batch(place, system, program):
    site = Site(place / system, rate="300K", at_once=1, wait_days=0.00002, freeze="true")
    site.write('[batch]\nqueue = "movers"\naccount = "staff"\ntime = "02:00:00"\nlines = ["module load forebay"]\n')
    jobs = site.place / "jobs"
    site.migrate("--batch", system, "--output", jobs)
    text = (jobs / "a.sh").read_text()
    for part in ("movers", "staff", "02:00:00", "module load forebay"):
        expect_in(text, part, "what the plan says of jobs")
    if shutil.which("shellcheck"):
        run("shellcheck", *jobs.glob("*.sh"))
    for script in jobs.glob("*.sh"):
        text = script.read_text().replace("module load forebay", "")
        script.write_text(text)
        run("bash", "-n", script)
    queue = Queue(site, program)
    run("bash", jobs / "submit.sh", env=queue.environment)
    waiting, worked, dated = queue.taken(), collections.Counter(), 0
    expect(waiting == [f"{jobs}/a.sh"], "one lane begins", str(waiting))
    while waiting:
        *options, script = waiting.pop(0).split(" ")
        if options:
            dated += 1
            time.sleep(2)
        worked[pathlib.Path(script).stem] += 1
        expect(sum(worked.values()) < 30, "jobs come to an end", str(worked))
        queue.work(script, 60 if options else 1)
        waiting += queue.taken()
    expect(site.next("a") == site.next("b") == "done", "both projects are moved", site.migrate("--status"))
    expect(worked["a"] >= 3 and worked["b"] >= 2 and dated == 2, "by jobs that follow each other, and come again after the wait", f"{worked} {dated}")
    site.migrate("--batch", system, "--output", jobs)  # replaces its own
    other = site.place / "other.toml"
    other.write_text(site.plan.read_text())
    own = (jobs / "a.sh").read_text()
    for name, text in (("a.sh", "somebody's"), ("a.sh", f"#!/bin/bash\necho mine\n{own}"), ("submit.sh", "sbatch mine.sh\n")):
        before = (jobs / name).read_text()
        (jobs / name).write_text(text)
        expect_in(site.migrate("--batch", system, "--output", jobs, code=2), "was not made from this plan", "files of others stay")
        expect((jobs / name).read_text() == text and (jobs / "b.sh").read_text() != "", "as they were")
        (jobs / name).write_text(before)
    said = all_of_forebay("migrate", other, "--batch", system, "--output", jobs, code=2)
    expect_in(said, "was not made from this plan", "those of another plan, too")


def check_stopped_project(place):
    """The next of the lane is submitted."""
    site = Site(place / "lane", at_once=1, freeze="test $FOREBAY_PROJECT = b")
    site.migrate("--batch", "slurm", "--output", site.place / "jobs")
    queue = Queue(site, "sbatch")
    done = queue.work(site.place / "jobs/a.sh", 100)
    expect(done.returncode == 2 and queue.taken() == [f"{site.place}/jobs/b.sh"], "a project that fails holds up no other", done.stderr)


def check_empty_source(place):
    """The same of `forebay sync --delete`, of any two trees."""
    site = Site(place / "sync")
    empty = site.place / "empty"
    empty.mkdir()
    said = forebay("sync", empty, site.place / "old/a", "--delete", code=2)
    expect_in(said, "is empty", "an empty source empties no target")
    forebay("sync", empty, site.place / "old/a", "--delete", "--dry-run", code=2)
    expect(len(site.files("old")) == 31, "nothing is removed")
    forebay("sync", empty, site.place / "old/a", "--allow-unlike")
    forebay("sync", empty, site.place / "none", "--delete")
    forebay("sync", empty, site.place / "old/a", "--delete", "--allow-empty")
    expect(os.listdir(site.place / "old/a") == [], "unless that is meant")
    forebay("copy", site.place / "old/b", site.place / "paced", "--rate", "100M", "--rate-group", "tests")
    forebay("copy", site.place / "old/b", site.place / "paced", "--rate-group", "tests", code=2)
    forebay("copy", site.place / "old/b", site.place / "paced", "--rate", "1M", "--rate-group", "a/b", code=2)


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-guards-", dir="/dev/shm") as name:
        place = pathlib.Path(name)
        for number, check in enumerate([check_not_mounted, check_changed_source, check_removal_goes_on, check_plan, check_not_bound, check_hooks,
                                        check_told_once, check_fewer_days, check_wrong_clock, check_two_at_once, check_states, check_example, check_full, check_stopped_project, check_empty_source]):
            (place / str(number)).mkdir()
            check(place / str(number))
        for system, program in (("slurm", "sbatch"), ("pbs", "qsub")):
            check_batch(place, system, program)
    print("migrate: guards hold")


main()
