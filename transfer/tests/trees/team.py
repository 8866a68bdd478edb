"""Hosts of a team on this machine: a stand-in for ssh that starts the program here and writes down its process."""

import json
import os
import pathlib
import signal
import subprocess
import time

import judge
from forebay_test import FOREBAY, SECONDS_MAX, expect

RANKS_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}


class Hosts:
    """`place` is a folder for it; `before` is put in front of the program, such as a command that hides a tree from it."""

    def __init__(self, place, *names, before=""):
        place.mkdir(exist_ok=True)
        self.names = names
        self.started = place / "started"
        self.script = place / "ssh"
        self.script.write_text(f'#!/bin/sh\nhost=$1\nshift\necho "$host $$" >> {self.started}\nexec {before} "$@"\n')
        self.script.chmod(0o755)

    def options(self):
        return ["--hosts", ",".join(self.names), "--ssh", str(self.script)]

    def process(self, name):
        """The number of the process that works as this host, as soon as there is one."""
        end = time.monotonic() + SECONDS_MAX
        while time.monotonic() < end:
            if self.started.exists():
                for line in self.started.read_text().splitlines():
                    host, number = line.split()
                    if host == name:
                        return int(number)
            time.sleep(0.01)
        raise AssertionError(f"{name} is not started")

    def signal(self, name, number):
        try:
            os.kill(self.process(name), number)
            return True
        except ProcessLookupError:
            return False


class FarHost(Hosts):
    """A host on another network: what kills ssh here leaves the worker alone."""

    def __init__(self, place):
        super().__init__(place, "far")
        cut = place / "cut"
        cut.write_text(f"#!/bin/sh\nsetsid sh -c '{{ cat; exec sleep 30; }} | {self.script} \"$@\" | {{ cat; exec cat > /dev/null; }}' sh \"$@\"\n")
        cut.chmod(0o755)
        self.script = cut


def start(*arguments, **options):
    words = [str(word) for word in (FOREBAY, *arguments)]
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            errors="replace", **options)


def ended(process, code=0):
    """What a process that start() has started says in JSON, and its standard error."""
    out, errors = process.communicate(timeout=SECONDS_MAX)
    expect(process.returncode == code, f"it exits with {code}, not {process.returncode}", out[-2000:] + errors[-2000:])
    return json.loads(out) if out.startswith("{") else out, errors


def told(*arguments, code=0, **options):
    return ended(start(*arguments, "--json", **options), code)


def with_ranks(count, *arguments, code=0, **environment):
    """A verb whose work is shared by ranks of MPI: the report of rank 0."""
    words = [str(word) for word in ("mpiexec", "-n", count, FOREBAY, *arguments, "--json")]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL,
                          timeout=SECONDS_MAX, env=dict(os.environ, **RANKS_ENVIRONMENT) | environment)
    expect(done.returncode == code, f"{words} exits with {code}, not {done.returncode}", done.stdout[-2000:] + done.stderr[-2000:])
    return json.loads(done.stdout)


def is_alive(number):
    """Whether a process is there, and no zombie."""
    try:
        return pathlib.Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone_within(seconds, number):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not is_alive(number):
            return True
        time.sleep(0.02)
    return False


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def temporaries(target):
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(os.fsencode(target)) for name in names if name.startswith(b".fb-"))


def expect_equal(source, target, what):
    verdict = judge.judge(source, target)
    expect(verdict.equal, f"{what}: all is kept, not without {verdict.failed()}", judge.text(verdict))
    left = temporaries(target)
    expect(not left, f"{what}: no temporary names stay", str(left[:5]))
