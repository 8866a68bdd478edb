"""Projects with a plan, and a queue for their jobs, for tests of `forebay migrate`."""

import json
import os
import pathlib
import subprocess
import time

from forebay_test import all_of_forebay, expect, forebay, run


class Site:
    """Two projects of some files each, and their plan."""

    def __init__(self, place, **options):
        self.place, self.plan = pathlib.Path(place), pathlib.Path(place) / "plan.toml"
        self.options = {"wait_days": 0, "delete": True, "freeze": "true"} | options
        (self.place / "new").mkdir(parents=True)
        for name in ("a", "b"):
            below = self.place / "old" / name / "below"
            below.mkdir(parents=True)
            for number in range(30):
                (below / f"file-{number}").write_bytes(os.urandom(20_000))
            os.link(below / "file-1", below / "same")
        self.write()

    def write(self, extra="", **changed):
        words = {True: "true", False: "false"}
        self.options |= changed
        lines = [f'state = "{self.place}/state"', f'reports = "{self.place}/reports"', "threads = 2"]
        lines += [f"{key} = {words[value] if isinstance(value, bool) else json.dumps(value)}" for key, value in self.options.items()]
        for name in ("a", "b"):
            lines += ["[[project]]", f'name = "{name}"', f'source = "{self.place}/old/{name}"', f'target = "{self.place}/new/{name}"']
        self.plan.write_text("\n".join(lines) + "\n" + extra)

    def migrate(self, *more, code=0):
        return all_of_forebay("migrate", self.plan, *more, code=code)

    def next(self, name):
        return forebay("migrate", self.plan, "--project", name, "--next").strip()

    def files(self, where, name="a"):
        return {path.relative_to(self.place): path.read_bytes() for path in (self.place / where / name).rglob("*") if path.is_file()}


def expect_in(said, part, what):
    expect(part in said, f"{what}: \"{part}\"", said)


def may_mount():
    return os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0


class Queue:
    """Programs sbatch and qsub that keep what is submitted, and jobs that end after some seconds."""

    def __init__(self, site, program):
        self.site, self.program, self.path = site, program, site.place / "queue"
        bin_directory = site.place / "bin"
        bin_directory.mkdir()
        fake = bin_directory / program
        fake.write_text(f'#!/bin/bash\necho "$@" >> {self.path}\n')
        fake.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{bin_directory}:{os.environ['PATH']}"}

    def work(self, script, seconds):
        limits = {**self.environment, "FOREBAY_JOB_END": str(int(time.time() + 60 + seconds))}
        return run("bash", script, code=None, env=limits)

    def taken(self):
        lines = self.path.read_text().splitlines() if self.path.exists() else []
        self.path.write_text("")
        return lines
