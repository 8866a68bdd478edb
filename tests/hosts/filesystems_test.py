"""Goal: on file systems with client caches every step is committed, and whole for every client.

Method: caching_fs shows one directory to two clients, like ceph-fuse, NFS and sshfs. Two ranks of nbody, each with its
agent, use one client each or share one, under the same path. They save 12 steps in each form: past the cache, through
it, and as measured. The second client runs `ls` and `verify` meanwhile. Afterwards buffered reads of each client must
return the bytes of the directory, whatever the client read before. `verify` heals damage in a client's cache; damage in
the directory stays. FOREBAY_CLIENT_STEPS sets the number of steps.
"""

import itertools
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import machine
from machine import expect, forebay, run

CACHING_FS = machine.BUILD / "tests/caching_fs"
UNIVERSE = ["--mesh", 16, "--particles", 16, "--steps", 64, "--save-every", 1]
STEPS = int(os.environ.get("FOREBAY_CLIENT_STEPS", "12"))
JOB_SECONDS_MAX = 120  # some seconds if all goes well
SECONDS = 0.5  # age of a client's cached listing
CONFIG = """
stall_wait_seconds = 10
close_wait_seconds = 20
[agent]
linger_seconds = 1
direct = {direct}
[streams.restart]
slots = 2
keep = {keep}
file = "{form}"
"""
# Gives each rank a mount namespace with its client at the target's path.
ENTER = 'mount --bind "$0" "$1" && shift && exec "$@"'


class Target:
    """A directory and two clients of it."""

    def __init__(self, place, like):
        self.place, self.directory, self.seen = place, place / "directory", place / "target"
        self.clients = [place / "first", place / "second"]
        for made in (self.directory, self.seen, place / "staging", *self.clients):
            made.mkdir()
        self.process = subprocess.Popen([CACHING_FS, like, str(SECONDS), self.directory, *self.clients],
                                        stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "mounted\n":
            machine.skip("no FUSE file system can be mounted here")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        for client in self.clients:
            run("umount", "--lazy", client)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:  # a process still has a file open there
            self.process.kill()

    def nbody(self, clients, form, direct, keep=0, last=STEPS):
        """A job whose two ranks use these clients. Returns its exit code and output."""
        config = self.place / "forebay.toml"
        config.write_text(CONFIG.format(direct=direct, form=form, keep=keep))
        program = [machine.NBODY, *UNIVERSE, "--run", self.seen / "run", "--staging", self.place / "staging",
                   "--config", config, "--virtual-nodes", 2, "--stop-after", last]
        ranks = [["-n", 1, "unshare", "--mount", "--propagation", "private", "sh", "-c", ENTER, client, self.seen,
                  *program] for client in clients]
        job = machine.Job(["mpiexec", "--oversubscribe", *ranks[0], ":", *ranks[1]], self.place / "nbody.log")
        try:
            return job.finish(JOB_SECONDS_MAX), job.output()
        finally:
            job.kill()

    def onlooker(self):
        return Onlooker(self.clients[1] / "run")


class Onlooker:
    """Inspects a run again and again while a job writes it. Keeps the output if something is called damaged."""

    def __init__(self, directory):
        self.directory, self.ending, self.looks, self.complaints = directory, threading.Event(), 0, []
        self.thread = threading.Thread(target=self.look)

    def look(self):
        while not self.ending.wait(0.02):
            for words in (("ls", self.directory), ("verify", f"{self.directory}@last"), ("verify", self.directory)):
                done = run(machine.FOREBAY, *words)
                self.looks += 1
                # Before the first commit there is no snapshot.
                none_yet = done.returncode == 3 and ("no run" in done.stderr or "no committed" in done.stderr)
                if done.returncode != 0 and not none_yet:
                    self.complaints.append(f"{words} exits with {done.returncode}\n{done.stdout}{done.stderr}")

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()


def files_below(directory):
    return sorted(path.relative_to(directory) for path in directory.rglob("*") if path.is_file())


def check_all_whole(target):
    """Both clients see every step and read the bytes of the directory, also with programs that do not know Forebay."""
    for client in target.clients:
        expect(machine.snapshots(client / "run", "committed") == set(range(1, STEPS + 1)),
               f"{client.name} sees {STEPS} of {STEPS} steps", run(machine.FOREBAY, "ls", client / "run").stdout)
        forebay("verify", client / "run")
        wrong = [str(path) for path in files_below(target.directory / "run/restart")
                 if (client / "run/restart" / path).read_bytes() != (target.directory / "run/restart" / path).read_bytes()]
        expect(not wrong, f"{client.name} reads what is stored", wrong)
    left = [path.name for path in (target.directory / "run/restart").iterdir() if path.name.startswith(".step")]
    expect(not left, "nothing is left over", left)


def saved(place, like, whose, form, direct):
    """A job on two clients, or on one that both ranks share, with an observer on the second client."""
    with Target(place, like) as target:
        clients = target.clients if whose == "two clients" else target.clients[:1] * 2
        with target.onlooker() as onlooker:
            code, output = target.nbody(clients, form, direct)
        expect(code == 0 and "NOT" not in output, "the job saves every step", output)
        expect(not onlooker.complaints, f"{onlooker.looks} looks found nothing wrong",
               "\n".join(onlooker.complaints[:3]))
        # Either rank may commit the last step. The cached directories of the other client show it later.
        machine.wait_until(lambda: all(machine.snapshots(client / "run", "committed") == set(range(1, STEPS + 1))
                                       for client in target.clients),
                           "each client sees all that was committed", 60)
        check_all_whole(target)


def retired(place, like, form):
    """Retention removes snapshots while another client reads them: that is not reported as damage."""
    with Target(place, like) as target:
        with target.onlooker() as onlooker:
            code, output = target.nbody(target.clients[:1] * 2, form, "true", keep=1)
        expect(code == 0, "the job ends well", output)
        expect(onlooker.looks > 2 and not onlooker.complaints, f"{onlooker.looks} looks found nothing wrong",
               "\n".join(onlooker.complaints[:3]))


def healed(place, form):
    """The second client cached wrong bytes. They are right now on the disk, but not in its cache."""
    with Target(place, "ceph") as target:
        code, output = target.nbody(target.clients, form, "false", last=2)
        expect(code == 0, "two steps are saved", output)
        file = next(path for path in files_below(target.directory / "run/restart/step-000002") if path.suffix == ".h5")
        first, second = (client / "run/restart/step-000002" / file for client in target.clients)
        right = first.read_bytes()
        # The HDF5 signature, a record, and data. In a file of one node no checksum covers the signature.
        for at in (8, 4096 + 16, len(right) // 2)[form == "own":]:
            flip(first, at)
            forget(second)  # drops its pages of the committed file
            expect(second.read_bytes() != right, f"byte {at}: the second client has read what is wrong")
            flip(first, at)
            expect(second.read_bytes() != right, f"byte {at}: and keeps it")
            said = forebay("verify", target.clients[1] / "run@2")
            expect("only in this host's cache" in said, f"byte {at}: verify finds it right in storage", said)
            expect(second.read_bytes() == right, f"byte {at}: it is right for all programs now")
        flip(first, len(right) // 2)
        forget(second)
        said = forebay("verify", target.clients[1] / "run@2", exit_code=1)
        expect("DAMAGED in 1 place" in said, "what is wrong in storage is damaged", said)


def forget(path):
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 0x10]))


def cases():
    forms = ("own", "combined:2", "shared")
    for like, whose in (("ceph", "a client"), ("ceph", "two clients"), ("nfs", "two clients"), ("sshfs", "two clients")):
        ways = {"ceph": ("true", "false", '"auto"'), "nfs": ("true", "false"), "sshfs": ("true",)}[like]
        if whose == "a client":
            ways = ("true", "false")
        for form, direct in itertools.product(forms, ways):
            yield saved, like, whose, form, direct
    for like in ("ceph", "nfs", "sshfs"):
        yield retired, like, "own"
    for form in forms:
        yield healed, form


def main():
    """An argument selects the cases by a part of their name."""
    machine.need(("mpiexec", "openmpi-bin"), ("mount", "mount"))
    if not CACHING_FS.exists():
        machine.skip(f"{CACHING_FS} is not built; Next: apt-get install libfuse3-dev, and configure again")
    if not Path("/dev/fuse").exists():
        machine.skip("/dev/fuse is missing: no FUSE file system can be mounted here")
    with machine.scratch() as scratch:
        for number, (check, *words) in enumerate(cases()):
            name = f"{check.__name__}: {', '.join(words)}"
            if sys.argv[1:] and sys.argv[1] not in name:
                continue
            print(name, flush=True)
            place = Path(scratch) / str(number)
            place.mkdir()
            check(place, *words)


sys.dont_write_bytecode = True
main()
