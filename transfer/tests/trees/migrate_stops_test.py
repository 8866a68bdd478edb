"""Goal: `forebay migrate` stops before harm that it can foresee: a project under another name or in use, entries that do not come to
the target, jobs that cannot go on or cannot be submitted.

Method: a released project that the plan renames; sources that the user who moves them may not read or give to their
owners; scripts with a `forebay` that ends as is wanted, and a queue that takes nothing.
"""

import json
import os
import pathlib
import re
import shutil
import tempfile

from forebay_test import FOREBAY, expect, forebay, run
from migration_site import Queue, Site, expect_in

NOBODY = 65534


def renamed(site, target, source="old/a"):
    """A plan in which the first project has another name, and perhaps another target."""
    text = site.plan.read_text()
    text = text.replace('name = "a"', 'name = "new-name"').replace(f"{site.place}/new/a", str(target)).replace(f"{site.place}/old/a", f"{site.place}/{source}")
    plan = site.place / "renamed.toml"
    plan.write_text(text)
    return plan


def check_renamed(place):
    """What users wrote at a target is removed by no sync of the same project under another name."""
    site = Site(place / "renamed", delete=False)
    site.migrate("--project", "a")
    (site.place / "new/a/result").write_text("of a user")
    (site.place / "link").symlink_to(site.place / "new")
    for target, code in (("new/a", 2), ("link/../new//a", 2), ("link/a", 2), ("new/a/below", 2), ("new/ab", 0)):
        plan = renamed(site, f"{site.place}/{target}")
        for words in (("--until", "walk"), ("--until", "copy"), ()) if code else (("--until", "copy"),):
            said = run(FOREBAY, "migrate", plan, "--project", "new-name", *words, code=code).stderr
            if code:
                expect_in(said, "new-name: it has the same target as project a", f"{target} is taken")
                expect(re.search(r"in use since 20[0-9-]+ [0-9:]+ UTC", said), "since when", said)
                expect_in(said, "Safe: nothing was changed", "and that all is as it was")
                expect_in(said, "Next: give the project its old name a in", "with what to do")
    plan = renamed(site, f"{site.place}/new/a")
    (site.place / "state/new-name.json").unlink()
    said = run(FOREBAY, "migrate", plan, "--project", "new-name", "--status", code=1).stdout
    expect_in(said, "it has the same target as project a", "the status has it")
    expect(forebay("migrate", plan, "--project", "new-name", "--next").strip() == "stopped", "and scripts go on with others")
    expect((site.place / "new/a/result").read_text() == "of a user", "the target is as its users have it")
    site.migrate()
    path = site.place / "state/a.json"
    good = path.read_text()
    path.write_text("{")
    said = run(FOREBAY, "migrate", plan, "--project", "new-name", code=1).stderr
    expect_in(said, "so its target is unknown", "a state that cannot be read may be that of the target")
    path.write_text(good.replace('"project": "a"', '"project": "new-name"'))
    path.rename(site.place / "state/new-name.json")
    run(FOREBAY, "migrate", plan, "--project", "new-name")
    shutil.copy(site.place / "state/new-name.json", path)
    expect_in(site.migrate("--project", "a", code=2), "name, source and target of a project must not change", "a state of another name")


def check_begun(place):
    """A project that has not released yet is no other one's either; one that has only walked holds nothing."""
    site = Site(place / "begun")
    site.migrate("--until", "walk")
    plan = renamed(site, f"{site.place}/new/a")
    run(FOREBAY, "migrate", plan, "--project", "new-name", "--until", "walk")
    site.migrate("--project", "a", "--until", "copy")
    said = run(FOREBAY, "migrate", plan, "--project", "new-name", "--until", "copy", code=2).stderr
    expect_in(said, "project a, being filled since", "a target to which another one copies")
    (site.place / "state/a.json").write_text("{")
    site.migrate("--project", "b")  # a state of the plan's own that cannot be read holds up no other project


def check_released(place):
    """No --again forgets that users came in, also where the hook has failed after it let them in."""
    site = Site(place / "released", delete=False, release=f"test -e {place}/good")
    site.migrate("--project", "a", code=2)
    (site.place / "new/a/thesis").write_text("of a user")
    refused = ("walk", "copy", "live-sync", "freeze", "final-sync", "compare")
    for words in ((), ("--again", "release"), ("--again", "report")):
        site.migrate("--project", "a", *words, code=2)
        for again in refused:
            said = site.migrate("--project", "a", "--again", again, code=2)
            expect_in(said, "a: its release began on 20", f"{again} after a release")
            expect_in(said, "Next: list the differences with forebay compare of the two", "with what to do")
    said = site.migrate("--project", "a", code=2)
    expect_in(said, "Safe: its changes stay.", "a hook that failed may have opened the target")
    (place / "good").touch()
    site.migrate("--project", "a")
    expect(site.next("a") == "done" and (site.place / "new/a/thesis").exists(), "what users made stays")
    kept = site.place / "state/a.json"
    state = json.loads(kept.read_text())
    kept.write_text(json.dumps(state | {"released_unix_s": 0}))
    site.migrate("--project", "a", "--again", "final-sync")
    expect(not (site.place / "new/a/thesis").exists(), "unless somebody says that no user came in")


def check_include(place):
    """Users who write where nothing fits keep no project from its end."""
    site = Site(place / "include", include=["file-*"], delete=False)
    (site.place / "old/a/notes").mkdir()
    site.migrate("--until", "copy")
    (site.place / "old/a/notes/text").write_text("of a user")
    site.migrate()
    expect(site.next("a") == "done", "it is released")


class Mover:
    """Somebody who is not root, where the tests are."""

    def __init__(self, site):
        self.site, self.who = site, {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        for path in (site.place.parent.parent, site.place.parent, site.place):
            path.chmod(0o755)
        for name in ("new", "state", "reports"):
            (site.place / name).mkdir(exist_ok=True)
            (site.place / name).chmod(0o777)

    def migrate(self, *more, code=0):
        done = run(FOREBAY, "migrate", self.site.plan, "--project", "a", *more, code=code, **self.who)
        return done.stdout + done.stderr


def check_left(place):
    """Users are shut out of no project of which entries do not come to the target."""
    site = Site(place / "left", delete=False, freeze=f"touch {place}/left/new/closed", preserve="permissions,times,hard-links")
    mover, locked = Mover(site), site.place / "old/a/below/file-3"
    locked.chmod(0)
    said = mover.migrate("--until", "copy")
    expect(re.search(r"copy: done in [^:]*: 32 entries, 29 copied, 0 removed, 1 failed: " + f"{site.place}/reports/a/copy.jsonl", said), "a pass ends with its counts", said)
    for words in (("--until", "live-sync"), ()):
        said = mover.migrate(*words, code=1)
        expect_in(said, "a: live-sync: the target will not have all of the source: 1 failed, 0 not_kept", "it stops before the freeze")
        expect_in(said, f"correct the entries in {site.place}/reports/a/live-sync-1.jsonl", "with what to do")
        expect_in(said, f"Then forebay migrate {site.plan} --project a", "and the next command")
    expect(not (site.place / "new/closed").exists(), "the freeze was not called")
    site.write(sync_turns=0)
    said = mover.migrate("--again", "live-sync", code=1)
    expect_in(said, "--project a --again copy", "without live syncs the copy is to be made again")
    locked.chmod(0o644)
    mover.migrate("--again", "copy")
    expect(site.next("a") == "done" and (site.place / "new/closed").exists(), "then it goes on")


def check_nothing_copied(place):
    """A target that got no entry is no target that is not mounted."""
    if os.geteuid() != 0:
        return print("migrate: owners that cannot be kept are left out: not root")
    site = Site(place / "none", freeze=f"touch {place}/none/new/closed")
    flat = site.place / "old/a"
    for path in list((flat / "below").iterdir()):
        path.rename(flat / path.name)
    (flat / "below").rmdir()
    mover = Mover(site)
    said = mover.migrate("--until", "copy")
    expect_in(said, "31 entries, 0 copied, 0 removed, 32 not_kept: ", "what became of them")
    said = mover.migrate(code=1)
    expect_in(said, "a: live-sync: the target will not have all of the source: 0 failed, 32 not_kept", "the reason")
    expect("not mounted" not in said and not (site.place / "new/closed").exists(), "and no other one", said)
    return None


def check_pattern(place):
    """What the final sync would stop at stops before the freeze."""
    site = Site(place / "pattern", freeze=f"touch {place}/pattern/new/closed", include=["*.nc"], delete_excluded=True)
    said = site.migrate(code=1)
    expect_in(said, "a: copy: no entry of the source matches include of the plan", "the reason")
    expect(not (site.place / "new/closed").exists(), "and users are not locked out", said)


def check_filled(place):
    """The words are those of a plan."""
    site = Site(place / "filled")
    (site.place / "new/a").mkdir()
    (site.place / "new/a/.quota").touch()
    said = site.migrate("--project", "a", code=2)
    expect_in(said, "correct the target in the plan, or empty it", "what to do")
    expect("--allow-unlike" not in said and (site.place / "new/a/.quota").exists(), "and no option of another verb", said)


def check_jobs(place):
    """A job goes on by another one after its time or a signal, and not after an error."""
    site = Site(place / "jobs", at_once=1)
    jobs = site.place / "jobs"
    site.migrate("--batch", "slurm", "--output", jobs)
    limits = {**os.environ, "FOREBAY_JOB_END": "1000000000"}
    done = run(FOREBAY, "migrate", site.plan, "--project", "a", code=0, env=limits)
    expect_in(done.stderr, "stopped because the job is about to end", "the end of a job is no error")
    expect(site.next("a") == "now", "and there is more to do")
    done = run(FOREBAY, "migrate", site.plan, "--project", "a", code=2, env=limits)
    expect_in(done.stderr, "walk: several jobs in a row ended without progress", "twice is enough")
    expect(site.next("a") == "stopped" and "a longer time" in site.migrate("--status", code=1), "no job is submitted for it")
    site.migrate("--project", "a", "--until", "walk")
    run(FOREBAY, "migrate", site.plan, "--project", "a", code=0, env=limits)
    expect(site.next("a") == "now", "each pass counts for itself")
    queue = Queue(site, "sbatch")
    fake = site.place / "forebay"
    fake.write_text('#!/bin/sh\ncase "$*" in *--next) echo now ;; *) exit "$CODE" ;; esac\n')
    fake.chmod(0o755)
    script = jobs / "a.sh"
    script.write_text(re.sub("(?m)^forebay=.*$", f"forebay={fake}", script.read_text()))
    for code, submitted in ((0, 1), (143, 1), (137, 1), (5, 0), (7, 0), (2, 0)):
        done = run("bash", script, code=code, env={**queue.environment, "CODE": str(code)})
        expect(queue.taken() == [str(script)] * submitted, f"after exit code {code}", done.stderr)
    (site.place / "bin/sbatch").write_text("#!/bin/sh\nexit 9\n")
    done = run("bash", script, code=1, env={**queue.environment, "CODE": "0"})
    expect_in(done.stderr, f"The lane of a stands still until this was submitted: sbatch '{script}'", "a job that cannot be submitted")


def check_submit(place, system, program):
    """One lane that cannot be submitted holds up no other, and is named."""
    site = Site(place / f"submit-{system}")
    jobs = site.place / "jobs"
    site.migrate("--batch", system, "--output", jobs)
    queue = Queue(site, program)
    fake = site.place / "bin" / program
    fake.write_text(fake.read_text().replace("bash\n", 'bash\ncase "$1" in */a.sh) echo no such queue >&2; exit 3 ;; esac\n'))
    done = run("bash", jobs / "submit.sh", code=1, env=queue.environment)
    expect_in(done.stderr, f"The lane of a stands still until this was submitted: {program} '{jobs}/a.sh'", "which one")
    expect(queue.taken() == [f"{jobs}/b.sh"], "the other one is submitted")


def check_status(place):
    site = Site(place / "status", freeze="test $FOREBAY_PROJECT = b")
    site.migrate("--status")
    site.migrate(code=2)
    expect_in(site.migrate("--status", code=1), "a has stopped in freeze", "a project that has stopped")
    told = json.loads(forebay("migrate", site.plan, "--status", "--json", code=1))["projects"]
    expect([one["state"] for one in told] == ["stopped", "done"], "which one", str(told))
    site.migrate("--status", "--project", "b")


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-stops-", dir="/dev/shm") as name:
        place = pathlib.Path(name)
        for check in (check_renamed, check_begun, check_released, check_include, check_left, check_nothing_copied, check_pattern, check_filled,
                      check_jobs, check_status):
            (place / check.__name__).mkdir()
            check(place / check.__name__)
        check_submit(place, "slurm", "sbatch")
        check_submit(place, "pbs", "qsub")
    print("migrate: it stops before harm")


main()
