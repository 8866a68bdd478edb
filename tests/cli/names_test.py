#!/usr/bin/env python3
"""Goal: no name controls the terminal that `forebay` prints on or imitates its messages. --json has the exact name.

Method: streams, packed files, staged directories, files of other programs and arguments get hostile names: control
characters, also in UTF-8, direction overrides, line ends, and invalid UTF-8. Every verb meets them, and its output is
searched. Directories with impossible stream names are ignored; the rest is shown escaped.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from forebay_test import BUILD, FOREBAY, expect, run

# A terminal title, CSI in UTF-8, a direction override, a fake line of ours, a byte that starts no character.
HOSTILE = b"ev\x1b]0;owned\x07\xc2\x9b31m\xe2\x80\xae\nrestart@9  whole\n  Next: rm -r\x7f\xff"
SPELLED = rb"ev\x1b]0;owned\x07\xc2\x9b31m\xe2\x80\xae\x0arestart@9  whole\x0a  Next: rm -r\x7f\xff"
# A stream name that earlier versions allowed.
STREAM = b"ev\xc2\x9b31m\xe2\x80\xae"
SPELLED_STREAM = rb"ev\xc2\x9b31m\xe2\x80\xae"
COMMANDS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\udc80-\udcff]")


def bytes_of(*command, **options):
    """Runs the program and returns its output as bytes."""
    done = run(FOREBAY, *command, code=None, text=False, errors=None, **options)
    expect(done.returncode >= 0 and done.returncode != 7, f"{command} ends with {done.returncode}: {done.stderr}")
    return done


class Names(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="forebay-names-")
        self.addCleanup(scratch.cleanup)
        self.scratch = os.fsencode(scratch.name)
        self.run_directory = self.path(b"run7")

    def path(self, *names):
        return os.path.join(self.scratch, *names)

    def make_streams(self):
        for step in ("100", "120"):
            subprocess.run([BUILD / "tests" / "make_small_run", self.run_directory, "restart", step, "1", step], check=True)
        for name in (HOSTILE, STREAM):
            shutil.copytree(self.path(b"run7", b"restart"), self.path(b"run7", name))

    def check(self, *command, says=b"", typed=False):
        """`typed`: the command itself has line ends. A message may repeat them, but not at the left margin."""
        done = bytes_of(*command)
        for said in (done.stdout, done.stderr):
            text = said.decode("utf-8", "surrogateescape")
            found = COMMANDS.search(text)
            self.assertIsNone(found, f"{command} prints {text!r}")
            self.assertFalse([line for line in text.splitlines() if line.startswith("restart@9")], f"{command}: {text}")
            if not typed:
                self.assertNotIn("\n  Next: rm -r", text)
        self.assertIn(says, done.stdout + done.stderr)
        return done

    def test_streams(self):
        self.make_streams()
        stream = self.path(b"run7", STREAM)
        for verb in ("ls", "verify"):
            self.assertNotIn(b"owned", self.check(verb, self.run_directory, says=SPELLED_STREAM).stdout)
        for command in (("show", stream), ("show", self.run_directory + b"@120"), ("verify", stream + b"@121"),
                        ("view", stream + b"@120"), ("export", "plain", stream + b"@120", self.path(b"out.h5")),
                        ("export", "genericio", stream + b"@120", self.path(b"out")),
                        ("prune", self.run_directory, "--keep", "1", "--dry-run")):
            self.check(*command, says=SPELLED_STREAM)
        os.mkdir(stream + b"/.step-000300.00000000000000f3.part")
        shutil.copytree(stream + b"/step-000100", stream + b"/.step-000090.0000000000000100.gone")
        open(stream + b"/step-000100.nc", "wb").close()
        self.check("recover", self.run_directory, says=SPELLED_STREAM + b": step 90")
        os.truncate(stream + b"/step-000120/node-00000.h5", 10_000)
        self.check("verify", self.run_directory, says=SPELLED_STREAM + b"@120  cannot be checked")
        self.check("prune", self.run_directory, "--keep", "1", says=SPELLED_STREAM + b": step 120 does not count")
        os.truncate(stream + b"/step-000120/manifest.json", 100)
        self.check("ls", self.run_directory, says=SPELLED_STREAM)
        for verb in ("ls", "show", "verify", "view", "recover", "stop"):
            self.check(verb, self.path(b"run7", HOSTILE), typed=True)

    def test_json_is_exact_and_commands_nothing(self):
        self.make_streams()
        shutil.rmtree(self.path(b"run7", HOSTILE))
        name = "ev\x9b31m\u202e\u2028µm"
        os.rename(self.path(b"run7", STREAM), self.path(b"run7", name.encode()))
        done = self.check("ls", self.run_directory, "--json")
        self.assertEqual([one["stream"] for one in json.loads(done.stdout)], [name, name, "restart", "restart"])
        self.assertIn("µm".encode(), done.stdout)

    def test_packed_files(self):
        os.mkdir(self.path(b"plots"))
        with open(self.path(b"plots", HOSTILE), "wb") as file:
            file.write(b"x")
        self.check("pack", self.path(b"plots"), self.run_directory)
        self.check("extract", self.run_directory, "--list", says=SPELLED)
        self.check("extract", self.run_directory, "-C", self.path(b"back"), says=SPELLED)
        self.check("extract", self.run_directory, "-C", self.path(b"back"), says=SPELLED + b" exists")
        self.check("show", self.run_directory + b"/packed-files")
        self.assertEqual(os.listdir(self.path(b"back")), [HOSTILE])
        listed = self.check("extract", self.run_directory, "--list", "--json")
        self.assertEqual(json.loads(listed.stdout)[0]["path"], HOSTILE.decode(errors="replace"))

    def test_staged_directories(self):
        memory, run = self.path(b"memory"), self.path(HOSTILE.rstrip(b"\xff"))
        os.mkdir(memory, 0o700)
        os.mkdir(run)
        subprocess.run([BUILD / "tests" / "make_staged", memory, run, "restart", "100", "2", "0"], check=True, umask=0o077)
        (directory,) = pathlib.Path(os.fsdecode(memory)).glob("*/*")
        self.check("drain", "all", "--wait", "0", "--staging", memory, says=SPELLED.removesuffix(rb"\xff"))
        self.check("recover", run, "--staging", memory, typed=True)
        hostile = os.fsencode(directory.parent) + b"/" + HOSTILE
        os.rename(directory, hostile)
        self.check("drain", "--wait", "0", hostile, typed=True)
        os.unlink(hostile + b"/session.json")
        self.check("drain", "--wait", "0", hostile, typed=True)

    def test_arguments(self):
        for command in (("ls", HOSTILE), ("verify", HOSTILE), (HOSTILE,), ("ls", "--" + HOSTILE.decode(errors="ignore")),
                        ("pack", HOSTILE, self.run_directory), ("import", "genericio", HOSTILE, self.run_directory),
                        ("import", "palm-mpi", HOSTILE, self.run_directory), ("drain", HOSTILE), ("h5part", HOSTILE),
                        ("agent", "--session", HOSTILE)):
            self.check(*command, typed=True)

    def test_files_of_others(self):
        file = self.path(HOSTILE)
        for content in (b"nobody's", b"\x89HDF\r\n\x1a\n" + bytes(9000)):
            with open(file, "wb") as opened:
                opened.write(content)
            for verb in ("ls", "show", "verify"):
                self.check(verb, file, typed=True)


if __name__ == "__main__":
    unittest.main()
