"""One run of atmos with one way of output over emulated storage, and what was seen of it."""

import csv
import json
import mmap
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("FOREBAY", os.environ.get("FOREBAY_AGENT", str(ROOT / "build/bin/forebay"))))
SLOW = PROGRAM.parent.parent / "lib/libslow_storage.so"
WAYS = {
    "none": "no output",
    "each": "HDF5, one file a process",
    "collective": "HDF5, one file, collective",
    "process": "Forebay, agent a process",
    "dedicated": "Forebay, dedicated core",
}
FOREBAY_WAYS = ("process", "dedicated")
ENVIRONMENT = os.environ | {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none", "FOREBAY_AGENT": str(PROGRAM),
    # Of Open MPI's two, the one whose collective writing is the same in other MPIs.
    "OMPI_MCA_io": "romio321"}
BUSY_MAX = 0.1  # of all cores, before a run
TICK = os.sysconf("SC_CLK_TCK")


class Storage:
    """A directory in tmpfs whose writes, of all processes together, pass at a rate: see slow_storage.c."""

    def __init__(self, folder, bytes_per_second):
        self.below, clock = folder / "storage", folder / "clock"
        self.below.mkdir()
        clock.write_bytes(struct.pack("=QQQ", bytes_per_second, 0, 0))
        with open(clock, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 24)
        self.environment = {"LD_PRELOAD": str(SLOW), "SLOW_STORAGE_BELOW": str(self.below), "SLOW_STORAGE_CLOCK": str(clock)}

    def passed(self):
        """Bytes that were delayed."""
        return struct.unpack("=QQQ", self.page[:])[2]


class Watch(threading.Thread):
    """The CPU seconds of the agent, of which its log tells the process, again and again while it lives."""

    def __init__(self, staging):
        super().__init__(daemon=True)
        self.staging, self.samples, self.ended = staging, [], threading.Event()

    def agent(self):
        for log in self.staging.glob("forebay-*/*/agent.log"):
            if found := re.search(r"agent (\d+) serves", log.read_text()):
                return int(found[1])
        return None

    def run(self):
        process = None
        while not self.ended.wait(0.1):
            try:
                process = process or self.agent()
                if process:
                    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
                    self.samples.append((time.monotonic(), (int(fields[11]) + int(fields[12])) / TICK))
            except OSError:
                continue  # it has ended, or its log is being removed

    def stop(self):
        self.ended.set()
        self.join()

    def cpu_seconds(self, begin=0.0, end=float("inf")):
        """Of the samples between two moments: CPU, and how long that was."""
        inside = [sample for sample in self.samples if begin <= sample[0] <= end]
        return (inside[-1][1] - inside[0][1], inside[-1][0] - inside[0][0]) if len(inside) > 1 else (0.0, 0.0)


def busy_share(seconds):
    """Of all cores, in the next so many seconds."""
    def now():
        fields = [int(word) for word in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        return sum(fields), fields[3] + fields[4]  # all, idle

    before = now()
    time.sleep(seconds)
    spent, idle = (after - then for after, then in zip(now(), before))
    return 1 - idle / max(spent, 1)


def wait_for_quiet(seconds_max):
    """Until others leave the cores alone; the share that they take at the end."""
    end = time.monotonic() + seconds_max
    busy = busy_share(1)
    while busy > BUSY_MAX and time.monotonic() < end:
        busy = busy_share(1)
    return busy


def configuration(way, storage, slots):
    """What Forebay is told; the agent that is a process of its own takes its environment from here."""
    lines = ["close_wait_seconds = 120", "[agent]", f'mode = "{way}"']
    if way == "process":
        words = (f'{name} = "{value}"' for name, value in storage.environment.items())
        lines.append("environment = { " + ", ".join(words) + " }")
    return "\n".join(lines + ["[streams.fields]", f"slots = {slots}", "keep = 0", 'policy = "wait"', ""])


def command(way, storage, folder, given, iterations, compute):
    """mpiexec and all after it."""
    preload = ["env", *(f"{name}={value}" for name, value in storage.environment.items())] if way in (
        "each", "collective", "dedicated") else []
    common = ["--iterations", iterations, "--compute", compute, "--substeps", 0,
              "--mib-per-variable", given.mib_per_variable, "--record", folder / "record.csv"]
    atmos = PROGRAM.with_name("atmos")
    if way == "none":
        own = [atmos, "--no-output"]
    elif way in FOREBAY_WAYS:
        (folder / "forebay.toml").write_text(configuration(way, storage, given.slots))
        own = [atmos, "--config", folder / "forebay.toml", "--run", storage.below / "run", "--staging", folder / "staging"]
    else:
        own = [PROGRAM.with_name("jitter_hdf5"), way, storage.below]
    return [str(word) for word in [os.environ.get("BENCH_MPIEXEC", "mpiexec"), "-n", given.ranks, *preload, *own, *common]]


def run(way, bytes_per_second, given, iterations, compute=None):
    """What one run told: records, totals, the agent's CPU, what is on storage."""
    with tempfile.TemporaryDirectory(prefix="forebay-jitter-", dir="/dev/shm") as name:
        folder = pathlib.Path(name)
        (folder / "staging").mkdir()
        storage = Storage(folder, bytes_per_second)
        words = command(way, storage, folder, given, iterations, given.compute if compute is None else compute)
        busy = wait_for_quiet(given.patience)
        print(f"{bytes_per_second / 1e6:.0f} MB/s, {WAYS[way]}; others take {100 * busy:.0f} % of the cores",
              file=sys.stderr, flush=True)
        watch = Watch(folder / "staging")
        watch.start()
        with subprocess.Popen(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
            first_step = None
            lines = []
            for line in process.stdout:
                lines.append(line)
                first_step = first_step or (time.monotonic() if line.startswith("step ") else None)
            errors = process.stderr.read()
        watch.stop()
        if process.returncode != 0:
            sys.exit(f"bench/jitter: {' '.join(words)}: exit code {process.returncode}\n{''.join(lines)}{errors}")
        with open(folder / "record.csv", newline="", encoding="ascii") as file:
            records = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
        total = re.search(r"ended after ([\d.]+) s.*kept (\d+), skipped (\d+), replaced (\d+), failed (\d+)", lines[-1])
        found = {"records": records, "ended": float(total[1]), "told": int(total[2]) - int(total[4]),
                 "passed": storage.passed(), "stored": 0, "ranks": 1 + max(int(row["rank"]) for row in records), "watch": watch,
                 "first_step": first_step, "busy": busy}
        if way in FOREBAY_WAYS:
            listed = subprocess.run([PROGRAM, "ls", storage.below / "run", "--json"], capture_output=True, check=True).stdout
            found["stored"] = sum(one["state"] == "committed" for one in json.loads(listed))
        check_storage(way, found, given)
        return found


def check_storage(way, found, given):
    """What was said to be written must have passed the clock, or the figures mean nothing."""
    least = 4 * given.mib_per_variable * 2**20 * found["ranks"] * found["told"]
    if way != "none" and not least <= found["passed"] <= 1.05 * least + 2**22 * found["told"]:
        sys.exit(f"bench/jitter: {WAYS[way]}: {found['passed']} bytes passed the emulated storage, not about {least}")
