"""Goal: a migration comes to its end whatever kills it, and removes a source only when the target has all of it.

Method: two projects are moved while a writer changes, adds and removes files in both, until the hook of the freeze stops
it. `forebay migrate` is killed with SIGKILL in each pass, and goes on. A copy of the frozen sources, by cp -a, is what
the judge compares the targets with. 2,000 entries each, with FOREBAY_MIGRATED=50000 as many; FOREBAY_SEED repeats a run.
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import threading
import time

import conformance
import judge
import make_tree
from forebay_test import FOREBAY, SECONDS_MAX, expect, forebay, run

ENTRIES = int(os.environ.get("FOREBAY_MIGRATED", "2000"))
SEED = int(os.environ.get("FOREBAY_SEED", str(time.time_ns() % 1_000_000)))
NAMES = ("climate", "plasma")
PASSES = ["walk", "copy", "live-sync", "freeze", "final-sync", "compare", "report", "release", "wait", "delete"]
ATTEMPTS_MAX = 50  # a kill that comes too late is tried again
HOOK = """while [ ! -e {place}/still-"$FOREBAY_PROJECT" ]; do touch {place}/freeze-"$FOREBAY_PROJECT"; sleep 0.05; done; sleep 0.3"""


class Writer(threading.Thread):
    """Somebody who works in a project until it is closed."""

    def __init__(self, place, name):
        super().__init__(daemon=True)
        self.place, self.name_of_project, self.source = place, name, place / "old" / name
        self.chance = random.Random(f"{SEED} {name}")
        self.changes, self.problem = 0, None

    def run(self):
        try:
            files = sorted(path for path in self.source.rglob("file-*") if path.is_file() and not path.is_symlink())
            while not (self.place / f"freeze-{self.name_of_project}").exists():
                self.change(files)
                self.changes += 1
                time.sleep(0.002)
            (self.place / f"still-{self.name_of_project}").touch()
        except BaseException as problem:
            self.problem = problem
            raise

    def change(self, files):
        path = files[self.chance.randrange(len(files))]
        kind = self.chance.randrange(5)
        new = path.with_name(f"new-{self.changes}")
        if kind == 0 or not path.exists():
            new.write_bytes(self.chance.randbytes(self.chance.randrange(5000)))
            files.append(new)
        elif kind == 1:
            path.unlink()
        elif kind == 2:
            os.link(path, new)
        elif kind == 3:
            path.rename(new)
            files.append(new)
        else:
            path.write_bytes(self.chance.randbytes(self.chance.randrange(5000)))


class Rehearsal:
    def __init__(self, place):
        self.place, self.plan = place, place / "plan.toml"
        (place / "new").mkdir()
        for name in NAMES:
            make_tree.make("TS", place / "old" / name, ENTRIES / 5000, seed=make_tree.SEED + len(name))
        text = [f'state = "{place}/state"', f'reports = "{place}/reports"', "threads = 2", "sync_turns = 2", "sync_small = 5",
                "wait_days = 0.00002", "delete = true", f"freeze = '''{HOOK.format(place=place)}'''",
                f'release = "touch {place}/released-$FOREBAY_PROJECT"']
        for name in NAMES:
            text += ["[[project]]", f'name = "{name}"', f'source = "{place}/old/{name}"', f'target = "{place}/new/{name}"']
        self.plan.write_text("\n".join(text) + "\n")
        self.chance = random.Random(SEED)
        self.seconds = {}

    def command(self, *more):
        return [str(word) for word in (FOREBAY, "migrate", self.plan, *more)]

    def records(self, name):
        path = self.place / "state" / f"{name}.json"
        return json.loads(path.read_text())["passes"] if path.exists() else {}

    def is_in(self, what, before):
        """Whether a project is in that pass now, in a run that was begun after `before`."""
        for name in NAMES:
            record = self.records(name).get(what, {"starts": 0, "done": False})
            if record["starts"] > before.get(name, 0) and not record["done"]:
                return what != "delete" or self.is_partly_removed(name)
        return False

    def is_partly_removed(self, name):
        source = self.place / "old" / name
        return not source.exists() or len(os.listdir(source)) < self.kept_names[name]

    def kill_in(self, what):
        """Kills a run in the pass; whether that was not too late."""
        before = {name: self.records(name).get(what, {}).get("starts", 0) for name in NAMES}
        process = subprocess.Popen(self.command("--until", what), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        while process.poll() is None and not self.is_in(what, before):
            pass
        if what in ("copy", "compare", "final-sync", "live-sync", "walk") and process.poll() is None:
            time.sleep(self.chance.uniform(0, 0.02 * ENTRIES / 2000))
        process.kill()
        process.wait(SECONDS_MAX)
        return any(not self.records(name).get(what, {"done": False})["done"] for name in NAMES)

    def killed_in(self, what):
        for _ in range(ATTEMPTS_MAX):
            if self.kill_in(what):
                return
            expect(what in ("walk", "report", "compare", "live-sync", "copy", "final-sync"), f"a kill in {what} comes in time")
            if what == "walk":  # there is none before it to stop at
                shutil.rmtree(self.place / "state")
            else:
                forebay("migrate", self.plan, "--again", what, "--until", PASSES[PASSES.index(what) - 1])
        raise AssertionError(f"no kill came in the pass {what}; FOREBAY_SEED={SEED}")

    def whole(self, what):
        """Goes on to the end of the pass. What was killed may live for a moment, and hold the lock of the target."""
        begin = time.monotonic()
        for attempt in range(ATTEMPTS_MAX):
            done = run(*self.command("--until", what), code=None)
            if "another process" not in done.stderr:
                break
            time.sleep(0.1)
        expect(done.returncode == 0, f"a run after a kill in {what} goes on; FOREBAY_SEED={SEED}", done.stdout + done.stderr)
        self.seconds[what] = time.monotonic() - begin

    def keep(self):
        """What the sources are when they are closed."""
        self.kept_names = {}
        for name in NAMES:
            run("cp", "-a", self.place / "old" / name, self.place / f"kept-{name}")
            self.kept_names[name] = len(os.listdir(self.place / "old" / name))

    def wait(self):
        until = max(json.loads((self.place / "state" / f"{name}.json").read_text())["wait_until_unix_s"] for name in NAMES)
        while time.time() < until:
            time.sleep(0.1)

    def run(self):
        writers = [Writer(self.place, name) for name in NAMES]
        for writer in writers:
            writer.start()
        for what in PASSES:
            if what == "delete":
                self.wait()
                forebay("migrate", self.plan, "--until", "wait")
            if what != "release":  # a hook as the freeze is
                self.killed_in(what)
            self.whole(what)
            if what == "freeze":
                for writer in writers:
                    writer.join(SECONDS_MAX)
                    expect(writer.problem is None and writer.changes > 10, "the writer worked until the freeze", str(writer.problem))
                self.keep()
        return sum(writer.changes for writer in writers)

    def check(self):
        for name in NAMES:
            verdict = judge.judge(self.place / f"kept-{name}", self.place / "new" / name)
            expect(verdict.equal, f"the target is what was frozen, not without {verdict.failed()}; FOREBAY_SEED={SEED}", judge.text(verdict))
            expect(not (self.place / "old" / name).exists(), f"nothing of the source is left; FOREBAY_SEED={SEED}", (self.place / "reports" / name / "log").read_text()[-3000:])
            expect((self.place / f"released-{name}").exists(), "the target was opened")
            page = (self.place / "reports" / name / "report.txt").read_text()
            expect("found no difference" in page and "final-sync: " in page, "the page says how it went", page)
            lines = [json.loads(line) for line in (self.place / "reports" / name / "report.jsonl").read_text().splitlines()]
            expect({line["pass"] for line in lines if line["kind"] == "pass"} == set(PASSES[:6]), "a line a pass", str(lines[:3]))
        told = json.loads(forebay("migrate", self.plan, "--status", "--json"))["projects"]
        expect([one["state"] for one in told] == ["done", "done"], "both are done", str(told))
        names = set(os.listdir(self.place / "state"))
        expect(not [name for name in names if name.startswith(".") or name.endswith(".links")], "nothing unfinished is left", str(names))


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-migrate-", dir="/dev/shm", ignore_cleanup_errors=True) as name:
        begin = time.monotonic()
        rehearsal = Rehearsal(pathlib.Path(name))
        changes = rehearsal.run()
        rehearsal.check()
        conformance.removed(pathlib.Path(name) / "new")
        passes = ", ".join(f"{what} {seconds:.2f}" for what, seconds in rehearsal.seconds.items())
        print(f"migrate: {ENTRIES} entries in each of 2 projects, {changes} changes while they were moved, {len(PASSES) - 1} kills, "
              f"{time.monotonic() - begin:.1f} s; after each kill to the end of the pass, in s: {passes}; seed {SEED}")


main()
