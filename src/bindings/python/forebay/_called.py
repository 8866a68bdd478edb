"""Processes in which `forebay insitu` calls scripts. Each process takes one snapshot after another. If a script ends
its process, or does not return in time, that snapshot is lost, and the next snapshot gets a new process."""

import contextlib
import ctypes
import faulthandler
import multiprocessing
import os
import queue
import resource
import signal
import sys

from ._forebay_insitu import show_text
from ._printed import PrintedText
from ._scripts import ScriptError

_TRACE_SECONDS = 2  # to write the traceback of a process before it is killed
_START_SECONDS = 120  # for the start of an interpreter, on a machine that does other work
_PR_SET_PDEATHSIG = 1  # of prctl(2)


class Printer(PrintedText):
    """Output of scripts, with the step in front. It goes to standard error, since standard output is the report."""

    def __init__(self, head):
        super().__init__()
        self._head, self._rest = head, ""

    def write(self, text):
        """Prints whole lines."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            sys.__stderr__.write(f"{self._head}: {show_text(line)}\n")
        return len(text)

    def end(self):
        """Prints the last line, which may lack its end."""
        if self._rest:
            self.write("\n")


class Calls(str):
    """A message of a process: the function that it calls now."""


def _serve(pipe, traces):
    """The loop of a process, until its parent is gone: runs our functions, one after another."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # Ctrl-C ends this process as it ends the command, so a KeyboardInterrupt comes from the script itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.dup2(2, 1)  # standard output of the command is its report
    with open(traces, "w", encoding="utf-8") as file:
        faulthandler.enable(file)
        pipe.send(None)  # ready: the time limit of a call is for the script alone
        while True:
            try:
                function, given = pipe.recv()
            except EOFError:
                return
            pipe.send(function(*given, lambda name: pipe.send(Calls(name))))


class _Caller:
    """One process at a time."""

    def __init__(self, traces):
        self._traces = traces
        self._process = self._pipe = None
        self._is_over = False

    def call(self, head, limit, function, given):
        """Runs `function` in the process and returns its result. ScriptError if the process ends. `limit` is in
        seconds, for each function of a script."""
        if self._is_over:
            raise ScriptError("the command has ended")
        called = ""
        try:
            if self._process is None:
                self._start()
            self._pipe.send((function, given))
            while True:
                if not self._pipe.poll(limit):
                    self._abort()
                    raise self._ended(head, f"did not return within its time limit of {limit:g} s and was killed{called}")
                answer = self._pipe.recv()
                if not isinstance(answer, Calls):
                    return answer
                called = f", in function '{answer}'"
        except (EOFError, OSError):  # of the pipe
            raise self._ended(head, f"has ended its process, {{}}{called}") from None

    def end(self, seconds):
        """Ends the process. `seconds` is the time for the script's exit functions."""
        self._is_over = True
        process = self._process
        if process is not None and seconds:
            self._pipe.close()
            process.join(seconds)
        if process is not None:
            process.kill()

    def _start(self):
        spawn = multiprocessing.get_context("spawn")
        self._pipe, other = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(other, self._traces))
        self._process.start()
        other.close()
        if not self._pipe.poll(_START_SECONDS):
            raise EOFError
        self._pipe.recv()

    def _abort(self):
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(self._process.pid, resource.RLIMIT_CORE, (0, 0))
            os.kill(self._process.pid, signal.SIGABRT)  # makes faulthandler print the traceback

    def _ended(self, head, words):
        """A ScriptError with the reason of the end. Prints the place where it happened."""
        process, self._process = self._process, None
        if process is None:
            return ScriptError("its process cannot be started")
        self._pipe.close()
        process.join(_TRACE_SECONDS)
        process.kill()
        process.join()
        with contextlib.suppress(FileNotFoundError):  # it ended before it could open the file
            with open(self._traces, encoding="utf-8", errors="replace") as file:
                Printer(head).write(file.read())
        code = process.exitcode
        return ScriptError("its script " + words.format(f"with exit code {code}" if code >= 0 else f"by signal {-code}"))


class Callers:
    """Several processes, each for one call at a time. Call it from any thread."""

    def __init__(self, count, directory):
        self._all = [_Caller(os.path.join(directory, f"traces-{number}")) for number in range(count)]
        self._free = queue.SimpleQueue()
        for one in self._all:
            self._free.put(one)

    def call(self, head, limit, function, *given):
        """See _Caller.call()."""
        caller = self._free.get()
        try:
            return caller.call(head, limit, function, given)
        finally:
            self._free.put(caller)

    def end(self, seconds=0):
        """Ends all processes, even during calls."""
        for one in self._all:
            one.end(seconds)
