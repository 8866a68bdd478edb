"""Goal: a run by its address, daos://POOL/CONTAINER/PATH, is saved, drained, committed, shown, verified, pruned and restarted
as a run in a directory. A killed agent loses no sealed step. Without libdfs, or without the container, nothing begins, and
the error says what to do.

Method: job_simulation, nbody and the verbs, over the libdfs of these tests (fake_container.cpp).
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from forebay_test import BUILD, FOREBAY, SECONDS_MAX, expect

MODULE = BUILD / "tests/daos"
SIMULATION = BUILD / "tests/job_simulation"
NBODY = BUILD / "bin/nbody"
RUN = "daos://tank/cont/runs/run7"
BYTES = 9 << 20  # more than two requests


class Daos:
    """The pool `tank` with the container `cont`, in which the directory `runs` is."""

    def __init__(self, place):
        self.place, self.store, self.staging = place, place / "daos", place / "staging"
        (self.store / "tank/cont/runs").mkdir(parents=True)
        self.staging.mkdir()

    def environment(self, **more):
        return os.environ | {"LD_LIBRARY_PATH": f"{MODULE}:{os.environ.get('LD_LIBRARY_PATH', '')}", "FAKE_DAOS": str(self.store),
                             "FOREBAY_AGENT": str(FOREBAY)} | more

    def forebay(self, *arguments, code=0, **more):
        done = subprocess.run([FOREBAY, *map(str, arguments)], capture_output=True, text=True, errors="replace", check=False,
                              env=self.environment(**more), timeout=SECONDS_MAX, stdin=subprocess.DEVNULL)
        expect(code is None or done.returncode == code, f"{arguments} exits with {done.returncode}, not {code}", done.stdout + done.stderr)
        expect("never released" not in done.stderr, f"{arguments} releases what it opens", done.stderr)
        return done.stdout if "--json" in arguments else done.stdout + done.stderr

    def start(self, run, steps, rate=0, ending="close", **more):
        words = [SIMULATION, run, self.staging, steps, BYTES, rate, ending]
        return subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                stdin=subprocess.DEVNULL, env=self.environment(**more))

    def simulate(self, run, steps, code=0, **more):
        process = self.start(run, steps, **more)
        text, _ = process.communicate(timeout=SECONDS_MAX)
        expect(process.returncode == code, f"the simulation exits with {code}", text)
        return text

    def committed(self, run=RUN):
        entries = json.loads(self.forebay("ls", run, "--json", code=None) or "[]")
        return sorted(entry["step"] for entry in entries if entry["state"] == "committed")


def wait_until(is_so, what):
    deadline = time.monotonic() + SECONDS_MAX
    while not is_so():
        expect(time.monotonic() < deadline, what)
        time.sleep(0.05)


def save_and_restart(daos):
    text = daos.simulate(RUN, 3)
    expect("begins after step 0" in text, "a new run begins", text)
    wait_until(lambda: daos.committed() == [1, 2, 3], "three steps are committed")
    daos.forebay("verify", RUN)
    text = daos.simulate(RUN, 2)
    expect("begins after step 3" in text, "the next session goes on from the newest step", text)
    wait_until(lambda: daos.committed() == [1, 2, 3, 4, 5], "two more steps are committed")
    names = sorted(path.name for path in (daos.store / "tank/cont/runs/run7/restart").iterdir())
    expect(names == [f"step-{step:06}" for step in range(1, 6)], "nothing else is in the stream", str(names))


def verbs(daos):
    daos.forebay("recover", RUN)
    expect("run7" in daos.forebay("report", RUN, "--plain"), "report shows the run")
    daos.forebay("prune", RUN, "--keep", 3)
    expect(daos.committed() == [3, 4, 5], "prune removes old steps")
    daos.forebay("show", f"{RUN}@3")
    said = daos.forebay("ls", "daos://tank/cont/runs/none", code=None)
    expect("no such directory" in said, "a missing run is named", said)
    said = daos.simulate("daos://tank/cont/nowhere/run", 1, code=1)
    expect("there is no directory daos://tank/cont/nowhere" in said, "no run begins in a missing directory", said)
    copy = daos.place / "copy"
    daos.forebay("copy", RUN, copy)
    daos.forebay("verify", copy)
    daos.forebay("copy", copy, "daos://tank/cont/runs/again")
    daos.forebay("verify", "daos://tank/cont/runs/again")
    expect(daos.committed("daos://tank/cont/runs/again") == [3, 4, 5], "a run is copied to a directory and back as a run")


def broken_queue(daos):
    """An event queue fails while requests are in flight: an error, and the next command reads."""
    said = daos.forebay("verify", RUN, code=None, FAKE_DAOS_FAILS="daos_eq_poll:5")
    expect("daos_eq_poll" in said, "verify names the call that failed", said)
    daos.forebay("verify", RUN)


def damage(daos):
    file = next((daos.store / "tank/cont/runs/again/restart/step-000003").glob("node-*.h5"))
    with open(file, "r+b") as node:
        node.seek(BYTES // 2)
        node.write(b"damaged")
    said = daos.forebay("verify", "daos://tank/cont/runs/again", code=1)
    expect("3" in said, "verify finds damage", said)


def agents_of(daos):
    return [int(path.parent.name) for path in pathlib.Path("/proc").glob("[0-9]*/cmdline")
            if b"\0agent\0" in path.read_bytes() and str(daos.staging).encode() in path.read_bytes()]


def kill_in_drain(daos):
    """Application and agent are killed while requests are in flight. The next session commits what was sealed."""
    run = "daos://tank/cont/runs/killed"
    process = daos.start(run, 2, ending="wait", FAKE_DAOS_WRITE_MS="300")
    wait_until(lambda: list((daos.store / "tank/cont/runs/killed/restart").glob(".step*/*.tmp")), "a drain is at work")
    for victim in (process.pid, *agents_of(daos)):
        os.kill(victim, signal.SIGKILL)
    text, _ = process.communicate()
    sealed = text.count("saved step")
    text = daos.simulate(run, 1)
    expect(sealed >= 1 and f"begins after step {sealed}" in text, "the next session goes on from the newest sealed step", text)
    wait_until(lambda: len(daos.committed(run)) == sealed + 1, "every sealed step is committed")
    daos.forebay("verify", run)


def nodes_share(daos):
    if not NBODY.exists() or not shutil.which("mpiexec"):
        return print("left out, files of several nodes: no nbody or no mpiexec")
    run = "daos://tank/cont/runs/shared"
    (daos.place / "forebay.toml").write_text('[streams.restart]\nfile = "combined:2"\nkeep = 9\n')
    words = ["mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", 2, NBODY, "--mesh", 16, "--particles", 32, "--steps", 2, "--save-every", 1,
             "--virtual-nodes", 2, "--run", run, "--staging", daos.staging, "--config", daos.place / "forebay.toml"]
    done = subprocess.run([str(word) for word in words], env=daos.environment(), capture_output=True, text=True, check=False,
                          timeout=SECONDS_MAX, stdin=subprocess.DEVNULL)
    expect(done.returncode == 0, "two nodes share a file", done.stdout + done.stderr)
    wait_until(lambda: daos.committed(run) == [1, 2], "both steps are committed")
    daos.forebay("verify", run)
    return None


def refusals(daos):
    said = daos.forebay("ls", RUN, code=6, LD_LIBRARY_PATH=os.environ.get("LD_LIBRARY_PATH", ""))
    expect("cannot reach DAOS by libdfs" in said and "nothing was changed" in said and "LD_LIBRARY_PATH" in said,
           "without libdfs the error says what is safe and what to do", said)
    said = daos.simulate(RUN, 1, code=1, LD_LIBRARY_PATH=os.environ.get("LD_LIBRARY_PATH", ""))
    expect("cannot reach DAOS by libdfs" in said, "no session begins without libdfs", said)
    said = daos.forebay("ls", "daos://tank/new/run", code=3, FAKE_DAOS_RANKS="8")
    expect("daos container create tank new" in said and "EC_4P2GX" in said, "a container that fits the pool is proposed", said)
    said = daos.forebay("ls", RUN, code=5, FAKE_DAOS_FAILS="dfs_init:5")
    expect("daos_agent" in said and "Input/output error" not in said, "a missing daos_agent is named", said)
    (daos.store / "tank/cont.balanced").touch()
    expect(daos.committed() == [3, 4, 5], "a container of the mode balanced is opened")
    (daos.store / "tank/cont.only-read").touch()
    daos.forebay("verify", RUN)
    said = daos.simulate(RUN, 1, code=1)
    expect("not permitted" in said, "a container for reading takes no session", said)


def main():
    if not SIMULATION.exists():
        print("skipped: job_simulation is not built")
        sys.exit(77)
    if (BUILD / "lib/libforebay_daos.so").exists():
        print("skipped: this build reaches containers by a real libdfs")
        sys.exit(77)
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="forebay-daos-runs-", dir=memory) as place:
        daos = Daos(pathlib.Path(place))
        save_and_restart(daos)
        verbs(daos)
        broken_queue(daos)
        damage(daos)
        kill_in_drain(daos)
        nodes_share(daos)
        refusals(daos)
        wait_until(lambda: not agents_of(daos), "no agent is left")


if __name__ == "__main__":
    main()
