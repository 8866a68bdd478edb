#!/usr/bin/env python3
"""Goal: Forebay removes and replaces its own views alone. A file of a view's name that holds data of its own stays and is
named; no file is made in a snapshot's directory, or in the place of what it is made of.

Method: small runs with exports and files of a user under names of views, in the stream's directory; retention, a save of
the same step, `forebay view` and `forebay export` meet them; their bytes are compared. Exits with 77 without h5py.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from forebay_test import BUILD, all_of_forebay

try:
    import h5py
except ImportError as missing:
    print(f"skipped: {missing}; scripts/bootstrap installs the readers")
    sys.exit(77)

MARK_BYTES = 38  # docs/formats/view.md


class WithRun(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="forebay-others-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.run_directory = self.scratch / "run7"
        self.stream = self.run_directory / "restart"
        for step in (1, 2, 3):
            self.save(step)

    def save(self, step, number=0):
        subprocess.run([BUILD / "tests" / "make_small_run", self.run_directory, "restart", str(step), "2",
                        f"{0x10 * (number + 1) + step:x}"], check=True)

    def view(self, step, *options, **more):
        return all_of_forebay("view", f"{self.run_directory}@{step}", *options, **more)

    def names(self):
        return sorted(os.listdir(self.stream))

    def check_names(self, *expected):
        self.assertEqual(self.names(), sorted(expected))


class Retention(WithRun):
    def test_exports_under_names_of_views_stay(self):
        all_of_forebay("export", "plain", f"{self.run_directory}@1", self.stream / "step-000001.h5")
        all_of_forebay("export", "netcdf", f"{self.stream}@1-3", self.stream / "series.nc")
        (self.stream / "step-000001.nc").write_text("my notes")
        for convention in ("h5part", "openpmd"):
            self.view(1, "--as", convention)
            all_of_forebay("view", self.stream, "--as", convention, "--series")
        kept = {name: (self.stream / name).read_bytes() for name in ("step-000001.h5", "series.nc", "step-000001.nc")}
        said = all_of_forebay("prune", self.run_directory, "--keep", "2", "--dry-run")
        self.assertEqual(len(self.names()), 3 + 3 + 4)
        for _ in range(2):
            for name in kept:
                self.assertIn(f"{self.stream / name} stays", said)
            self.assertNotIn("h5part stays", said)
            said = all_of_forebay("prune", self.run_directory, "--keep", "2") if "would" in said else said
        self.check_names("step-000002", "step-000003", *kept)
        for name, content in kept.items():
            self.assertEqual((self.stream / name).read_bytes(), content)
        with h5py.File(self.stream / "series.nc") as file:
            self.assertEqual(list(file["step"][:]), [1, 2, 3])

    def test_the_answer_names_them_for_programs_too(self):
        (self.stream / "step-000001.h5").write_text("mine")
        answer = json.loads(all_of_forebay("prune", self.run_directory, "--keep", "2", "--json"))
        self.assertEqual(answer[0]["others"], [str(self.stream / "step-000001.h5")])

    def test_all_conventions_are_known_again(self):
        for convention in ("plain", "h5part", "openpmd", "netcdf"):
            self.view(1, "--as", convention)
            if convention != "plain":
                all_of_forebay("view", self.stream, "--as", convention, "--series")
        self.assertEqual(len(self.names()), 3 + 7)
        self.assertNotIn("stays", all_of_forebay("prune", self.run_directory, "--keep", "2"))
        self.check_names("step-000002", "step-000003")

    def test_a_view_without_its_mark_stays(self):
        self.view(1)
        view = self.stream / "step-000001.h5"
        os.truncate(view, view.stat().st_size - MARK_BYTES)  # as earlier versions wrote it
        self.assertIn(f"rm {view}", all_of_forebay("prune", self.run_directory, "--keep", "2"))
        self.assertTrue(view.exists())

    def test_who_writes_into_a_view_makes_it_theirs(self):
        self.view(1)
        with h5py.File(self.stream / "step-000001.h5", "r+") as file:
            file["mine"] = [1, 2, 3]
        self.assertIn("stays", all_of_forebay("prune", self.run_directory, "--keep", "2"))
        with h5py.File(self.stream / "step-000001.h5") as file:
            self.assertEqual(list(file["mine"]), [1, 2, 3])


class Replacement(WithRun):
    def test_a_later_save_of_the_step_leaves_what_is_no_view(self):
        all_of_forebay("export", "plain", f"{self.run_directory}@2", self.stream / "step-000002.h5")
        content = (self.stream / "step-000002.h5").read_bytes()
        self.view(2, "--as", "netcdf")
        self.save(2, 5)
        self.check_names("step-000001", "step-000002", "step-000003", "step-000002.h5")
        self.assertEqual((self.stream / "step-000002.h5").read_bytes(), content)

    def test_drain_and_recover_name_what_stays(self):
        other = self.stream / "step-000002.h5"
        other.write_text("mine")
        memory = self.scratch / "memory"
        for number, command in ((0xf1, ("drain", "all")), (0xf2, ("recover", self.run_directory))):
            memory.mkdir(mode=0o700, exist_ok=True)
            for node in "01":
                subprocess.run([BUILD / "tests" / "make_staged", memory, self.run_directory, "restart", "2", "2", node,
                                f"{number:x}"], check=True, umask=0o077)
            said = all_of_forebay(*command, "--staging", memory)
            self.assertIn("committed", said)
            self.assertIn(f"{other} stays", said)
        self.assertEqual(other.read_text(), "mine")

    def test_a_later_step_leaves_series(self):
        all_of_forebay("view", self.stream, "--as", "netcdf", "--series")
        self.save(4)
        self.assertIn("series.nc", self.names())
        self.save(2, 5)
        self.assertNotIn("series.nc", self.names())


class Views(WithRun):
    def test_a_view_is_replaced_and_nothing_else_unasked(self):
        self.view(1)
        self.view(1)
        self.view(1, "--to", self.scratch / "shown.h5")
        self.view(2, "--to", self.scratch / "shown.h5")
        for file in (self.stream / "step-000002.h5", self.scratch / "mine.h5"):
            file.write_text("mine")
            to = () if file.parent == self.stream else ("--to", file)
            self.assertIn("--force", self.view(2, *to, code=2))
            self.assertEqual(file.read_text(), "mine")
            self.view(2, *to, "--force")
            with h5py.File(file) as made:
                self.assertEqual(made.attrs["step"], 2)


class Outputs(WithRun):
    """Each command that makes a file of snapshots."""
    COMMANDS = [("export", convention, "{place}", "{file}", "--force") for convention in ("plain", "netcdf", "genericio")]
    COMMANDS.append(("view", "{place}", "--to", "{file}", "--force"))

    def check_refused(self, file, said, *more):
        before = self.contents()
        for command in self.COMMANDS:
            if more and "genericio" in command:
                continue
            with self.subTest(command=command, file=file):
                filled = [part.format(place=f"{self.run_directory}@1", file=file) for part in command]
                self.assertIn(said, all_of_forebay(*filled, *more, code=2))
                self.assertEqual(self.contents(), before)

    def contents(self):
        return {path: path.read_bytes() for path in self.scratch.rglob("*") if path.is_file()}

    def test_nothing_is_made_in_a_snapshot_s_directory(self):
        step = self.stream / "step-000002"
        (step / "deeper").mkdir()
        (self.scratch / "way").symlink_to(step)
        part = self.stream / ".step-000009.00000000000000f3.part"
        part.mkdir()
        for file in (step / "node-00000.h5", step / "manifest.json", step / "new.h5", step / "deeper" / "new.h5",
                     self.scratch / "way" / "node-00001.h5", self.stream / "x" / ".." / "step-000002" / "new.h5",
                     part / "node-00000.h5"):
            (self.stream / "x").mkdir(exist_ok=True)
            self.check_refused(file, "directory of a snapshot")
        os.chdir(step)
        self.addCleanup(os.chdir, "/")
        self.check_refused("new.h5", "directory of a snapshot")
        self.assertIn("whole", all_of_forebay("verify", self.run_directory))

    def test_a_snapshot_that_a_link_leads_to_is_not_written_into(self):
        archive = self.scratch / "archive"
        shutil.move(self.stream / "step-000001", archive)
        (self.stream / "step-000001").symlink_to(archive)
        for directory in (archive, self.stream / "step-000001"):
            for name in ("node-00000.h5", "new.h5"):
                self.check_refused(directory / name, "directory of a snapshot")
        (archive / "manifest.json").rename(archive / "manifest.json.old")
        (archive / "manifest.json").write_text("{}")
        self.COMMANDS = [[part.replace("{place}", f"{self.run_directory}@2") for part in command]
                         for command in self.COMMANDS]
        for command in self.COMMANDS:  # anybody's directory now
            all_of_forebay(*(part.format(file=archive / "new.h5") for part in command))

    def test_a_directory_of_the_name_that_is_in_no_run_is_anybody_s(self):
        own = self.scratch / "step-000120"
        own.mkdir()
        self.view(1, "--to", own / "shown.h5")
        all_of_forebay("export", "plain", f"{self.run_directory}@1", own / "out.h5")

    def test_what_a_file_is_made_of_is_not_replaced_by_it(self):
        text = '[variables."gas/x"]\nunit = "km"\n'
        for description, more in ((self.stream / "describe.toml", ()), (self.scratch / "said.toml", ("--describe",))):
            description.write_text(text)
            more = more and (*more, description)
            (self.scratch / "other.name").unlink(missing_ok=True)
            (self.scratch / "other.name").symlink_to(description)
            if more:
                (self.stream / "describe.toml").unlink()
            self.check_described(description, more)
            self.check_described(self.scratch / "other.name", more)

    def check_described(self, file, more):
        for command in self.COMMANDS:
            if "genericio" not in command:
                filled = [part.format(place=f"{self.run_directory}@1", file=file) for part in command]
                self.assertIn("which is its input", all_of_forebay(*filled, *more, code=2))
                self.assertIn("km", file.read_text())

    def test_partitions_are_not_replaced_unasked(self):
        (self.scratch / "gas#1").write_text("mine")
        command = ("export", "genericio", f"{self.run_directory}@1", self.scratch / "gas", "--partitions", "2")
        self.assertIn("--force", all_of_forebay(*command, code=2))
        self.assertEqual((self.scratch / "gas#1").read_text(), "mine")
        all_of_forebay(*command, "--force")


if __name__ == "__main__":
    unittest.main()
