"""Scripts over committed snapshots: the part of `forebay insitu` that is Python. The program finds the snapshots and
calls this; people call `forebay insitu`.

Each snapshot is one process's work, several at a time. Results are written here, in the order of steps.
"""

import argparse
import concurrent.futures
import json
import math
import multiprocessing
import os
import pathlib
import shutil
import sys
import tempfile

os.environ.setdefault("MPLBACKEND", "Agg")  # there is no display

from . import _scripts  # pylint: disable=wrong-import-position
from ._forebay import Error, RefusedError, error_text  # pylint: disable=wrong-import-position
from ._flags import Flags  # pylint: disable=wrong-import-position
from ._forebay_insitu import ScriptRun, analyses_in, show_text  # pylint: disable=wrong-import-position

USAGE, FOUND, GOOD = 2, 1, 0  # exit codes, as the program has them


class Step:  # pylint: disable=too-few-public-methods
    """What the scripts have made of a snapshot: plain data, which crosses between processes."""

    def __init__(self, snapshot, stream, step):
        self.snapshot, self.stream, self.step = snapshot, stream, step
        self.made_before, self.problems, self.found, self.due = True, [], {}, False
        self.flags, self.all_looked, self.fulfilled = {}, {}, []


class Printer:
    """What scripts print, with the step in front: on standard error, where it is in nobody's way."""

    encoding = "utf-8"

    def __init__(self, head):
        self._head, self._rest = head, ""

    def write(self, text):
        """Whole lines."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            sys.__stderr__.write(f"{self._head}: {show_text(line)}\n")
        return len(text)

    def flush(self):
        """Standard error is not buffered."""


_loaded = {}  # of this process


def _script(path):
    if path not in _loaded:
        _loaded[path] = _scripts.Script(path)
    return _loaded[path]


def look_at(snapshot, analyses, run, again, directory):
    """One snapshot, by all analyses: [(name, every, path)]."""
    place = ScriptRun(run)
    nodes = place.drained(snapshot)
    step = Step(snapshot, nodes[0].stream, nodes[0].step)
    for name, steps, path in analyses:
        sys.stdout = Printer(f"step {step.step} {step.stream}.{name}")
        try:
            functions = _script(path).due(step.stream, step.step) if step.step % steps == 0 else []
            step.due = step.due or bool(functions)
            if not functions or (not again and place.has_results(nodes[0], name)):
                continue
            step.made_before = False
            found, flags = _scripts.Found(), step.flags.setdefault(name, Flags())
            step.all_looked[name] = _script(path).has_looked(functions, step.stream)
            for function in functions:
                with flags.open():
                    made = _scripts.finished(function, nodes, os.path.join(directory, f"{step.step}", name))
                found.merge(made, function.__name__)
            found.found_lines = found.lines()
            step.found[name] = found
        except Exception as error:  # pylint: disable=broad-exception-caught
            step.problems.append(_scripts.text_of(name, error))
        finally:
            sys.stdout = sys.__stdout__
    return step


class Report:
    """What people, or programs, are told."""

    def __init__(self, is_json, total):
        self._is_json, self._total, self._done, self._all = is_json, total, 0, []
        self._shows = not is_json and sys.stderr.isatty()
        self.found = False

    def add(self, step, pictures):
        """A snapshot is done."""
        self._done += 1
        made = [f"{step.stream}.{name}" for name, found in step.found.items() if found.numbers]
        self.found = self.found or bool(step.problems)
        self._all.append({"stream": step.stream, "step": step.step, "directory": step.snapshot}
                         | ({"made_before": True} if step.made_before and not step.problems
                            else {"made": made, "pictures": pictures, "problems": step.problems,
                                  "fulfilled": [_json_of(mark) for mark in step.fulfilled]}))
        if self._shows:
            sys.stderr.write("\r\x1b[K")
        if not self._is_json:
            line = f"{show_text(step.stream)}@{step.step}  "
            if step.made_before and not step.problems:
                print(line + "made before; --again makes it anew")
            else:
                print(line + f"{_count(len(made), 'result')}, {_count(pictures, 'picture')}")
            for *_, words in step.fulfilled:
                print(f"  fulfils {show_text(words)}")
            for problem in step.problems:
                print(f"  {show_text(problem)}")
        if self._shows and self._done < self._total:
            sys.stderr.write(f"{self._done} of {self._total} snapshots")
            sys.stderr.flush()

    def finish(self):
        """The exit code."""
        if self._is_json:
            print(json.dumps(self._all, indent=1))
        return FOUND if self.found else GOOD


def _count(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


def _json_of(mark):
    """As `forebay ls --json` has it: JSON has no numbers that are not finite."""
    analysis, condition, result, value, _ = mark
    return {"analysis": analysis, "condition": condition, "result": result, "value": value if math.isfinite(value) else None}


def act(step, analyses, marks):
    """Marks the snapshot, in its own run, before its results are there: once they are nobody looks again."""
    place = ScriptRun(os.path.dirname(os.path.dirname(step.snapshot)))
    for analysis in (one for one in analyses if one.name in step.flags):
        flags, found = step.flags[analysis.name], step.found.get(analysis.name)
        said, fulfilled = place.act(place.drained(step.snapshot)[0], analysis, found.found_lines if found else [],
                                    step.all_looked[analysis.name], flags.raised(), marks)
        step.fulfilled += fulfilled
        step.problems += [line.removeprefix("problem ") for line in said if line.startswith("problem ")]
        step.problems += flags.problems(analysis.name)


def put(step, place, pictures):
    """Writes what was made of a snapshot; how many pictures and files."""
    count = 0
    for name, found in step.found.items():
        if pictures:
            count += _scripts.deliver(found, pictures, step.stream, name, step.step)
        if found.numbers:
            place.write_results(place.drained(step.snapshot)[0], name, found.found_lines)
    return count


def work(given, directory):
    """All snapshots; the exit code."""
    place, report = ScriptRun(given.to), Report(given.json, len(given.snapshots))
    analyses = analyses_in(given.analyses)
    scripts = [(one.name, one.every, os.path.abspath(one.script)) for one in analyses]
    jobs = given.jobs or len(os.sched_getaffinity(0))
    report.found = given.found
    with concurrent.futures.ProcessPoolExecutor(min(jobs, len(given.snapshots)),
                                                multiprocessing.get_context("spawn")) as pool:
        calls = [pool.submit(look_at, snapshot, scripts, given.to, given.again, directory) for snapshot in given.snapshots]
        any_due = False
        for call, snapshot in zip(calls, given.snapshots):
            try:
                step = call.result()
            except concurrent.futures.process.BrokenProcessPool:
                raise RefusedError(error_text(
                    f"a process of the scripts has ended, at {snapshot} or at one beside it", "results of the steps before it",
                    "run it with --jobs 1 for that step alone")) from None
            any_due = any_due or step.due
            if step.due or step.problems:
                act(step, analyses, not given.only_report)
                report.add(step, put(step, place, given.pictures))
    if not any_due and not report.found:
        raise RefusedError(error_text("no function of the script looks at any of these steps", "",
                                      "see what its functions say in @every(...)"))
    return report.finish()


def main():
    """As the program calls it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("snapshots", nargs="+", help="directories of committed snapshots")
    parser.add_argument("--analyses", required=True, help="as the control page has them")
    parser.add_argument("--to", required=True, help="the run of the results")
    parser.add_argument("--pictures", help="directory for pictures and files")
    parser.add_argument("--jobs", type=int, default=0, help="snapshots at a time; 0: as many as there are CPUs")
    parser.add_argument("--again", action="store_true", help="make results anew that are there")
    parser.add_argument("--only-report", action="store_true", help="mark no snapshot")
    parser.add_argument("--found", action="store_true", help="exit with 1 at least")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    # Beside the pictures, so that a file gets its place by a rename.
    directory = tempfile.mkdtemp(prefix=".scripts-", dir=given.pictures)
    try:
        return work(given, directory)
    except Error as error:
        print(error, file=sys.stderr)
        return USAGE
    finally:
        shutil.rmtree(pathlib.Path(directory), ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
