"""Goal: a run lies in a bucket as in a directory (`run = "s3://..."`): it is drained, committed, restarted on other ranks with
the same bits, verified, pruned, recovered and copied; a server that goes away, and ranks and agents that are killed, cost
nothing that was saved.

Method: the simulation of apps/nbody with a server of the tests, its digests against those of the same run of files;
the server killed and started again in mid-drain; all ranks and the agent killed with the server away; then what is in the
bucket key by key.
"""

import json
import os
import signal
import subprocess
import time

import s3_support
from forebay_test import BUILD, SECONDS_MAX, expect, run
from s3_support import ROOT, write_keys

MESH, STEPS, SAVE_EVERY = 32, 12, 4


class Simulation:
    def __init__(self, server, place):
        self.server, self.staging = server, place / "staging"
        self.staging.mkdir()

    def command(self, ranks, *words):
        words = [*words, "--save-every", SAVE_EVERY] if "--run" in words else words
        return ["mpiexec", "--oversubscribe", "-n", str(ranks), str(BUILD / "bin/nbody"), "--mesh", str(MESH), "--particles", str(MESH),
                "--steps", str(STEPS), *map(str, words)]

    def start(self, ranks, place, *words):
        return subprocess.Popen(self.command(ranks, "--run", place, "--staging", self.staging, *words), stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, env=self.server.environment(), start_new_session=True)

    def run(self, ranks, place, *words):
        process = self.start(ranks, place, *words)
        said, _ = process.communicate(timeout=SECONDS_MAX)
        self.server.said.append(said)
        expect(process.returncode == 0, "the simulation ends well", said[-3000:])
        return said


def steps(server, place):
    return [one["step"] for one in json.loads(server.forebay("ls", place, "--json"))]


def drained_and_restarted(server, place):
    simulation, run_place = Simulation(server, place), f"{ROOT}/sims/run"
    for where in (run_place, place / "beside"):
        simulation.run(3, where, "--virtual-nodes", 2, "--stop-after", 8)
        expect(steps(server, where) == [8, 4], "both saves are committed", server.forebay("ls", where))
        said = simulation.run(2, where, "--restart", "--checksum-file", place / f"sums-{where == run_place}")
        expect("from step 8" in said, "it goes on from the newest one", said)
        expect(server.forebay("verify", where).count("whole") == 3, "all are whole")
    expect((place / "sums-True").read_text() == (place / "sums-False").read_text(), "and comes to the same bits as one of files")
    expect(not server.uploads(), "no upload is left")
    return run_place


def used(server, run_place, place):
    """What people do with a run."""
    for words in (("show", f"{run_place}@12"), ("top", run_place, "--once"), ("report", run_place), ("recover", run_place),
                  ("export", "openpmd", f"{run_place}@8", place / "export.h5")):
        server.forebay(*words)
    said = server.forebay("view", f"{run_place}@12", code=2)
    expect("forebay export" in said, "a view cannot be, and what can is named", said)
    server.forebay("mark", f"{run_place}@8", "--why", "odd")
    server.forebay("prune", run_place, "--keep", "2")
    small = place / "small"
    small.mkdir()
    for number in range(30):
        (small / f"plot-{number}").write_bytes(bytes([number]) * 1000)
    server.forebay("pack", small, run_place)
    server.forebay("pack", small, run_place)
    server.forebay("extract", run_place, "-C", place / "unpacked")
    expect((place / "unpacked/plot-7").read_bytes() == bytes([7]) * 1000, "packed files come back")
    for words in (("archive", run_place, place / "a.tar"), ("restore-archive", place / "a.tar", f"{ROOT}/archive")):
        said = server.forebay(*words, code=2)
        expect("an archive is made from a directory" in said, f"{words[0]} is for directories", said)
    copy, again = place / "copy", f"{ROOT}/copies/run"
    told = server.told("copy", f"{run_place}/", copy)
    expect(time.time() - (copy / "restart").stat().st_mtime < SECONDS_MAX, "a directory has a time")
    expect(told["snapshots"] == len(steps(server, run_place)) and not any(told["remarks"].values()), "a run comes out whole", str(told))
    expect(server.forebay("verify", copy).count("whole") == told["snapshots"], "as a run of files")
    told = server.told("copy", copy, again)
    expect(told["snapshots"] == len(steps(server, again)) and told["verified_bytes"], "and goes back, and is read back", str(told))
    before = server.keys("copies/")
    server.told("sync", copy, again, "--delete")
    expect(server.keys("copies/") == before, "again nothing changes")
    server.forebay("delete", again)
    server.forebay("delete", run_place)
    left = [key for key in server.keys("") if "/run/" in key]
    expect(not left, "what is removed leaves no keys", str(left))


def server_away(server, place):
    """In mid-drain; the agent waits for it."""
    simulation, run_place = Simulation(server, place), f"{ROOT}/sims/away"
    config = place / "slow.toml"
    config.write_text("[agent]\nrate_bytes_per_second = 500_000\n")
    process = simulation.start(2, run_place, "--stop-after", 4, "--config", config)
    until = time.monotonic() + SECONDS_MAX
    while not any(".part/" in key for key in server.keys("sims/away")):
        expect(time.monotonic() < until and process.poll() is None, "a drain begins")
        time.sleep(0.05)
    server.kill()
    time.sleep(1)
    server.start()
    said, _ = process.communicate(timeout=SECONDS_MAX)
    expect(process.returncode == 0, "it ends well", said[-3000:])
    expect(steps(server, run_place) == [4], "nothing is lost")
    server.forebay("verify", run_place)


def all_killed(server, place):
    """With the server away nothing can be drained; what is staged is, when it is back."""
    simulation, run_place = Simulation(server, place), f"{ROOT}/sims/killed"
    simulation.run(2, run_place, "--stop-after", 4)
    process = simulation.start(2, run_place, "--restart", "--stop-after", 9)
    for line in process.stdout:
        if "saved in" in line:
            break
    server.kill()
    os.killpg(process.pid, signal.SIGKILL)
    subprocess.run(["pkill", "-KILL", "-f", str(simulation.staging)], check=False)
    process.communicate(timeout=SECONDS_MAX)
    server.start()
    server.forebay("recover", run_place, "--staging", simulation.staging)
    expect(steps(server, run_place) == [8, 4], "what was staged is committed", server.forebay("ls", run_place))
    server.forebay("verify", run_place)
    simulation.run(3, run_place, "--restart")
    expect(steps(server, run_place) == [12, 8, 4], "and goes on")


def refused(server, place):
    """Before the first step."""
    simulation = Simulation(server, place)
    for where, environment, words in (("s3://no-such-bucket/run", {}, "NoSuchBucket"),
                                      (f"{ROOT}/run", {"AWS_SECRET_ACCESS_KEY": "wrong"}, "SignatureDoesNotMatch"),
                                      ("s3://x/run", {}, "bucket"), ("S3://bucket/run", {}, "not a valid place"),
                                      ("s3:/bucket/run", {}, "not a valid place")):
        done = subprocess.run(simulation.command(1, "--run", where, "--staging", simulation.staging), text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=server.environment(**environment),
                              timeout=SECONDS_MAX)
        expect(done.returncode != 0 and words in done.stdout and "step    1" not in done.stdout, f"{where} is refused", done.stdout)
    both = simulation.command(1, "--run", f"{ROOT}/run", "--staging", simulation.staging, "--virtual-nodes", 2)
    done = subprocess.run([*both, ":", "-n", "1", "env", "AWS_SECRET_ACCESS_KEY=wrong", *both[4:]], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=server.environment(), timeout=SECONDS_MAX)
    expect(done.returncode != 0 and "as seen from" in done.stdout and "step    1" not in done.stdout,
           "a node that cannot reach the run is told before the first step", done.stdout)
    config = place / "shared.toml"
    config.write_text('[streams.restart]\nfile = "shared"\n')
    done = simulation.start(1, f"{ROOT}/shared", "--config", config)
    said, _ = done.communicate(timeout=SECONDS_MAX)
    expect(done.returncode != 0 and "nodes cannot share an object" in said, "several nodes cannot write one object", said)
    if not server.fails_on_wish:
        return
    server.faults({"no_conditions": True, "match": "$^"})
    done = simulation.start(1, f"{ROOT}/old")
    said, _ = done.communicate(timeout=SECONDS_MAX)
    expect(done.returncode != 0 and "If-None-Match" in said, "a server that takes no notice of conditions too", said)
    server.faults()


def tokens_expire(server, place):
    """In mid-drain. New ones are found in the files; a node without any ends the wait of the other one, which drains."""
    if not server.fails_on_wish:
        return
    simulation, files = Simulation(server, place), [server.home / "keys-0", server.home / "keys-1"]
    config = place / "slow.toml"
    config.write_text("[agent]\nrate_bytes_per_second = 300_000\n")

    def run_until_expired(run_place, expire):
        words = simulation.command(1, "--run", run_place, "--staging", simulation.staging, "--virtual-nodes", 2,
                                   "--stop-after", 4, "--config", config)[4:]
        both = [["-n", "1", "env", f"AWS_SHARED_CREDENTIALS_FILE={file}", *words] for file in files]
        process = subprocess.Popen(["mpiexec", "--oversubscribe", *both[0], ":", *both[1]], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                                   env=server.environment(AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY=""))
        until = time.monotonic() + SECONDS_MAX
        while not any(".step-000004" in key for key in server.keys(run_place.removeprefix(f"{ROOT}/"))):
            expect(time.monotonic() < until and process.poll() is None, "a drain begins")
            time.sleep(0.05)
        expire()
        said, _ = process.communicate(timeout=SECONDS_MAX)
        return process.returncode, said

    def replaced():
        for number, file in enumerate(files):
            write_keys(file, f"new-{number}")
        server.expire("old-0", "old-1")

    for number, file in enumerate(files):
        write_keys(file, f"old-{number}")
    code, said = run_until_expired(f"{ROOT}/sims/renewed", replaced)
    expect(code == 0 and steps(server, f"{ROOT}/sims/renewed") == [4], "tokens are found anew", said)
    code, said = run_until_expired(f"{ROOT}/sims/expired", lambda: server.expire("new-1"))
    for words in ("ExpiredToken", "is NOT committed", "the staged copy on", "forebay drain"):
        expect(code != 0 and words in said, f"'{words}' is said at once, not when close_wait is over", said)
    server.expire()
    server.forebay("recover", f"{ROOT}/sims/expired", "--staging", simulation.staging)
    expect(steps(server, f"{ROOT}/sims/expired") == [4], "what was staged is committed with other keys")


def check(server, place):
    for story in (drained_and_restarted, server_away, all_killed, refused, tokens_expire):
        own = place / story.__name__
        own.mkdir()
        made = story(server, own)
        if made:
            used(server, made, own)


if __name__ == "__main__":
    s3_support.on_each_server(check)
