"""What is measured: for each operation, the ways to do it, ours and those of others that this machine has.

{source} and {target} are trees. A way that is not faithful, by the table of
transfer/tests/trees/conformance.py, is measured too, and no goal is of it unless the goal says so.
"""

import dataclasses
import os
import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("FOREBAY", str(ROOT / "build" / "bin" / "forebay"))
THREADS = os.environ.get("FOREBAY_BENCH_THREADS", "2")
RANKS = ("mpiexec", "--oversubscribe", "-n", "2")
TAR = ("bash", "-c", "set -o pipefail; mkdir \"$2\" && tar -C \"$1\" --format=posix --xattrs --xattrs-include='*' --acls -S -cf - . | "
       "tar -C \"$2\" --xattrs --xattrs-include='*' --acls -S --numeric-owner -xpSf -", "bash", "{source}", "{target}")
RSYNC = ("rsync", "-aHAXS", "--numeric-ids")
DSYNC = (*RANKS, "dsync", "-q", "-P", "--xattrs", "all")
FOREBAY, FLOOR = "forebay", "floor"


@dataclasses.dataclass(frozen=True)
class Way:
    """`codes`: exit codes of a run that did its work; a compare of equal trees that finds sockets different ends with 1."""
    name: str
    words: tuple
    codes: tuple = (0,)
    needs: str = ""  # the program that a shell runs

    def program(self):
        return self.words[len(RANKS)] if self.words[:len(RANKS)] == RANKS else self.words[0]

    def missing(self):
        programs = {self.program(), self.words[0]}
        return any(not shutil.which(program) for program in programs | {self.needs} - {""})

    def command(self, source, target=""):
        return [word.replace("{source}", str(source)).replace("{target}", str(target)) for word in self.words]


@dataclasses.dataclass(frozen=True)
class Goal:
    """Our seconds are at most `ratio` times those of `peer`; None: of the fastest but those of `not_of`."""
    ratio: float
    peer: str | None = None
    not_of: tuple = ()


def floor(*words):
    """Two bare threads that make the calls that the work needs: a limit, and no tool."""
    return Way(FLOOR, (str(pathlib.Path(PROGRAM).parent / "movers_floor"), *words))


def ours(*words):
    return Way(FOREBAY, (PROGRAM, *words))


WALK = [ours("walk", "{source}", "--threads", THREADS), floor("walk", "{source}"), Way("du -s", ("du", "-s", "{source}")),
        Way("find -printf %s", ("find", "{source}", "-printf", "%s\n")), Way("bfs -printf %s", ("bfs", "{source}", "-printf", "%s\n")),
        Way("dwalk n2", (*RANKS, "dwalk", "-q", "{source}"))]
COPY = [ours("copy", "{source}", "{target}", "--threads", THREADS), floor("copy", "{source}", "{target}"),
        Way("cp -a", ("cp", "-a", "{source}", "{target}")),
        Way("rsync -aHAXS", (*RSYNC, "{source}/", "{target}/")), Way("tar to tar", TAR),
        Way("xcp -r", ("xcp", "-r", "{source}", "{target}")),
        Way("dcp n2", (*RANKS, "dcp", "-q", "-p", "-P", "--xattrs", "all", "{source}", "{target}")),
        Way("dsync n2", (*DSYNC, "{source}", "{target}"))]
SYNC = [ours("sync", "{source}", "{target}", "--threads", THREADS), Way("rsync -aHAXS", (*RSYNC, "{source}/", "{target}/")),
        Way("dsync n2", (*DSYNC, "{source}", "{target}"))]
COMPARE = [ours("compare", "{source}", "{target}", "--threads", THREADS), floor("compare", "{source}", "{target}"),
           Way("diff -rq", ("diff", "-rq", "--no-dereference", "{source}", "{target}"), (0, 1)),
           Way("rsync -anc", ("rsync", "-aHAXSnc", "--numeric-ids", "{source}/", "{target}/")),
           Way("dcmp n2", (*RANKS, "dcmp", "-q", "{source}", "{target}"), (0, 1))]
DELETE = [ours("delete", "{target}", "--threads", THREADS), floor("delete", "{target}"), Way("rm -rf", ("rm", "-rf", "{target}")),
          Way("find -delete", ("find", "{target}", "-delete")), Way("rmz", ("rmz", "{target}")),
          Way("drm n2", (*RANKS, "drm", "-q", "{target}"))]
ONE_FILE = [ours("copy", "{source}", "{target}", "--threads", THREADS), Way("cp -a", ("cp", "-a", "{source}", "{target}")),
            Way("xcp -r", ("xcp", "-r", "{source}", "{target}")),
            Way("dcp n2", (*RANKS, "dcp", "-q", "-p", "-P", "{source}", "{target}"))]
ARCHIVE = [ours("archive", "{source}", "{target}", "--threads", THREADS, "--no-sync"), Way("tar -cf", ("tar", "-C", "{source}", "-cf", "{target}", ".")),
           Way("bsdtar -cf", ("bsdtar", "-C", "{source}", "-cf", "{target}", ".")),
           Way("dtar n2", (*RANKS, "dtar", "-q", "-c", "-f", "{target}", "{source}"))]
# {source} is an archive that the program has made; what needs a directory gets one, in the time of a mkdir.
EXTRACT = [ours("restore-archive", "{source}", "{target}", "--threads", THREADS, "--no-sync"),
           Way("tar -xf", ("tar", "--one-top-level={target}", "-xf", "{source}")),
           Way("bsdtar -xf", ("bash", "-c", "mkdir \"$2\" && bsdtar -C \"$2\" -xpf \"$1\"", "bash", "{source}", "{target}"), needs="bsdtar"),
           Way("dtar n2", ("bash", "-c", "mkdir \"$2\" && cd \"$2\" && mpiexec --oversubscribe -n 2 dtar -q -x -f \"$1\"", "bash", "{source}",
                           "{target}"), needs="dtar")]
GOALS = {
    "walk": [Goal(0.6), Goal(0.2, "dwalk n2")],
    "copy": [Goal(0.65, "cp -a"), Goal(0.5, "dcp n2")],
    "copy to disk, with sync": [Goal(1.0, "cp -a"), Goal(0.65, "dcp n2")],
    "sync, nothing changed": [Goal(0.35)],
    "sync, 1 % changed": [Goal(0.4)],
    "compare": [Goal(0.45, "diff -rq"), Goal(0.3, "dcmp n2")],
    "delete": [Goal(1.15, "rmz"), Goal(0.6, "rm -rf")],
    "archive TP, create": [Goal(0.7, "tar -cf")],
    "archive TP, extract": [Goal(0.7, "tar -xf")],
    "copy T2": [Goal(1 / 0.95)],
    "copy one file of 2 GiB": [Goal(1 / 0.95)],
}


LEFT_OUT = set()  # programs that have failed


def there(ways):
    return [way for way in ways if not way.missing() and way.name.split()[0] not in LEFT_OUT]
