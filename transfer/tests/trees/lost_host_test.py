"""Goal: a host that is lost in the middle of a copy costs nothing but its time: others do what it had, one line says so, and the
exit code is 0. Where the first process is killed its workers end, nothing half copied has a final name, and the same
command goes on. A host that sees other trees, or has another version, is refused before anything is copied.

Method: small and large files and tree TS, copied slowly (--rate) by workers over a stand-in for ssh; a worker is killed, or
stopped by SIGSTOP until it counts as lost (frozen_test lets it go on); all workers are killed; the first process is killed. The judge compares what came out, and
no temporary name may stay. Walks and removals lose a worker too. A mount namespace hides a tree from one host.
"""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

import conformance
import make_tree
import team
from forebay_test import expect

SEED = int(os.environ.get("FOREBAY_SEED", str(time.time_ns() % 1_000_000)))
PATIENCE = 2
SLOW, SLOWER = ["--rate", "60M", "--threads", 2], ["--rate", "6M", "--threads", 2]


def begun(target):
    """Once something is at the target."""
    while not (target.exists() and any(target.iterdir())):
        time.sleep(0.01)


def expect_lost(report, errors, names, what):
    lost = {one["host"] for one in report["processes"] if one["lost"]}
    expect(lost == set(names), f"{what}: {names} are lost", str(report["processes"]))
    for name in names:
        lines = [line for line in errors.splitlines() if line.startswith(f"{name} is lost")]
        expect(len(lines) == 1, f"{what}: one line says that {name} is lost", errors)


def lose(place, source, what, lost, number, chance, rate=SLOW):
    hosts = team.Hosts(place / f"hosts-{what}".replace(" ", "-"), "node1", "node2")
    target = place / "copy"
    process = team.start("copy", source, target, *rate, "--patience", PATIENCE, "--json", *hosts.options())
    begun(target)
    time.sleep(chance.uniform(0, 0.6))
    for name in lost:
        hosts.signal(name, number)
    report, errors = team.ended(process)
    expect_lost(report, errors, lost, f"{what}; FOREBAY_SEED={SEED}")
    team.expect_equal(source, target, f"{what}; FOREBAY_SEED={SEED}")
    conformance.removed(target)


def lose_first(place, source, chance):
    hosts = team.Hosts(place / "hosts-first", "node1", "node2")
    target = place / "copy"
    process = team.start("copy", source, target, "--rate", "120M", "--threads", 2, "--json", *hosts.options())
    begun(target)
    time.sleep(chance.uniform(0.2, 1.8))
    workers = [hosts.process(name) for name in hosts.names]
    team.kill(process)
    for worker in workers:
        expect(team.gone_within(300, worker), "workers end with the first process")
    for path in source.rglob("*"):
        copy = target / path.relative_to(source)
        if copy.is_file() and not copy.is_symlink():
            expect(copy.stat().st_size == path.stat().st_size and copy.read_bytes() == path.read_bytes(),
                   f"{copy} is whole under its final name; FOREBAY_SEED={SEED}")
    hosts = team.Hosts(place / "hosts-first-again", "node1")
    report, _ = team.told("copy", source, target, "--threads", 2, *hosts.options())
    team.expect_equal(source, target, f"the same command after a kill of the first process; FOREBAY_SEED={SEED}")
    conformance.removed(target)
    return report["resumed_bytes"]


def stop_first(place, source):
    """The first process stands still for longer than workers have patience, and goes on: they have given up, and it does all."""
    hosts = team.Hosts(place / "hosts-stopped", "node1", "node2")
    target = place / "copy"
    process = team.start("copy", source, target, "--rate", "40M", "--threads", 1, "--json", "--patience", 2, *hosts.options())
    begun(target)
    process.send_signal(signal.SIGSTOP)
    time.sleep(6)  # they have ended, and wait for their parent to hear of it
    process.send_signal(signal.SIGCONT)
    team.ended(process)
    team.expect_equal(source, target, "the first process goes on alone")
    conformance.removed(target)


def lose_walk_and_delete(place):
    """Many folders, so that a worker is lost with some of them: counts are those of one process."""
    tree = place / "folders"
    make_tree.make("empty", tree, 0.1)
    alone, _ = team.told("walk", tree)
    hosts = team.Hosts(place / "hosts-walk", "node1", "node2")
    process = team.start("walk", tree, "--threads", 1, "--patience", PATIENCE, "--json", *hosts.options())
    hosts.process("node2")
    time.sleep(0.08)
    hosts.signal("node1", signal.SIGKILL)
    report, _ = team.ended(process)
    for key in ("entries", "file", "folder", "bytes", "deepest"):
        expect(report[key] == alone[key], f"a walk that loses a worker counts all: {key}", f"{report[key]} and {alone[key]}")
    hosts = team.Hosts(place / "hosts-delete", "node1", "node2")
    process = team.start("delete", tree, "--threads", 1, "--patience", PATIENCE, "--json", *hosts.options())
    hosts.process("node2")
    time.sleep(0.15)
    hosts.signal("node1", signal.SIGKILL)
    team.ended(process)
    expect(not tree.exists(), "a removal that loses a worker removes all")


def check_other_trees(place, source):
    """node1 has an empty file system where the target is, or the source."""
    target = place / "copy"
    target.mkdir()
    if shutil.which("unshare") and subprocess.run(["unshare", "--mount", "true"], check=False).returncode == 0:
        for hidden in (target, source):
            script = place / "hide"
            script.write_text(f'#!/bin/sh\nexec unshare --mount --propagation private sh -c \'mount -t tmpfs none "{hidden}" && exec "$@"\' sh "$@"\n')
            script.chmod(0o755)
            hosts = team.Hosts(place / f"hosts-hidden-{hidden.name}", "node1", before=str(script))
            for verb in (["copy", source, target], ["compare", source, target]):
                process = team.start(*verb, *hosts.options())
                _, errors = team.ended(process, 2)
                expect("node1" in errors and str(hidden) in errors, f"{verb[0]}: who does not see what is said", errors)
                expect(not any(target.iterdir()), "nothing is copied", str(list(target.iterdir())))
    else:
        print("hosts with other trees are left out: no mount namespaces here")
    # A program with another protocol, and a program of another version.
    fake = place / "fake"
    fake.write_text("#!/bin/sh\necho welcome to node1\nexit 3\n")
    fake.chmod(0o755)
    report, errors = team.ended(team.start("copy", source, target, "--json", "--hosts", "node1", "--ssh", fake))
    expect_lost(report, errors, ["node1"], "a host without the program")
    expect("welcome to node1" in errors, "what it said is told", errors)
    team.expect_equal(source, target, "a host without the program")
    conformance.removed(target)
    hosts = team.Hosts(place / "hosts-version", "node1", before=str(place / "older"))
    older = place / "older"
    older.write_text(f"#!{shutil.which('python3')}\nimport os, subprocess, sys\n"
                     "child = subprocess.Popen(sys.argv[1:], stdin=0, stdout=subprocess.PIPE)\n"
                     "text = os.read(child.stdout.fileno(), 4096)\n"
                     "os.write(1, text.replace(b'\\x0aFBYTEA\\x03', b'\\x0aFBYTEA\\x02'))\n"
                     "child.wait()\n")
    older.chmod(0o755)
    _, errors = team.ended(team.start("copy", source, target, *hosts.options()), 6)
    expect("another version" in errors and "node1" in errors, "another version is refused", errors)


def main():
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="forebay-lost-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        source, mixed = place / "kill", place / "mixed"
        make_tree.make("kill", source, 0.28)
        make_tree.make("TS", mixed, 0.3)
        lose(place, source, "a worker is killed", ["node1"], signal.SIGKILL, chance)
        lose(place, mixed, "a worker is killed in a tree of all kinds", ["node2"], signal.SIGKILL, chance, SLOWER)
        lose(place, source, "a worker is stopped", ["node1"], signal.SIGSTOP, chance)
        lose(place, source, "all workers are killed", ["node1", "node2"], signal.SIGKILL, chance)
        resumed = lose_first(place, source, chance)
        stop_first(place, source)
        lose_walk_and_delete(place)
        check_other_trees(place, mixed)
        print(f"lost hosts: the run after the first process was killed went on with {resumed} bytes; seed {SEED}")
        conformance.removed(place)
        place.mkdir()


main()
