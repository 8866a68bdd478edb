"""The worker of a node's scripts: python3 -m forebay.insitu_worker STAGING_DIRECTORY, which the agent of the node starts.

It speaks the lines of src/path/agent/analysis_worker.hpp over its standard input and output. Whatever ends this process, or
keeps it, within a call of a script costs that script one snapshot: the agent starts another one.

What a script prints stands in RUN/forebay/scripts-HOST-N.log when its call has returned, with the step in front, at most
64 KiB a call. Until then it lies in the staging directory, so that what ended the process is there as well.
"""

import contextlib
import faulthandler
import os
import resource
import shutil
import sys
import traceback

os.environ.setdefault("MPLBACKEND", "Agg")  # there is no display

from . import _scripts  # pylint: disable=wrong-import-position
from ._flags import Flags  # pylint: disable=wrong-import-position
from ._forebay_insitu import ScriptRun  # pylint: disable=wrong-import-position
from ._printed import PrintedText  # pylint: disable=wrong-import-position

PRINTED_MAX = 64 << 10  # bytes of a call: a summary of a step, or some tracebacks
TEXT_MAX = 3000  # of a line: the agent reads up to 4 KiB


def one_line(text):
    """As a line of the protocol."""
    words = " ".join(text.removeprefix("forebay: ").split())
    return words if len(words) <= TEXT_MAX else words[:TEXT_MAX] + "..."


class Printed(PrintedText):
    """Standard output and errors of scripts: a file that outlives the process, and its way into the run's log."""

    def __init__(self, place, path):
        super().__init__()
        self._place = place
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._room = PRINTED_MAX
        self.publish()  # what a worker before this one has left
        faulthandler.enable(self._fd)
        sys.stdout = sys.stderr = self

    def write(self, text):
        """What does not fit is left out."""
        data = text.encode(errors="replace")
        os.write(self._fd, data[:max(self._room, 0)])
        self._room -= len(data)
        return len(text)

    def begin(self, head):
        """A call begins."""
        self._room = PRINTED_MAX
        os.write(self._fd, f"{head}\n".encode())

    def publish(self):
        """A call has ended: each of its lines with the step in front."""
        head, *lines = os.pread(self._fd, 2 * PRINTED_MAX, 0).decode(errors="replace").splitlines() or [""]
        if self._room < 0:
            lines.append(f"... {-self._room} bytes more")
        os.ftruncate(self._fd, 0)
        if lines:
            self._place.log("".join(f"{head}: {line}\n" for line in lines))


class Worker:
    """Answers the agent until it says no more."""

    def __init__(self, directory):
        # What scripts, and libraries of theirs, print must not look like answers.
        self._answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
        os.dup2(2, 1)
        self._place = ScriptRun.of_session(directory)
        self._printed = Printed(self._place, os.path.join(directory, "scripts.log"))
        self._scripts = {}
        self._traces = {}  # of each analysis the last one that was printed
        self._unfinished = os.path.join(self._place.spool, ".scripts")
        # What the interpreter and its modules have is not counted. Of private memory alone: a limit on addresses
        # (RLIMIT_AS) would count the slots too, which are mapped and cost a script nothing.
        with open("/proc/self/statm", encoding="ascii") as sizes:
            self._own_bytes = int(sizes.read().split()[5]) * resource.getpagesize()
        self._hard_limit = resource.getrlimit(resource.RLIMIT_DATA)[1]

    def serve(self):
        """A line each."""
        for line in sys.stdin:
            slot, snapshot, _, *off = map(int, line.split()[1:])
            shutil.rmtree(self._unfinished, ignore_errors=True)
            try:
                self.say(f"made {self.see(slot, snapshot, set(off))}")
            except Exception as error:  # pylint: disable=broad-exception-caught
                self.say(f"failed {one_line(str(error))}")

    def say(self, line):
        """To the agent."""
        print(line, file=self._answers, flush=True)

    def see(self, slot, snapshot, off):
        """All scripts of the slot's stream; how many have results."""
        node, analyses = self._place.open(slot, snapshot)
        made = [Making(self, node, analysis, index) for index, analysis in enumerate(analyses)
                if analysis.script and node.step % analysis.every == 0 and index not in off]
        failures = []
        for making in made:
            with self.failing(making.name, failures):
                making.begin(self._scripts)
        if not node.has_lease:
            raise _scripts.ScriptError("a save needed the slot before its scripts read it")
        self.say("seen")
        count = 0
        for making in made:
            with self.failing(making.name, failures):
                count += making.end(self._place)
        if failures:
            raise _scripts.ScriptError("; ".join(failures))
        return count

    @contextlib.contextmanager
    def failing(self, name, failures):
        """The others go on."""
        try:
            yield
        except Exception as error:  # pylint: disable=broad-exception-caught
            failures.append(_scripts.text_of(name, error))

    @contextlib.contextmanager
    def calling(self, making):
        """Around all that a script may do."""
        self.say(f"calls {making.index}")
        self._printed.begin(f"step {making.node.step} {making.node.stream}.{making.name}")
        if making.memory_limit:
            resource.setrlimit(resource.RLIMIT_DATA, (self._own_bytes + making.memory_limit, self._hard_limit))
        try:
            yield os.path.join(self._unfinished, making.name)
        except MemoryError:
            # Nobody knows what is left of the script's state: a new process.
            resource.setrlimit(resource.RLIMIT_DATA, (self._hard_limit, self._hard_limit))
            self.say(f"problem analysis '{making.name}': its script has no more memory than its memory_limit_bytes, "
                     f"{making.memory_limit}")
            raise SystemExit(1) from None
        except Exception as error:
            self._print_trace((making.node.stream, making.name), error)
            self._returned()
            raise
        self._returned()

    def _print_trace(self, key, error):
        """Whole where it is another one than before: a script that cannot be imported says so at each step."""
        before, self._traces[key] = self._traces.get(key), traceback.format_exc()
        print(f"{_scripts.words_of(error)}, as before" if self._traces[key] == before else self._traces[key].rstrip())

    def _returned(self):
        resource.setrlimit(resource.RLIMIT_DATA, (self._hard_limit, self._hard_limit))
        self._printed.publish()
        self.say("returned")


class Making:
    """One script's work on one snapshot: begin() over the slot, end() when the slot is given back."""

    def __init__(self, worker, node, analysis, index):
        self.name, self.index, self.node, self.memory_limit = analysis.name, index, node, analysis.memory_limit_bytes
        self._worker, self._analysis = worker, analysis
        self._script = None
        self._functions = []
        self._has_begun = False
        self._found = _scripts.Found()
        self._tasks = []
        self._flags = Flags()

    def begin(self, scripts):
        """What this node has to give; of a snapshot of one node it is all."""
        path = self._analysis.script
        if path not in scripts:
            with self._worker.calling(self):
                scripts[path] = _scripts.Script(path)
        self._script = scripts[path]
        self._script.must_look(self.node.stream)
        self._functions = self._script.due(self.node.stream, self.node.step)
        for place, function in self._functions:
            self._one(place, function)
        self._has_begun = True

    def _one(self, place, function):
        mark, name = function.forebay_every, function.__name__
        if mark.gather and self.node.nodes > 1:
            self._tasks.append((place, _scripts.pack_blocks(self.node, mark.gather)))
            return
        with self._worker.calling(self) as directory, self._flags.open():
            self._script.use()
            own = os.path.join(directory, place)
            if self.node.nodes == 1:
                self._found.merge(_scripts.finished(function, [self.node], own), name)
                return
            found = _scripts.call(function, [self.node], own)
            self._tasks.append((place, _scripts.pack_numbers(found.numbers)))
            found.numbers = {}
            self._found.merge(found, name)

    def end(self, place):
        """Brings the nodes together where this one is the last; how many snapshots of results it has written. What has
        been raised counts where a function has failed, too: it was raised of values that were there."""
        if self.node.nodes > 1 or not self._has_begun:
            self._act(place)  # before this node's part lets another one write the results
        if not self._has_begun:
            return 0
        parts = None
        try:
            if self._tasks:
                parts = place.join(self.node, self.name, self._script.source, self._tasks)
                if parts:
                    self._join([dict(one) for one in parts])
            lines = self._found.lines()
            self._act(place, lines)
        except Exception:
            self._act(place)
            raise
        _scripts.deliver(self._found, place.spool, self.node.stream, self.name, self.node.step)
        kept = _scripts.kept(lines)
        if kept:
            place.write_results(self.node, self.name, kept)
        if parts:
            place.remove_parts(self.node, self.name)
        return 1 if kept else 0

    def _act(self, place, lines=()):
        """Before the results are written: once they are there nobody looks at the snapshot again."""
        all_looked = self._has_begun and self._script.has_looked(self._functions, self.node.stream)
        said, _ = place.act(self.node, self._analysis, list(lines), all_looked, self._flags.raised(), True)
        flags, self._flags = self._flags, Flags()
        problems = [f"analysis '{self.name}': {problem}" for problem in self._found.problems]
        self._found.problems = []
        problems += [f"analysis '{self.name}': its result '{key}' has no element and is left out, here and at other steps"
                     for key in self._found.empty()]
        for line in said + [f"problem {one_line(problem)}" for problem in problems + flags.problems(self.name)]:
            self._worker.say(line)

    def _join(self, parts):
        for place, function in self._functions:
            mark, name = function.forebay_every, function.__name__
            with self._worker.calling(self) as directory, self._flags.open():
                self._script.use()
                if mark.gather:
                    nodes = [_scripts.PackedNode(part[place], self.node) for part in parts]
                    self._found.merge(_scripts.finished(function, nodes, os.path.join(directory, place)), name)
                else:
                    self._found.merge(
                        _scripts.bring_together(function, [_scripts.unpack_numbers(part[place]) for part in parts]), name)


if __name__ == "__main__":
    Worker(sys.argv[1]).serve()
