"""The worker for a node's scripts: python3 -m forebay.insitu_worker STAGING_DIRECTORY. The agent of the node starts
it.

It uses the protocol of src/path/agent/analysis_worker.hpp on its standard input and output. If this process ends or
hangs within a call of a script, that script loses one snapshot: the agent starts another worker.

Output of a script appears in RUN/forebay/scripts-HOST-N.log after its call has returned, with the step in front, at
most 64 KiB a call. Until then it lies in the staging directory, so that the output before a crash is kept too.
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
    """A text as one line of the protocol."""
    words = " ".join(text.removeprefix("forebay: ").split())
    return words if len(words) <= TEXT_MAX else words[:TEXT_MAX] + "..."


class Printed(PrintedText):
    """Standard output and errors of scripts: a file that outlives the process, and its copy in the run's log."""

    def __init__(self, place, path):
        super().__init__()
        self._place = place
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._room = PRINTED_MAX
        self.publish()  # output that an earlier worker left
        faulthandler.enable(self._fd)
        sys.stdout = sys.stderr = self

    def write(self, text):
        """Drops text beyond the limit."""
        data = text.encode(errors="replace")
        os.write(self._fd, data[:max(self._room, 0)])
        self._room -= len(data)
        return len(text)

    def begin(self, head):
        """Call it before a call of a script."""
        self._room = PRINTED_MAX
        os.write(self._fd, f"{head}\n".encode())

    def publish(self):
        """Call it after a call of a script: logs each line with the step in front."""
        head, *lines = os.pread(self._fd, 2 * PRINTED_MAX, 0).decode(errors="replace").splitlines() or [""]
        if self._room < 0:
            lines.append(f"... {-self._room} bytes more")
        os.ftruncate(self._fd, 0)
        if lines:
            self._place.log("".join(f"{head}: {line}\n" for line in lines))


class Worker:
    """Answers the agent until it closes the connection."""

    def __init__(self, directory):
        # Output of scripts and of their libraries must not look like answers.
        self._answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
        os.dup2(2, 1)
        self._place = ScriptRun.of_session(directory)
        self._printed = Printed(self._place, os.path.join(directory, "scripts.log"))
        self._scripts = {}
        self._traces = {}  # the last traceback printed for each analysis
        self._unfinished = os.path.join(self._place.spool, ".scripts")
        # The memory of the interpreter and its modules is not counted. The limit is on private memory: a limit on
        # addresses (RLIMIT_AS) would count the slots too, which are mapped and cost a script nothing.
        with open("/proc/self/statm", encoding="ascii") as sizes:
            self._own_bytes = int(sizes.read().split()[5]) * resource.getpagesize()
        self._hard_limit = resource.getrlimit(resource.RLIMIT_DATA)[1]

    def serve(self):
        """Answers one line at a time."""
        for line in sys.stdin:
            slot, snapshot, _, *off = map(int, line.split()[1:])
            shutil.rmtree(self._unfinished, ignore_errors=True)
            try:
                self.say(f"made {self.see(slot, snapshot, set(off))}")
            except Exception as error:  # pylint: disable=broad-exception-caught
                self.say(f"failed {one_line(str(error))}")

    def say(self, line):
        """Sends a line to the agent."""
        print(line, file=self._answers, flush=True)

    def see(self, slot, snapshot, off):
        """Runs all scripts for the slot's stream. Returns the number of scripts with results."""
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
        """Records a failure, so that the other scripts continue."""
        try:
            yield
        except Exception as error:  # pylint: disable=broad-exception-caught
            failures.append(_scripts.text_of(name, error))

    @contextlib.contextmanager
    def calling(self, making):
        """Guards all code of a script."""
        self.say(f"calls {making.index}")
        self._printed.begin(f"step {making.node.step} {making.node.stream}.{making.name}")
        if making.memory_limit:
            resource.setrlimit(resource.RLIMIT_DATA, (self._own_bytes + making.memory_limit, self._hard_limit))
        try:
            yield os.path.join(self._unfinished, making.name)
        except MemoryError:
            # The script's state is unknown now, so the agent needs a new process.
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
        """Prints the whole traceback if it differs from the last: a script that cannot be imported would print it at
        each step."""
        before, self._traces[key] = self._traces.get(key), traceback.format_exc()
        print(f"{_scripts.words_of(error)}, as before" if self._traces[key] == before else self._traces[key].rstrip())

    def _returned(self):
        resource.setrlimit(resource.RLIMIT_DATA, (self._hard_limit, self._hard_limit))
        self._printed.publish()
        self.say("returned")


class Making:
    """One script's work on one snapshot: begin() while the slot is leased, end() after it is returned."""

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
        """Computes this node's part. For a snapshot of one node that is everything."""
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
        """On the last node, combines the parts of all nodes. Returns the number of snapshots of results. Flags count
        even if a function failed: they were raised for values that existed."""
        if self.node.nodes > 1 or not self._has_begun:
            self._act(place)  # before this node's part lets another node write the results
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
        """Marks before the results are written: once they exist, nobody looks at the snapshot again."""
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
