"""Programs that copy trees: ours, and those of others that this machine has. Each makes `target`, which is not there yet,
equal to `source`, as well as it can.
"""

import dataclasses
import os
import shutil
import subprocess

from forebay_test import BUILD, FOREBAY

SECONDS_MAX = 600
HANGS_SECONDS = 40  # a tool that opens a fifo waits for ever
TAR = ('set -o pipefail; mkdir "$2" && tar -C "$1" {create} -cf - . | tar -C "$2" {extract} -xpf -')
KEEPING = "--xattrs --xattrs-include='*' --acls -S --numeric-owner"
FAITHFUL_TAR = TAR.format(create=f"--format=posix {KEEPING}", extract=KEEPING)
RANKS = ["mpiexec", "--oversubscribe", "-n", "2"]


@dataclasses.dataclass(frozen=True)
class Mover:
    """`words` with {source} and {target}; `needs`: programs without which it is left out."""
    name: str
    words: tuple
    needs: tuple
    version: tuple = ("--version",)
    ours: bool = False
    fills_holes: bool = False  # it would write a hole of 5 GiB as so many bytes

    def missing(self):
        return [program for program in self.needs if not shutil.which(str(program))]

    def command(self, source, target):
        return [str(word).format(source=source, target=target) for word in self.words]

    def copy(self, source, target, seconds_max=SECONDS_MAX):
        """The exit code and what the program said; None as the code where it had to be ended."""
        try:
            done = subprocess.run(self.command(source, target), capture_output=True, stdin=subprocess.DEVNULL, check=False,
                                  timeout=seconds_max, env=environment())
            return done.returncode, (done.stdout[-1000:] + done.stderr[-1000:]).decode("utf-8", "backslashreplace")
        except subprocess.TimeoutExpired:
            return None, f"not done after {seconds_max} s"


def environment():
    """A single machine has no other user than root at times, and fewer cores than ranks."""
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")


def shell(text):
    return ("bash", "-c", text.replace("{", "{{").replace("}", "}}"), "bash", "{source}", "{target}")


def of_forebay(threads):
    words = (FOREBAY, "copy", "{source}", "{target}", "--threads", threads)
    return Mover(f"forebay copy --threads {threads}", words, (FOREBAY,), ours=True)


def of_workers(count):
    words = (FOREBAY, "copy", "{source}", "{target}", "--hosts", ",".join(["localhost"] * count), "--threads", 2)
    return Mover(f"forebay copy, {count} workers", words, (FOREBAY,), ours=True)


def of_ranks(count):
    words = ("mpiexec", "-n", count, FOREBAY, "copy", "{source}", "{target}", "--threads", 2)
    return Mover(f"mpiexec -n {count} forebay copy", words, (FOREBAY, "mpiexec", BUILD / "bin/forebay-mpi"), ours=True)


OURS = [of_forebay(1), of_forebay(4), of_workers(2)]
RANKED = [of_ranks(1), of_ranks(2), of_ranks(3)]  # the programs of MPI take half a second to start
OTHERS = [
    Mover("cp -a", ("cp", "-a", "{source}", "{target}"), ("cp",)),
    Mover("rsync -aHAXS --numeric-ids", ("rsync", "-aHAXS", "--numeric-ids", "{source}/", "{target}/"), ("rsync",)),
    Mover("rsync -a", ("rsync", "-a", "{source}/", "{target}/"), ("rsync",), fills_holes=True),
    Mover("tar --format=posix --xattrs --acls -S", shell(FAITHFUL_TAR), ("tar",)),
    Mover("tar to tar", shell(TAR.format(create="", extract="")), ("tar",), fills_holes=True),
    Mover("fpsync -n 2", ("fpsync", "-n", "2", "{source}/", "{target}/"), ("fpsync", "rsync"), fills_holes=True),
    Mover("dcp -p -P --xattrs all", (*RANKS, "dcp", "-q", "-p", "-P", "--xattrs", "all", "{source}", "{target}"), ("dcp", "mpiexec"),
          fills_holes=True),
    Mover("dsync -P --xattrs all", (*RANKS, "dsync", "-q", "-P", "--xattrs", "all", "{source}", "{target}"), ("dsync", "mpiexec"),
          fills_holes=True),
    Mover("rclone --links --metadata", ("rclone", "copy", "--links", "--metadata", "--create-empty-src-dirs", "{source}", "{target}"),
          ("rclone",), ("version",), fills_holes=True),
    Mover("xcp -r", ("xcp", "-r", "{source}", "{target}"), ("xcp",)),
    Mover("cpz", ("cpz", "{source}", "{target}"), ("cpz",), fills_holes=True),
]


def there():
    """All that can run here, ours first."""
    return [mover for mover in OURS + RANKED + OTHERS if not mover.missing()]


def version(mover):
    words = [mover.needs[0], *mover.version]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace", check=False, timeout=60)
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0].strip() if lines else ""
