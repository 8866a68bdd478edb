#!/usr/bin/env python3
"""Goal: the second reader, written from docs/formats alone, lists every golden file as it did when it was made, and refuses
every file of refuse/ with the kind of error in its name. What it says of a golden file, Forebay says too: format.golden."""

import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
READER = HERE.parents[1] / "tools" / "readers" / "read_node_file.py"


def read(path):
    return subprocess.run([sys.executable, READER, path], capture_output=True, text=True, check=False)


class SecondReader(unittest.TestCase):
    def test_golden_files(self):
        files = [f for f in HERE.glob("v*/**/*") if f.suffix in (".h5", ".json")]
        self.assertGreaterEqual(len(files), 7)
        for file in files:
            with self.subTest(file=file.name):
                done = read(file)
                self.assertEqual(done.stderr, "")
                self.assertEqual(done.stdout, file.with_suffix(".txt").read_text())
                self.assertEqual(done.returncode, 0)

    def test_files_to_refuse(self):
        files = list((HERE / "refuse").iterdir())
        self.assertGreaterEqual(len(files), 52)
        for file in files:
            with self.subTest(file=file.name):
                done = read(file)
                self.assertEqual(done.returncode, 1)
                self.assertEqual(done.stderr.removeprefix(f"{file}: ").split(":")[0], file.name.split("-")[0], done.stderr)


if __name__ == "__main__":
    unittest.main()
