"""Goal: on a target whose file system has no locks an H5Part file is written and read as anywhere, its user is told so once,
and two writers never meet: one on this host is known, one on another host is refused with the reason and the way out.

Method: a preloaded library lets every lock below the target fail, by each errno that such file systems give; the other
host is the name that its writer would have left.
"""

import errno
import os
import pathlib
import signal
import subprocess
import sys

import clients
from forebay_test import BUILD, expect

LIBRARY = BUILD / "tests/libno_locks.so"


def without_locks(target, number):
    """For clients; their agents get the library by the configuration."""
    return {**os.environ, "LD_PRELOAD": str(LIBRARY), "NO_LOCKS_BELOW": str(target), "NO_LOCKS_NUMBER": str(number)}


def refused(environment, path, *reasons):
    out = clients.run(1, "h5part_vpic", "write", path, 1, good=False, env=environment)
    expect(all(reason in out for reason in reasons), out)


def written_and_read(target, number):
    environment = without_locks(target, number)
    path = target / f"file-{number}.h5part"
    out = clients.run(2, "h5part_vpic", "again", path, 3, env=environment)
    told = [line for line in out.splitlines() if "has no locks" in line]
    expect(len(told) == 1 and str(target) in told[0] and "flock" in told[0], out)
    expect(path.exists() and not clients.run_of(path).exists(), "the file, and nothing beside it")
    clients.run(3, "h5part_vpic", "read", path, 3, 2, env=environment)
    clients.run(2, "h5part_vpic", "append", path, 2, 3, env=environment)
    clients.run(1, "h5part_vpic", "read", path, 5, 2, env=environment)


def agents_of(work):
    """The processes of agents that serve a staging directory below `work`."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if b"--session" in words and any(word.startswith(str(work).encode()) for word in words):
            found.append(int(path.parent.name))
    return found


def one_writer_on_this_host(target, work):
    """It holds the name until its end. A writer that was killed does not, though its agent has not seen its end yet: the next
    writer waits for the agent, which stands still here until that writer says so."""
    environment = without_locks(target, errno.ENOSYS) | {"FOREBAY_LOG": "1"}
    path = target / "held.h5part"
    writer = subprocess.Popen(clients.command(0, "h5part_close", "write", path, 600), text=True, stdout=subprocess.PIPE,
                              env=environment)
    for line in writer.stdout:
        if line.startswith("closed"):
            break
    refused(environment, path, "is being written by another program")
    agents = agents_of(work)
    expect(len(agents) == 1, f"one agent, and not {agents}")
    os.kill(agents[0], signal.SIGSTOP)
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    waiting = "for the agent of a dead session, which drains "
    said = ""
    with subprocess.Popen(clients.command(2, "h5part_vpic", "write", path, 2), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=environment) as following:
        for line in following.stdout:
            said += line
            if waiting in line:
                os.kill(agents[0], signal.SIGCONT)
    expect(following.returncode == 0 and said.count(waiting) == 1 and "at most 600 s" in said, said)
    clients.run(1, "h5part_vpic", "read", path, 2, 2, env=environment)


def one_writer_on_another_host(target, impatient):
    """Whose file is waited for, no longer than the configuration says."""
    environment = {**without_locks(target, errno.ENOLCK), "FOREBAY_H5PART_CONFIG": str(impatient)}
    path = target / "elsewhere.h5part"
    run = clients.run_of(path)
    kept = run / "steps/step-000000/manifest.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")
    for name, reason in (("writer.lock", "is being written by another program"), ("finish.lock", "is still being made")):
        (run / name).touch(0o600)
        record = run / f"{name}.host"
        record.touch(0o600)
        record.write_text("other-host\n")
        refused(environment, path, reason, "other-host", "no working locks", "flock", f"remove {record}")
        expect(kept.exists(), "another host's steps are gone")
        record.unlink()
    environment = without_locks(target, errno.ENOLCK)
    clients.run(2, "h5part_vpic", "write", path, 2, env=environment)
    clients.run(1, "h5part_vpic", "read", path, 2, 2, env=environment)


def main():
    if os.environ.get("FOREBAY_LINK_FLAGS"):
        print("skipped: a sanitized program must find the sanitizer before what is preloaded")
        sys.exit(77)
    config = f'[agent]\nenvironment = {{ LD_PRELOAD = "{LIBRARY}" }}\n'
    with clients.workplace(config) as work:
        impatient = work / "impatient.toml"
        impatient.write_text("close_wait_seconds = 1\n" + (work / "config.toml").read_text())
        target = pathlib.Path(work) / "target"
        target.mkdir()
        for number in (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP):
            written_and_read(target, number)
        one_writer_on_this_host(target, work)
        one_writer_on_another_host(target, impatient)
        expect(sorted(target.glob("*.forebay")) == [] and clients.nothing_staged(), "something is left")


main()
