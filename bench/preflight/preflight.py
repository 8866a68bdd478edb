#!/usr/bin/env python3
"""How well preflight finds slow storage targets for real: 156 directories of a file system that writes at each at a rate of
its own, 6 on each of 26 servers, 12 of them at half speed; and the same with none slow. Each write's rate has 15 % of noise,
beside that of the machine's processors; the files lie in memory, where no disk's syncs wait for one another. Also 64 ranks of
MPI as nodes.

    bench/preflight/preflight.py [RUNS]       (20)

FOREBAY_BINARY_DIR says which build; a line of CSV a run on standard output, and the load of the machine with each.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(os.environ.get("FOREBAY_BINARY_DIR", "build")).resolve()
FOREBAY = BUILD / "bin/forebay"
TARGETS, SERVERS, SLOW = 156, 26, 12
RATE = 1_000_000  # of a target: 26 of them at once are 26 MB/s, which a busy machine serves too
QUIET = '[metadata]\nseverity = "off"\n[node-speed]\nseverity = "off"\n[profile]\nseverity = "off"\n[limits]\nseverity = "off"\n'


def probe(place, slow):
    directory, mount = place / "directory", place / "mount"
    for made in (mount, *(directory / f"target-{i}" for i in range(TARGETS))):
        made.mkdir(parents=True)
    command = [BUILD / "tests/striped_fs", directory, mount, 1 << 20, TARGETS, RATE, "noise=0.15", *(f"{i}=0.5" for i in slow)]
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        if process.stdout.readline() != "mounted\n":
            sys.exit("no FUSE file system can be mounted here")
        names = [f"{mount}/target-{i}" for i in range(TARGETS)]
        (place / "targets").write_text("\n".join(names))
        (place / "servers").write_text("".join(f"oss{s} {' '.join(names[s::SERVERS])}\n" for s in range(SERVERS)))
        (place / "site.toml").write_text(QUIET)
        start = time.monotonic()
        subprocess.run([FOREBAY, "preflight", "--targets", f"@{place}/targets", "--servers", place / "servers", "--site",
                        place / "site.toml", "--probes-a-node", str(SERVERS), "--probe-bytes", "64K", "--out", place],
                       stdout=subprocess.DEVNULL, check=False)
        seconds = time.monotonic() - start
        advice = json.loads((place / "preflight.json").read_text())
        named = {int(name.rsplit("-", 1)[1]) for name in advice["excluded_targets"]}
        probes = next(one["samples"] for one in advice["measures"] if one["name"] == "target_rate_bytes_per_second")
        return named, probes / TARGETS, seconds
    finally:
        subprocess.run(["umount", "--lazy", mount], check=False)
        process.kill()
        process.wait()


def ranks(place, count):
    start = time.monotonic()
    subprocess.run(["mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", str(count), FOREBAY, "preflight", "--target", place,
                    "--out", place, "--probe-bytes", "1M"], stdout=subprocess.DEVNULL, check=False)
    advice = json.loads((place / "preflight.json").read_text())
    inside = next(one["value"] for one in advice["measures"] if one["name"] == "preflight_seconds")
    return inside, time.monotonic() - start


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    chance = random.Random(1)
    print("case,slow,found,wrong,probes_each,seconds,load")
    for run in range(2 * runs):
        slow = set(chance.sample(range(TARGETS), SLOW)) if run % 2 == 0 else set()
        with tempfile.TemporaryDirectory(prefix="forebay-preflight-", dir="/dev/shm") as scratch:
            named, probes, seconds = probe(pathlib.Path(scratch), slow)
        print(f"targets,{len(slow)},{len(named & slow)},{len(named - slow)},{probes:.2f},{seconds:.1f},{os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory(prefix="forebay-preflight-") as scratch:
        inside, seconds = ranks(pathlib.Path(scratch), 64)
    print(f"64 ranks,0,0,0,,{inside:.1f} of {seconds:.1f},{os.getloadavg()[0]:.1f}", flush=True)


main()
