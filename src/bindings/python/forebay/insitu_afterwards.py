"""Scripts on committed snapshots: the Python part of `forebay insitu`. The program finds the snapshots and starts
this module; people call `forebay insitu`.

Several snapshots are analysed at a time, each in a process. Results are written here, in the order of steps.
"""

import argparse
import concurrent.futures
import contextlib
import json
import math
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import traceback

os.environ.setdefault("MPLBACKEND", "Agg")  # there is no display

from . import _scripts  # pylint: disable=wrong-import-position
from ._called import Callers, Printer  # pylint: disable=wrong-import-position
from ._forebay import Error, RefusedError, error_text  # pylint: disable=wrong-import-position
from ._flags import Flags  # pylint: disable=wrong-import-position
from ._forebay_insitu import ScriptRun, analyses_in, show_text, step_name  # pylint: disable=wrong-import-position
from .insitu import Snapshot  # pylint: disable=wrong-import-position

USAGE, FOUND, GOOD = 2, 1, 0  # exit codes of the program
EXIT_SECONDS = 60  # for the exit functions of scripts, such as the last bytes of a file


class Looked:  # pylint: disable=too-few-public-methods
    """One script's results for a snapshot: plain data, to send between processes."""

    def __init__(self, problem=None):
        self.is_due, self.all_looked, self.made_before, self.problem = True, False, False, problem
        self.found, self.flags, self.lines = _scripts.Found(), Flags(), []
        self.save = None  # the id of the analysed save


class Step:  # pylint: disable=too-few-public-methods
    """The results of the scripts for a snapshot, by their names."""

    def __init__(self, snapshot, looked):
        self.snapshot = snapshot
        self.stream, self.step = words_of(snapshot)
        self.looked = {name: one for name, one in looked.items() if one.is_due}
        self.made_before = all(one.made_before for one in self.looked.values())
        self.problems, self.fulfilled, self.would_be_marked = [], [], False


def words_of(snapshot):
    """Stream and step of RUN/STREAM/step-000120."""
    path = pathlib.Path(snapshot)
    return path.parent.name, int(path.name.rpartition("-")[2])


def save_in(snapshot):
    """The id of the save that the directory holds now."""
    return json.loads(pathlib.Path(snapshot, "manifest.json").read_bytes())["snapshot_id"]


_loaded = {}  # in this process


def _script(path):
    if path not in _loaded:
        _loaded[path] = _scripts.Script(path)
    return _loaded[path]


def load(path, _):
    """Loads the script before any snapshot. Prints an error whole, and returns its reason, or None."""
    try:
        _script(path)
    except _scripts.ScriptError as error:
        return _scripts.words_of(error)
    except BaseException as error:  # pylint: disable=broad-exception-caught
        traceback.print_exc()
        return f"the script {path} cannot be loaded: {_scripts.words_of(error)}"
    return None


def look_at(snapshot, name, every, path, run, again, directory, calls):  # pylint: disable=too-many-arguments,too-many-positional-arguments
    """Runs one script on one snapshot. Sends `calls` the name of each function before it is called."""
    looked = Looked()
    stream, step = words_of(snapshot)
    sys.stdout = printer = Printer(f"step {step} {stream}.{name}")
    try:
        functions = _script(path).due(stream, step) if step % every == 0 else []
        looked.is_due, looked.all_looked = bool(functions), _script(path).has_looked(functions, stream)
        if not functions:
            return looked
        place = ScriptRun(run)
        looked.save = save_in(snapshot)
        nodes = place.drained(snapshot)
        looked.made_before = not again and place.has_results(nodes[0], name)
        if looked.made_before:
            looked.found.numbers = stored(place, f"{run}/{stream}.{name}/{step_name(step)}")
        for number, function in functions if not looked.made_before else []:
            calls(function.__name__)
            with looked.flags.open():
                _script(path).use()
                made = _scripts.finished(function, nodes, os.path.join(directory, f"{stream}.{step}", name, number))
            looked.found.merge(made, function.__name__)
        looked.lines = looked.found.lines()
    except BaseException as error:  # pylint: disable=broad-exception-caught
        # Any exception here comes from the script: sys.exit() in a function costs this snapshot too.
        looked.found, looked.problem = _scripts.Found(), _scripts.words_of(error)
    finally:
        printer.end()
        sys.stdout = sys.__stdout__
    return looked


def stored(place, directory):
    """Results of earlier analyses, for conditions on them."""
    (node,) = place.drained(directory)
    return {name: variable.array for name, variable in Snapshot([node], ["*"], "").items()}


class Report:
    """The report for people, or for programs."""

    def __init__(self, given):
        self._is_json, self._only_report = given.json, given.only_report
        self._total, self._done, self._all = len(given.snapshots), 0, []
        self._shows = not given.json and sys.stderr.isatty()
        self._empty = set()
        self.found = given.found

    def add(self, step, pictures):
        """Reports a finished snapshot."""
        self._done += 1
        made = [f"{step.stream}.{name}" for name, one in step.looked.items()
                if _scripts.kept(one.lines) and not one.made_before and not self._only_report]
        self.found = self.found or bool(step.problems)
        self._all.append({"stream": step.stream, "step": step.step, "directory": step.snapshot}
                         | ({"made_before": True} if step.made_before else {"made": made, "pictures": pictures})
                         | {"problems": step.problems, "fulfilled": [_json_of(mark) for mark in step.fulfilled]}
                         | ({"would_be_marked": step.would_be_marked} if self._only_report else {}))
        if self._shows:
            sys.stderr.write("\r\x1b[K")
        if not self._is_json:
            if step.made_before:
                what = "exists already" + ("" if self._only_report else "; --again makes it again")
            else:
                what = f"{_count(len(made), 'result')}, {_count(pictures, 'picture')}"
            print(f"{show_text(step.stream)}@{step.step}  {'checked only' if self._only_report and not step.made_before else what}")
            for *_, words in step.fulfilled:
                print(f"  fulfils {show_text(words)}")
            if step.would_be_marked:
                print("  would be marked without --only-report")
            for problem in step.problems:
                print(f"  {show_text(problem)}")
            self._print_empty(step)
        if self._shows and self._done < self._total:
            sys.stderr.write(f"{self._done} of {self._total} snapshots")
            sys.stderr.flush()

    def _print_empty(self, step):
        for key in [f"{name}: {key}" for name, one in step.looked.items() for key in one.found.empty()]:
            if key not in self._empty:
                print(f"  {show_text(key)} has no element and is left out, here and at other steps")
            self._empty.add(key)

    def finish(self):
        """Ends the report, and returns the exit code."""
        if self._is_json:
            print(json.dumps(self._all, indent=1))
        sys.stdout.flush()
        return FOUND if self.found else GOOD


def _count(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


def _json_of(mark):
    """A mark as in `forebay ls --json`: a number that is not finite becomes null, since JSON has none."""
    analysis, condition, result, value, _ = mark
    return {"analysis": analysis, "condition": condition, "result": result, "value": value if math.isfinite(value) else None}


def act(step, analyses, marks):
    """Marks the snapshot, in its own run, before its results exist."""
    place = ScriptRun(os.path.dirname(os.path.dirname(step.snapshot)))
    for analysis in (one for one in analyses if one.name in step.looked):
        one = step.looked[analysis.name]
        step.problems += [f"analysis '{analysis.name}': {problem}" for problem in [one.problem, *one.found.problems] if problem]
        said = fulfilled = []
        with costing(step, analysis.name):
            if one.lines or one.flags.raised():
                check_there(step, one)
                said, fulfilled = place.act(place.drained(step.snapshot)[0], analysis, one.lines, one.all_looked,
                                            one.flags.raised(), marks)
        step.fulfilled += fulfilled
        step.problems += [line.removeprefix("problem ") for line in said if line.startswith("problem ")]
        step.would_be_marked |= not marks and any(
            line.startswith("raise ") and "mark" in line.split()[1].split(",") for line in said)
        step.problems += one.flags.problems(analysis.name)


def check_there(step, one):
    """A running simulation may save the step again: results of the earlier save would then be wrong."""
    if one.save != save_in(step.snapshot):
        raise _scripts.ScriptError(f"{step.snapshot} was saved again during the analysis")


@contextlib.contextmanager
def costing(step, name):
    """An error, or a snapshot that is gone, costs that snapshot its results."""
    try:
        yield
    except (Error, OSError, _scripts.ScriptError) as error:
        step.problems.append(_scripts.text_of(name, error))
        step.looked[name] = Looked()


def put(step, place, pictures):
    """Writes the results of a snapshot, and returns the number of pictures and files."""
    count = 0
    for name, one in list(step.looked.items()):
        with costing(step, name):
            if not one.made_before and (kept := _scripts.kept(one.lines)):
                check_there(step, one)
                place.write_results(place.drained(step.snapshot)[0], name, kept)
            if pictures:
                count += _scripts.deliver(one.found, pictures, step.stream, name, step.step)
    return count


def work(given, directory):
    """Analyses all snapshots, and returns the exit code."""
    place, report = ScriptRun(given.to), Report(given)
    analyses = analyses_in(given.analyses)
    scripts = [(one.name, one.every, os.path.abspath(one.script), limit) for one, limit in zip(analyses, given.time_limits)]
    jobs = min(given.jobs or len(os.sched_getaffinity(0)), len(given.snapshots))
    callers, pool = Callers(jobs, directory), concurrent.futures.ThreadPoolExecutor(jobs)

    def look(snapshot):
        looked = {}
        for name, every, path, limit in scripts:
            stream, step = words_of(snapshot)
            try:
                looked[name] = callers.call(f"step {step} {stream}.{name}", limit, look_at, snapshot, name, every, path,
                                            given.to, given.again, directory)
            except _scripts.ScriptError as error:
                looked[name] = Looked(str(error))
        return Step(snapshot, looked)

    try:
        for _, _, path, limit in scripts:
            if problem := callers.call(path, limit, load, path):
                raise _scripts.ScriptError(problem)
        any_due = False
        for step in pool.map(look, given.snapshots):
            any_due = any_due or bool(step.looked)
            if step.looked:
                act(step, analyses, not given.only_report)
                report.add(step, 0 if given.only_report else put(step, place, given.pictures))
        callers.end(EXIT_SECONDS)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        callers.end()
    if not any_due and not report.found:
        raise _scripts.ScriptError("no function of the script applies to any of these steps",
                                   "check @every(...) of its functions")
    return report.finish()


def end_by(number):
    """Ends by the signal itself, so that shells and their loops notice it."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def main():
    """The entry point for the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("snapshots", nargs="+", help="directories of committed snapshots")
    parser.add_argument("--analyses", required=True, help="as the control page has them")
    parser.add_argument("--time-limits", required=True, help="seconds of a call, one of each analysis; 0: none",
                        type=lambda text: [float(one) or None for one in text.split(",")])
    parser.add_argument("--to", required=True, help="the run of the results")
    parser.add_argument("--pictures", help="directory for pictures and files")
    parser.add_argument("--jobs", type=int, default=0, help="snapshots at a time; 0: as many as there are CPUs")
    parser.add_argument("--again", action="store_true", help="make results anew that are there")
    parser.add_argument("--only-report", action="store_true", help="make nothing, and mark no snapshot")
    parser.add_argument("--found", action="store_true", help="exit with 1 at least")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    # The directory lies beside the pictures, so that a rename moves a file into place.
    directory = tempfile.mkdtemp(prefix=".scripts-", dir=given.pictures)
    ended_by = None
    try:
        return work(given, directory)
    except _scripts.ScriptError as error:
        print(RefusedError(error_text(error.args[0], "", *error.args[1:])), file=sys.stderr)
    except Error as error:
        print(error, file=sys.stderr)
    except (KeyboardInterrupt, BrokenPipeError) as error:  # Ctrl-C, or nobody reads the report
        ended_by = signal.SIGINT if isinstance(error, KeyboardInterrupt) else signal.SIGPIPE
    finally:
        shutil.rmtree(pathlib.Path(directory), ignore_errors=True)
    if ended_by:
        end_by(ended_by)
    return USAGE


if __name__ == "__main__":
    sys.exit(main())
