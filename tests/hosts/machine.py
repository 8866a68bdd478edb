"""Shared by the tests of hosts and targets: checks of this machine, the programs, and the way a test fails."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import forebay_test
from forebay_test import BUILD, FOREBAY, SECONDS_MAX

run = partial(forebay_test.run, code=None)  # tests check the code themselves
ROOT = Path(__file__).resolve().parents[2]
NBODY = BUILD / "bin/nbody"
STRIPED_FS = BUILD / "tests/striped_fs"
SKIPPED = 77
DIGESTS = ("step", "particles", "particles_digest", "density_digest", "psi_digest", "state_digest")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def need(*programs, built=(FOREBAY, NBODY)):
    """Skips the test if this machine cannot run it."""
    for program in built:
        if not program.exists():
            skip(f"{program} is not built")
    if os.geteuid() != 0:
        skip("needs root, for namespaces and mounts")
    for program, package in {"ip": "iproute2", "nsenter": "util-linux", **dict(programs)}.items():
        if not shutil.which(program):
            skip(f"{program} is missing; Next: apt-get install {package}")
    allowed = subprocess.run(["unshare", "--net", "--uts", "--mount", "--ipc", "--pid", "--fork", "true"],
                             capture_output=True, text=True, check=False)
    if allowed.returncode:
        skip(f"this machine allows no namespaces: {allowed.stderr.strip()}")


def need_striped_fs():
    """The same for the mounts of striped()."""
    need(("mpiexec", "openmpi-bin"), ("mount", "mount"))
    if not STRIPED_FS.exists():
        skip(f"{STRIPED_FS} is not built; Next: apt-get install libfuse3-dev, and configure again")
    if not Path("/dev/fuse").exists():
        skip("/dev/fuse is missing: no FUSE file system can be mounted here")


@contextmanager
def striped(place, stripe, targets, rate, *ratios):
    """A striping file system of striped_fs: yields its directory, its mount and its process."""
    directory, mount = place / "directory", place / "mount"
    for made in (directory, mount):
        made.mkdir(parents=True)
    server = subprocess.Popen([str(word) for word in (STRIPED_FS, directory, mount, stripe, targets, rate, *ratios)],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if server.stdout.readline() != "mounted\n":
        skip("no FUSE file system can be mounted here")
    try:
        yield directory, mount, server
    finally:
        run("umount", "--lazy", mount)
        server.send_signal(signal.SIGTERM)
        server.wait()


def expect(true, what, seen=""):
    if not true:
        print(f"FAILED: {what}\n{seen}", flush=True)
        sys.exit(1)
    print(f"ok: {what}", flush=True)


def forebay(*arguments, exit_code=0, before=(), seconds_max=SECONDS_MAX):
    """Runs the program. `before` moves it to another host. A wrong exit code ends the test."""
    done = run(*before, FOREBAY, *arguments, seconds_max=seconds_max)
    expect(done.returncode == exit_code, f"forebay {' '.join(map(str, arguments))} exits with {exit_code}",
           f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def snapshots(directory, state):
    """The steps of a run that are `committed`, or left as `part`."""
    done = run(FOREBAY, "ls", directory, "--json")
    return {entry["step"] for entry in json.loads(done.stdout) if entry["state"] == state} if done.stdout else set()


def wait_until(condition, what, seconds_max=SECONDS_MAX):
    deadline = time.monotonic() + seconds_max
    while not (answer := condition()):
        if time.monotonic() > deadline:
            expect(False, what, f"not within {seconds_max} s")
        time.sleep(0.05)
    print(f"ok: {what}", flush=True)
    return answer


def digests(report):
    """A bitwise identity of a state that does not depend on the number of ranks."""
    found = json.loads(Path(report).read_text())
    return {key: found[key] for key in DIGESTS}


def flip_byte(path):
    """Inverts the middle byte of a file; a second call restores it."""
    with open(path, "r+b") as file:
        at = file.seek(0, os.SEEK_END) // 2
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 0x10]))


class Job:
    """A program in the background, with its output in a file."""

    def __init__(self, command, log, environment=None):
        self.log = Path(log)
        with open(log, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=subprocess.STDOUT, start_new_session=True,
                                            env={**os.environ, **(environment or {})})

    def output(self):
        return self.log.read_text(encoding="utf-8")

    def finish(self, seconds_max=SECONDS_MAX):
        """The exit code; None if the program still runs after this time."""
        try:
            return self.process.wait(seconds_max)
        except subprocess.TimeoutExpired:
            return None

    def kill(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Tool:
    """A setup program of tools/. It is always torn down, however the test ends."""

    def __init__(self, name, up, environment):
        self.command = [ROOT / "tools" / name]
        self.up = up
        os.environ.update({key: str(value) for key, value in environment.items()})

    def __call__(self, *arguments, seconds_max=SECONDS_MAX):
        done = run(*self.command, *arguments, seconds_max=seconds_max)
        expect(done.returncode == 0, f"{self.command[0].name} {' '.join(map(str, arguments))}", done.stdout + done.stderr)
        return done.stdout

    def __enter__(self):
        self(*self.up)
        return self

    def __exit__(self, *_):
        done = run(*self.command, "down")
        if done.returncode:
            print(done.stderr)


def scratch():
    return tempfile.TemporaryDirectory(prefix="forebay-hosts-", dir="/var/tmp")
