#!/usr/bin/env python3
"""Goal: the full screen of `forebay top` follows a changing run at any size, obeys its keys, and restores the terminal
however it ends.

Method: the program in a pseudo-terminal; the terminal emulator pyte draws its output. Runs of make_watched_run. The
test waits for the right screen and measures no time.
"""

import fcntl
import os
import pathlib
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

from forebay_test import BUILD, FOREBAY

try:
    import pyte
except ImportError:
    print("skipped: pyte is not installed")
    sys.exit(77)

MOST_SECONDS = 60  # stops a hang


def has_screens():
    done = subprocess.run([FOREBAY, "top", "--help"], capture_output=True, text=True, check=True)
    return "not in this build" not in done.stdout


class Terminal:
    """The program on a pseudo-terminal, with the screen that a person would see."""

    def __init__(self, arguments, columns=100, rows=30):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.written = b""
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.set_size(columns, rows)
        environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        environment.pop("COLUMNS", None)
        environment.pop("LINES", None)
        self.process = subprocess.Popen([FOREBAY, "top", *arguments], stdin=self.slave, stdout=self.slave,
                                        stderr=subprocess.PIPE, env=environment, start_new_session=True)

    def set_size(self, columns, rows):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.set_size(columns, rows)
        self.screen.resize(rows, columns)
        self.process.send_signal(signal.SIGWINCH)

    def read(self):
        if select.select([self.master], [], [], 0.05)[0]:
            data = os.read(self.master, 65536)
            self.written += data
            self.stream.feed(data)

    def press(self, keys):
        os.write(self.master, keys)

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def until(self, holds, what):
        end = time.monotonic() + MOST_SECONDS
        while not holds(self):
            if time.monotonic() > end:
                raise AssertionError(f"{what}; the screen is\n{self.text()}")
            self.read()

    def shows(self, text):
        self.until(lambda one: text in one.text(), f"{text!r} does not come")

    def end(self):
        """Its exit code, after its end and after all output is read."""
        end = time.monotonic() + MOST_SECONDS
        while self.process.poll() is None:
            if time.monotonic() > end:
                self.process.kill()
                raise AssertionError(f"it does not end; the screen is\n{self.text()}")
            self.read()
        while select.select([self.master], [], [], 0.1)[0]:
            self.read()
        return self.process.returncode

    def is_as_before(self):
        """True if terminal modes, cursor and previous screen are restored."""
        return (termios.tcgetattr(self.slave) == self.before and b"\x1b[?1049l" in self.written
                and self.written.rfind(b"\x1b[?1049l") > self.written.rfind(b"\x1b[?1049h")
                and not self.screen.cursor.hidden)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        os.close(self.master)
        os.close(self.slave)


class Top(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="forebay-top-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def told(self, kind, *nodes):
        subprocess.run([BUILD / "tests" / "make_watched_run", self.scratch / "run7", kind, *map(str, nodes)], check=True)
        return str(self.scratch / "run7")

    def terminal(self, *arguments, **size):
        terminal = Terminal(list(arguments), **size)
        self.addCleanup(terminal.close)
        return terminal

    def test_shows_a_run_and_quits(self):
        terminal = self.terminal(self.told("live"))
        terminal.shows("nid10007")
        text = terminal.text()
        for part in ("running", "session 1", "8 of 8 nodes report", "durable: step 1000 of restart", "job ends in",
                     "8 draining", "slow node nid10003: 0.31 of the median", "q quit"):
            self.assertIn(part, text)
        terminal.press(b"q")
        self.assertEqual(terminal.end(), 0)
        self.assertTrue(terminal.is_as_before())

    def test_updates(self):
        run = self.told("live")
        terminal = self.terminal(run, "--interval", "0.1")
        terminal.shows("running")
        self.told("left")
        terminal.shows("left with work")
        terminal.shows("NOT committed")
        terminal.press(b"q")
        self.assertEqual(terminal.end(), 0)

    def test_any_size(self):
        terminal = self.terminal(self.told("live", 40))
        terminal.shows("nid10000")
        for columns, rows in ((40, 10), (80, 24), (200, 60), (20, 3), (1, 1), (40, 10)):
            terminal.resize(columns, rows)
            if rows == 1:
                continue
            terminal.until(lambda one: "running" in one.lines()[0] or columns < 20, "no title")
            terminal.until(lambda one: one.lines()[-1].startswith("q quit"[:columns]), "no help line")
        # Every screen must show the state, the durable step, the progress of the drain, and the slow node.
        for part in ("running", "durable", "restart", "nid10003", "0.31"):
            terminal.shows(part)
        terminal.press(b"q")
        self.assertEqual(terminal.end(), 0)

    def test_scrolls_and_sorts(self):
        terminal = self.terminal(self.told("live", 40), rows=24)
        terminal.shows("nid10003")
        terminal.until(lambda one: self.first_node(one) == "nid10003", "the slowest node is not the first")
        terminal.press(b"\x1b[B" if b"\x1b[?1h" not in terminal.written else b"\x1bOB")
        terminal.until(lambda one: self.first_node(one) == "nid10000", "it does not scroll")
        terminal.press(b"\x1b[F" if b"\x1b[?1h" not in terminal.written else b"\x1bOF")
        terminal.shows("nid10039")
        terminal.press(b"s")
        terminal.shows("sort: backlog")
        terminal.until(lambda one: self.first_node(one) == "nid10039", "it does not sort")  # it has drained the least
        terminal.press(b"ss")
        terminal.shows("sort: name")
        terminal.until(lambda one: self.first_node(one) == "nid10000", "it does not sort")
        terminal.press(b"q")
        self.assertEqual(terminal.end(), 0)

    def first_node(self, terminal):
        lines = terminal.lines()
        at = next((number for number, line in enumerate(lines) if line.startswith("node ")), None)
        return lines[at + 1].split(" ")[0] if at is not None and lines[at + 1] else ""

    def test_hostile_names(self):
        terminal = self.terminal(self.told("hostile"))
        terminal.shows("\\x1b]0;owned")
        self.assertEqual(terminal.screen.title, "")
        self.assertNotIn(b"\x1b]0;owned", terminal.written)
        self.assertNotIn(b"\xc2\x9b", terminal.written)
        self.assertNotIn(b"\xe2\x80\xae", terminal.written)
        terminal.press(b"q")
        self.assertEqual(terminal.end(), 0)

    def test_signals_and_errors_give_the_terminal_back(self):
        run = self.told("live")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            terminal = self.terminal(run)
            terminal.shows("running")
            terminal.process.send_signal(number)
            self.assertEqual(terminal.end(), -number)
            self.assertTrue(terminal.is_as_before(), number)
        terminal = self.terminal(str(self.scratch / "none"))
        self.assertEqual(terminal.end(), 3)
        self.assertTrue(terminal.is_as_before())
        self.assertIn(b"there is no run", terminal.process.stderr.read())
        # The run disappears during the watch.
        terminal = self.terminal(run, "--interval", "0.1")
        terminal.shows("running")
        subprocess.run(["rm", "-r", run], check=True)
        self.assertEqual(terminal.end(), 3)
        self.assertTrue(terminal.is_as_before())

    def test_without_a_terminal(self):
        done = subprocess.run([FOREBAY, "top", self.told("ended")], capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--once", done.stderr)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    if not has_screens():
        print("skipped: this build draws no screens")
        sys.exit(77)
    unittest.main()
