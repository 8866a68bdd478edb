#!/usr/bin/env python3
"""Goal: what `forebay export` writes is for every reader what the view of the same snapshot is, with the data inside, and
it is written whole, in bounded memory, by a program that may be killed.

Method: the snapshots of views_test.py are exported and go through its readers again; each dataset and attribute is
compared bit for bit with the view. Then the program is killed with SIGKILL while it copies at a limited rate, meets a
damaged node file, a full file system, and waits for a snapshot. Exits with 77 when a reader is not installed.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

import same_content
import views_test as views
from forebay_test import measures_memory, output_of
from views_test import CASES, SCRATCH, h5py

FOREBAY = os.path.join(os.environ.get("FOREBAY_BINARY_DIR", "build"), "bin", "forebay")
view_of = views.view_of


def path(*names):
    return os.path.join(SCRATCH.name, *names)


def export_of(case):
    return path(f"{case}.h5")


def export(place, file, *options):
    return json.loads(output_of(FOREBAY, "export", "plain", place, file, "--json", *options))


def setUpModule():
    views.setUpModule()
    views.view_of = export_of
    for case in CASES:
        export(path(case) + "@120", export_of(case))
    output_of(views.MAKE, "large", path("large"))


class H5py(views.H5py):
    # These checks apply only to views.
    test_what_is_virtual = test_after_a_move = test_a_missing_node_file_reads_as_fill = None


class NetCDF4(views.NetCDF4):
    pass


class Xarray(views.Xarray):
    pass


class Tools(views.Tools):
    pass


class TheSameAsTheView(unittest.TestCase):
    def test_every_bit(self):
        for case in CASES:
            with self.subTest(case=case):
                same_content.check(self, export_of(case), view_of(case))

    def test_large_ones_whatever_the_memory_and_the_threads(self):
        for options in (["--memory", "13M", "--threads", "1"], ["--threads", "9"], ["--align", "4K", "--memory", "1G"]):
            with self.subTest(options=options):
                export(path("large@120"), path("large.h5"), "--force", *options)
                same_content.check(self, path("large.h5"), path("large", "fields", "step-000120.h5"))

    def test_large_datasets_begin_at_multiples(self):
        export(path("large@120"), path("aligned.h5"), "--align", "2M")
        with h5py.File(path("aligned.h5"), "r") as file:
            for name in ("rho", "particles/x"):
                self.assertEqual(file[name].id.get_offset() % (2 << 20), 0)
                self.assertEqual(file[name].id.get_storage_size(), file[name].nbytes)


@measures_memory
class Memory(unittest.TestCase):
    def peak(self, *options):
        # A process inherits the peak of its parent, so a small process asks.
        ask = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        command = [FOREBAY, "export", "plain", path("large@120"), path("bounded.h5"), "--force", *options]
        return int(output_of(sys.executable, "-S", "-c", ask, *command)) * 1024

    def test_it_is_bounded(self):
        # One thread uses 13 MiB: it reads 4 MiB at once into a window of 1 MiB. Compressed node files need the rest.
        least = self.peak("--memory", "13M", "--threads", "4")
        self.assertLess(least, 40 << 20)
        self.assertLess(self.peak("--memory", "26M", "--threads", "2") - least, 7 << 20)
        self.assertLess(self.peak("--memory", "40M", "--threads", "1") - least, 31 << 20)


class Faults(unittest.TestCase):
    def started(self, file, *options):
        return subprocess.Popen([FOREBAY, "export", "plain", path("large@120"), file, "--json", *options],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def left(self, file):
        name = os.path.basename(file) + ".part-"
        return sorted(entry for entry in os.listdir(SCRATCH.name) if entry.startswith(name))

    def test_killed_it_goes_on(self):
        file = path("killed.h5")
        child = self.started(file, "--rate", "12M", "--memory", "13M")
        for _ in range(6000):
            if len(self.left(file)) == 2 or child.poll() is not None:
                break
            time.sleep(0.05)
        child.send_signal(signal.SIGKILL)
        self.assertEqual(child.wait(), -signal.SIGKILL)
        child.stderr.close()
        self.assertEqual(len(self.left(file)), 2)  # the file without its name, and the journal
        self.assertFalse(os.path.exists(file))
        done = export(path("large@120"), file)
        self.assertGreater(done["bytes_resumed"], 1 << 20)
        self.assertLess(done["bytes_written"], 96_000_064)
        self.assertEqual(done["notes"], [])
        self.assertEqual(self.left(file), [])
        self.assertEqual(subprocess.run(["cmp", file, self.undisturbed()], check=False).returncode, 0)

    def undisturbed(self):
        file = path("undisturbed.h5")
        if not os.path.exists(file):
            export(path("large@120"), file)
        return file

    def refused(self, code, said, *command, **options):
        done = subprocess.run([FOREBAY, "export", "plain", *command], capture_output=True, text=True, check=False, **options)
        self.assertEqual((done.returncode, done.stdout), (code, ""))
        for text in said:
            self.assertIn(text, done.stderr)

    def test_damaged(self):
        shutil.copytree(path("two"), path("damaged"))
        node = path("damaged", "fields", "step-000120", "node-00001.h5")
        with h5py.File(node, "r") as file:
            at = file["fields/f64"].id.get_offset() + 3
        with open(node, "r+b") as file:
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1]))
        verified = json.loads(output_of(FOREBAY, "verify", path("damaged@120"), "--json", code=1))
        (damage,) = verified[0]["damage"] if isinstance(verified, list) else verified["damage"]
        self.refused(4, [damage["text"], "Safe:", "Next: forebay verify"], path("damaged@120"), path("damaged.h5"))
        self.assertFalse(os.path.exists(path("damaged.h5")))

    def test_the_target_takes_no_more(self):
        file = path("full.h5")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000_000, 50_000_000))  # noqa: E731
        self.refused(5, ["was not exported", "RLIMIT_FSIZE", "Safe:", "Next:"], path("large@120"), file,
                     preexec_fn=lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), limit()))
        self.assertFalse(os.path.exists(file))
        export(path("large@120"), file)
        self.assertEqual(subprocess.run(["cmp", file, self.undisturbed()], check=False).returncode, 0)

    def test_there_already(self):
        self.refused(2, ["exists already", "--force"], path("one@120"), export_of("one"))

    def test_it_waits(self):
        hidden, shown = path("late", ".step"), path("late", "fields", "step-000120")
        shutil.copytree(path("one"), path("late"))
        os.rename(shown, hidden)
        self.refused(3, ["there is no run"], path("late", "fields") + "@120", path("late.h5"), "--wait", "0")
        timer = threading.Timer(1, os.rename, (hidden, shown))
        timer.start()
        try:
            export(path("late", "fields") + "@120", path("late.h5"), "--wait", "60")
        finally:
            timer.join()


if __name__ == "__main__":
    unittest.main()
