"""Goal: what several processes do with trees in a bucket is what one does: copies there and back, syncs, comparisons, walks and
removals; a large object goes up in parts by several. A worker that is killed costs its time alone, one that stood still
puts nothing when it goes on, uploads of killed ones go on or are given up, and a worker without keys, or whose server has not this bucket, is refused by name before anything is put.

Method: a server of these tests and versitygw where it is installed; workers over a stand-in for ssh and as localhost, and 2 and
3 ranks of MPI. Keys stand in the environment of all, as the tools of AWS find them; some workers are started without.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import judge
import make_tree
import s3_server
import team
from forebay_test import expect
from s3_support import MIB, ROOT, noise, on_each_server

# Both files are sent in parts of 16 MiB. A process gives two parts of the first file away at a time: three gifts. The second file has seven
# parts, and one part is held back.
LARGE, RESUMED = 72 * MIB, 100 * MIB


def ways(server, place):
    """Name and how a verb is run with others: (arguments) -> report."""
    def by_hosts(*words, options, code=0):
        return server.told(*words, *options, "--threads", 1, code=code)

    hosts = team.Hosts(place / "hosts", "node1", "node2").options()
    yield "2 over ssh", lambda *words, **more: by_hosts(*words, options=hosts, **more)
    yield "localhost", lambda *words, **more: by_hosts(*words, options=["--hosts", "localhost"], **more)
    if shutil.which("mpiexec") and (team.FOREBAY.parent / "forebay-mpi").exists():
        for ranks in (2, 3):
            yield f"{ranks} ranks", lambda *words, ranks=ranks, code=0: team.with_ranks(
                ranks, *words, "--threads", 1, code=code, **server.environment())
    else:
        print("not under MPI: there is no mpiexec, or this build has none")


def make_source(place):
    """Names of one inode in several folders, special files, a folder of many names, an empty one."""
    source = place / "source"
    make_tree.make("TS", source, 0.04)
    for number in range(300):
        noise(source / "many" / f"file-{number}", 100)
    (source / "nothing").mkdir()
    return source


def change(source):
    (source / "many/file-7").write_bytes(b"other bytes")
    (source / "many/file-8").chmod(0o600)
    (source / "many/file-9").unlink()
    (source / "many/file-10").unlink()
    (source / "many/file-10").mkdir()


def expect_whole(server, source, target, what):
    # Names of one inode are objects of their own there, as the manifest says.
    server.forebay("compare", source, target, "--preserve", "owner,permissions,times,attributes")
    expect(not [key for key in server.keys(target.removeprefix(f"{ROOT}/")) if "/.fb-" in key], f"{what}: no temporary objects stay")
    expect(server.uploads() == 0, f"{what}: no upload stays")


class Alone:
    """What one process says of the same trees; its copy stays."""

    def __init__(self, server, place):
        self.source, self.changed = make_source(place), place / "changed"
        subprocess.run(["cp", "-a", self.source, self.changed], check=True)
        change(self.changed)
        self.manifest = place / "manifest"
        self.options = ["--cannot-keep", "manifest", "--manifest", self.manifest]
        self.copied = server.told("copy", self.source, f"{ROOT}/alone", *self.options)
        self.parts = self.parts_beside()
        self.walked = server.told("walk", f"{ROOT}/alone")
        server.forebay("copy", self.source, f"{ROOT}/synced", *self.options)
        self.synced = server.told("sync", self.changed, f"{ROOT}/synced", "--delete", *self.options)
        server.forebay("delete", f"{ROOT}/synced")

    def parts_beside(self):
        return sorted(json.loads(line)["part"].split(" ")[0] for line in self.manifest.read_text().splitlines())


def expect_same(what, told, alone, keys):
    for key in keys.split():
        expect(told[key] == alone[key], f"{what}: {key} as of one process", f"{told[key]} and {alone[key]}")


def check_way(server, place, name, verb, alone):
    target, back = f"{ROOT}/{name}".replace(" ", "-"), place / f"{name}-back".replace(" ", "-")
    told = verb("copy", alone.source, target, *alone.options)
    expect_same(f"copy, {name}", told, alone.copied, "entries folders copied linked equal bytes")
    expect(alone.parts_beside() == alone.parts, f"copy, {name}: the manifest has {alone.parts}", str(alone.parts_beside()))
    entries = [one["entries"] for one in told["processes"]]
    taken = sum(one["gifts_taken"] for one in told["processes"][1:])  # who gets how much is the machine's matter
    expect(sum(entries) == told["entries"] and taken > 0, f"copy, {name}: others have a part", str(told["processes"]))
    expect_whole(server, alone.source, target, f"copy, {name}")
    expect_same(f"walk, {name}", verb("walk", target), alone.walked, "entries file folder link fifo socket bytes further_names deepest")
    if name in ("2 over ssh", "3 ranks"):
        verb("compare", f"{ROOT}/alone", target)
        synced = verb("sync", alone.changed, target, "--delete", *alone.options)
        expect_same(f"sync, {name}", synced, alone.synced, "entries copied adjusted removed equal")
        expect_whole(server, alone.changed, target, f"sync, {name}")
        differing = verb("compare", alone.source, target, "--preserve", "none", code=1)["remarks"]
        expect(sum(differing.values()) >= 3, f"compare, {name}: what changed", str(differing))
        verb("copy", target, back)
        verdict = judge.judge(alone.changed, back)
        expect(set(verdict.failed()) <= {"hard links"}, f"copy back, {name}: hard links alone are lost", judge.text(verdict))
        shutil.rmtree(back)
    verb("delete", target)
    expect(not server.keys(target.removeprefix(f"{ROOT}/") + "/"), f"delete, {name}: all of it")


def check_large(server, place, verb):
    """One object by several processes, there and back."""
    source, target, back = noise(place / "large/file", LARGE).parent, f"{ROOT}/large", place / "large-back"
    for words in ((source, target), (target, back)):
        told = verb("copy", *words, "--verify", "--rate", "60M")  # so that others come to have a part
        moved = [one["bytes"] for one in told["processes"]]
        expect(sum(moved) == LARGE and max(moved) < LARGE, f"several have a part of one file: {words}", str(moved))
    expect_whole(server, source, target, "one object by several")
    expect((source / "file").read_bytes() == (back / "file").read_bytes(), "it comes back")
    server.forebay("delete", target)


def check_lost_worker(server, place):
    source, target = place / "for-loss", f"{ROOT}/lost"
    for number in range(240):
        noise(source / f"d{number % 8}" / f"file-{number}", 20_000)
    for number in range(2):
        noise(source / f"d{number}" / "large", 66 * MIB)
    for lost in (["node1"], ["node1", "node2"]):
        hosts = team.Hosts(place / f"hosts-lost-{len(lost)}", "node1", "node2")
        process = server.begin("copy", source, target, "--threads", 2, "--rate", "30M", "--patience", 2, "--json", *hosts.options())
        while not server.uploads():
            time.sleep(0.02)
        time.sleep(1)
        for name in lost:
            command = pathlib.Path(f"/proc/{hosts.process(name)}/cmdline").read_bytes()
            expect(s3_server.SECRET.encode() not in command, "no command line has the secret", str(command))
            hosts.signal(name, signal.SIGKILL)
        told = json.loads(server.end(process))
        expect({one["host"] for one in told["processes"] if one["lost"]} == set(lost), f"{lost} are lost", str(told["processes"]))
        expect_whole(server, source, target, f"{lost} are killed")
        server.forebay("delete", target)


def check_frozen_worker(server, place):
    """What stood still, and goes on when others have done its work and the bucket has newer objects, puts nothing. An upload
    stays where it was begun, and had no mark yet."""
    source, newer, target, host = place / "for-loss", place / "newer", f"{ROOT}/frozen", team.FarHost(place / "host-far")
    process = server.begin("copy", source, target, "--threads", 4, "--rate", "30M", "--patience", 2, "--json", *host.options())
    while not server.uploads():
        time.sleep(0.02)
    time.sleep(1)
    host.signal("far", signal.SIGSTOP)
    told = json.loads(server.end(process))
    expect([one["host"] for one in told["processes"] if one["lost"]] == ["far"], "it is lost", str(told["processes"]))
    server.forebay("compare", source, target, "--preserve", "owner,permissions,times,attributes")
    for path in [path for path in source.rglob("*") if path.is_file()]:
        noise(newer / path.relative_to(source), 1000)
    server.forebay("sync", newer, target, "--delete")
    host.signal("far", signal.SIGCONT)
    expect(team.gone_within(300, host.process("far")), "it ends")
    server.forebay("compare", newer, target, "--preserve", "owner,permissions,times,attributes")
    server.forebay("delete", target)


def check_resumed(server, place):
    """All are killed while parts are held back: the same command, by one process, sends what had not come alone."""
    source, target = place / "for-resuming", f"{ROOT}/resumed"
    for name in "ab":
        noise(source / name / "large", RESUMED)
    server.faults({"match": "partNumber=6", "times": 9, "stall": 60})
    hosts = team.Hosts(place / "hosts-resumed", "node1")
    process = server.begin("copy", source, target, "--threads", 2, *hosts.options())
    parts = [f"resumed/{name}/large?partNumber={number}&" for name in "ab" for number in (1, 2, 3, 4)]
    server.wait_for(server.done, *parts)
    worker = hosts.process("node1")
    team.kill(process)
    server.end(process, code=None)
    expect(team.gone_within(300, worker), "the worker ends with the first process")
    server.faults()
    before = len(server.requests())
    told = server.told("copy", source, target)
    expect(told["resumed_bytes"] >= 2 * 64 * MIB, "a second run goes on with what all have sent", str(told))
    sent = [one for one in server.requests()[before:] if "partNumber=" in one]
    expect(len(sent) <= 6, f"parts that came are not sent again, but {sent}")
    expect_whole(server, source, target, "after all were killed")
    server.forebay("delete", target)


def check_refusals(server, place, source):
    """What one host has not is said of it, and nothing is put."""
    target = f"{ROOT}/refused"
    server.forebay("copy", source / "many", f"{ROOT}/there")
    without = "env -u AWS_ACCESS_KEY_ID -u AWS_SECRET_ACCESS_KEY"
    for verb in (("copy", source, target), ("copy", f"{ROOT}/there", place / "there"), ("walk", f"{ROOT}/there"),
                 ("compare", source / "many", f"{ROOT}/there"), ("delete", f"{ROOT}/there")):
        hosts = team.Hosts(place / "hosts-keys", "node1", before=without)
        said = server.forebay(*verb, *hosts.options(), code=2)
        expect("node1: no credentials for S3" in said and "on node1: set AWS_ACCESS_KEY_ID" in said, f"{verb[0]}: a host without keys", said)
    expect(not server.keys("refused") and len(server.keys("there/")) == 301, "nothing was put or removed")
    hosts = team.Hosts(place / "hosts-wrong", "node1", before="env AWS_SECRET_ACCESS_KEY=wrong")
    said = server.forebay("copy", source, target, *hosts.options(), code=2)
    expect("node1: " in said and not server.keys("refused"), "a host with a wrong key", said)
    # Workers get endpoint and region, because their login lacks both.
    hosts = team.Hosts(place / "hosts-endpoint", "node1", before="env -u AWS_ENDPOINT_URL AWS_REGION=elsewhere")
    server.told("copy", source / "many", target, *hosts.options())
    server.forebay("delete", target)
    server.forebay("delete", f"{ROOT}/there")


def check(server, place):
    alone = Alone(server, place)
    for name, verb in ways(server, place):
        check_way(server, place, name, verb, alone)
    for name, verb in ways(server, place):
        if name in ("2 over ssh", "2 ranks"):
            check_large(server, place, verb)
    check_refusals(server, place, alone.source)
    check_lost_worker(server, place)
    if server.fails_on_wish:
        check_resumed(server, place)
    check_frozen_worker(server, place)


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: needs root, to make and give away entries")
        raise SystemExit(77)
    on_each_server(check)
