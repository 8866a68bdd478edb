"""Goal: atmos writes the same bytes with an agent as process, thread or dedicated rank, and goes on from them. After
any kill, sealed steps are committed, by `forebay recover` or by the next start.

Method: each mode runs 4 steps at once, and 2 and 2 on another number of ranks. Fields are compared in h5py, after
`forebay verify`. Then drains take longer than the steps: when the second step is printed and the first is in mid-drain,
a computing rank, the agent, or everything is killed.
"""

import csv
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

import runs

MODES = ("process", "thread", "dedicated")
SLOW = 500_000  # bytes a second: more than 0.5 s a step
KILLS = [("process", "rank", "recover"), ("process", "everything", "recover"), ("dedicated", "rank", "recover"),
         ("dedicated", "agent", "recover"), ("dedicated", "everything", "recover"), ("dedicated", "everything", "start")]


def modes_agree(folder):
    """Returns the bytes of step 4. They must be equal in every mode."""
    expected = None
    for mode in MODES:
        whole, parts = runs.Place(folder, f"{mode}-whole", mode), runs.Place(folder, f"{mode}-parts", mode)
        out, _ = whole.simulate(2, "--iterations", 4)
        runs.check(runs.totals(out)["kept"] == 4 and runs.totals(out)["durable"] == 4, f"{mode}: {out}")
        runs.check("restart" not in out, f"{mode} restarts from nothing: {out}")
        bytes_whole = whole.bytes_of(4)
        expected = expected or bytes_whole
        runs.check(bytes_whole == expected, f"{mode}: step 4 differs from that of {MODES[0]}")
        # The fields change places in memory with every step: an old address would make neighbouring steps equal.
        runs.check(mode != MODES[0] or len({tuple(whole.bytes_of(step)) for step in (2, 3, 4)}) == 3,
                   f"{mode}: of steps 2, 3 and 4 two are equal")
        parts.simulate(2, "--iterations", 2)
        out, _ = parts.simulate(3, "--iterations", 4)
        runs.check("restart from step 2" in out and set(runs.told(out)) == {3, 4}, f"{mode}: {out}")
        runs.check(parts.bytes_of(4) == expected, f"{mode}: step 4 after a restart on 3 ranks differs")
        print(f"{mode}: steps 1 to 4, and 3 to 4 after a restart on 3 ranks, are those of {MODES[0]}", flush=True)
    return expected


def victims(what, process, agent):
    """Returns the processes to kill. 'everything': mpiexec, the ranks and the agent at once."""
    ranks = runs.ranks_of(process)
    computing = [rank for rank in ranks if rank != agent]
    runs.check(agent is not None and len(computing) == 2, f"ranks {ranks}, agent {agent}")
    return {"rank": computing[-1:], "agent": [agent], "everything": [process.pid, *computing, agent]}[what]


def alive(pid):
    """False for a process that is gone or a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def killed(place, what):
    """Kills `what` when step 2 is printed, and waits until all have ended. Returns the printed steps."""
    process = place.start(2, "--iterations", 2, "--compute", 0.01)
    steps = {}
    while 2 not in steps:
        line = process.stdout.readline()
        if not line:
            sys.exit(f"atmos: {place.mode} ended early: {process.stderr.read()}")
        steps |= runs.told(line)
    agent = place.agent()
    for victim in victims(what, process, agent):
        os.kill(victim, signal.SIGKILL)
    process.communicate(timeout=600)
    ended = time.monotonic() + 3000  # the agent of a dead application commits what was sealed, then leaves
    while alive(agent) and time.monotonic() < ended:
        time.sleep(0.02)
    runs.check(not alive(agent), f"the agent {agent} stays")
    is_agent_dead = what != "rank" or place.mode == "dedicated"  # mpiexec ends all ranks when one is killed
    runs.check((2 in place.committed()) != is_agent_dead, f"{place.mode}, {what} killed: at the target {place.committed()}")
    return sorted(steps)


def kills(folder, expected):
    """Steps printed before the kill are at the target after it. The run ends with the bytes of an undisturbed run."""
    for mode, what, way in KILLS:
        place = runs.Place(folder, f"{mode}-{what}-{way}", mode, rate=SLOW)
        steps = killed(place, what)
        runs.check(steps == [1, 2], f"told {steps}")
        place.configure()
        if way == "recover":
            runs.program("recover", place.run, "--staging", place.staging)
            runs.check(place.committed() == steps, f"{mode}, {what} killed: recover committed {place.committed()}")
        out, _ = place.simulate(2, "--iterations", 4)
        runs.check("restart from step 2" in out and place.committed() == [1, 2, 3, 4],
                   f"{mode}, {what} killed, {way}: {place.committed()}\n{out}")
        runs.check(place.bytes_of(4) == expected, f"{mode}, {what} killed, {way}: step 4 differs")
        print(f"{mode}: {what} killed: {way} commits what was sealed", flush=True)


def agent_alone(folder):
    """A killed agent process is replaced while the application goes on."""
    place = runs.Place(folder, "agent-alone", "process", rate=SLOW)
    process = place.start(2, "--iterations", 4, "--compute", 0.1)
    for line in process.stdout:
        if 2 in runs.told(line):
            break
    first = place.agent()
    os.kill(first, signal.SIGKILL)
    out, errors = process.communicate(timeout=600)
    runs.check(process.returncode == 0 and runs.totals(out)["durable"] == 4, f"agent killed: {out}{errors}")
    runs.check(place.committed() == [1, 2, 3, 4], f"agent killed: at the target {place.committed()}")
    print("process: agent killed: the application starts another one and ends with every step committed", flush=True)


def options(folder):
    """Options that the command line takes and refuses. A run without output records its times, too."""
    def alone(*words):
        return subprocess.run([runs.BUILD / "bin/atmos", *words], capture_output=True, text=True, check=False, timeout=600)

    helped = alone("--help")
    runs.check(helped.returncode == 0 and "--mib-per-variable" in helped.stdout, f"--help: {helped}")
    for words, text in ((["--grid", "8"], "--grid takes"), (["--iterations", "0"], "--iterations takes"),
                        (["x"], "belongs here: x"), (["--wrong"], "not known"), (["--compute", "-1"], "--compute takes"),
                        (["--config", "none"], "none")):
        refused = alone(*words)
        runs.check(refused.returncode == 2 and text in refused.stderr, f"{words}: {refused}")
    record = pathlib.Path(folder) / "record.csv"
    done = alone("--no-output", "--record", record, "--mib-per-variable", "2", "--iterations", "3", "--compute", "0.05")
    runs.check(done.returncode == 0 and runs.totals(done.stdout)["kept"] == 0, f"--no-output: {done}")
    with open(record, newline="", encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    runs.check([row["step"] for row in rows] == ["1", "2", "3"], f"--record: {rows}")
    runs.check(all(float(row["seconds"]) >= 0.05 > float(row["blocked_seconds"]) for row in rows), f"--record: {rows}")


def looked_at(folder):
    """insitu.py runs beside the simulation, on two nodes."""
    if not list((runs.BUILD / "python/forebay").glob("_forebay_insitu.*so")):
        print("insitu.py: not run, the Python package is not built", flush=True)
        return
    script = pathlib.Path(__file__).with_name("insitu.py")
    place = runs.Place(folder, "looked-at", "process", stream=f"[streams.fields.insitu.weather]\nkind = 'script'\n"
                                                              f"script = '{script}'\npython = '{sys.executable}'")
    place.config.write_text("virtual_nodes = 2\n" + place.config.read_text())
    place.simulate(2, "--iterations", 4, "--compute", 1)
    last = place.run / "fields.weather/step-000004"
    ended = time.monotonic() + 60  # the agents end after their session
    while not last.exists() and time.monotonic() < ended:
        time.sleep(0.05)
    runs.check(last.exists(), f"no results: {list(place.run.glob('*/*'))}")
    with h5py.File(place.run / "fields/step-000004.h5") as view, h5py.File(last / "node-00000.h5") as found:
        speed = np.hypot(view["u"][...], view["v"][...])
        runs.check(found["max"][()] == view["theta"][...].max(), "the warmest place is another one")
        runs.check(np.allclose(found["profile"][...], speed.mean((1, 2)), rtol=1e-5), "the wind is another one")
    runs.program("extract", place.run, "-C", place.folder / "pictures")
    runs.check((place.folder / "pictures/fields.weather.ground.step-000004.png").exists(), "no picture")
    print("insitu.py: what it makes is what the view says", flush=True)


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-atmos-", dir="/dev/shm") as folder:
        options(folder)
        kills(folder, modes_agree(folder))
        agent_alone(folder)
        looked_at(folder)


main()
