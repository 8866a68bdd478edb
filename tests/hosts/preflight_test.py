"""Goal: `forebay preflight` reports every fault before a run, and no more, within its deadlines: slow storage targets
and their server, a hanging mount, a wrong clock, memory that somebody left, a rank that never answers. Nodes are
checked over MPI and over ssh alike.

Method: striped_fs has a write rate for each target, and hangs. A program in place of ssh runs commands on this machine
in the role of a host. skewed_clock shifts the time of one host; silent_rank stops one rank from receiving messages.
"""

import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time

from forebay_test import BUILD, FOREBAY, expect, run

STRIPED_FS = BUILD / "tests/striped_fs"
RATE = 400_000  # of a target: a probe takes 0.7 s, longer than a busy machine needs to begin its calls
IN_TIME = 250  # seconds: far more than any deadline here on a busy machine, but less than a hang
SKEWED, SILENT = BUILD / "tests/libskewed_clock.so", BUILD / "tests/libsilent_rank.so"
PROBE = ["--probe-bytes", "256K"]
# Other tests have dead mounts and use memory at the same time, and the memory of some machines is bad. A busy machine
# answers late. So each test sets the deadline that it waits for.
SITE = {
    "memory": 'severity = "note"',
    "metadata": 'severity = "off"',
    "node-speed": 'severity = "off"',
    "profile": 'severity = "off"',
    "limits": 'severity = "note"',
    "staging": 'severity = "note"',
    "mounts": 'severity = "off"',
    **dict.fromkeys(("answer", "targets", "target-speed", "mpi", "clock", "budget"), "deadline_seconds = 300"),
}
# HOST PROGRAM ARGUMENTS: on a slow host, on a missing host, on a host with another clock.
SSH = f"""#!/bin/sh
host=$1; shift
case $host in
  gone) printf "ssh: connect to host gone port 22: No route to host\\r\\n" >&2; exit 255;;
  silent) exec sleep 600;;
  skewed) export LD_PRELOAD={SKEWED} SKEWED_CLOCK_SECONDS=2;;
esac
exec unshare --uts sh -c 'hostname "$0" && exec "$@"' "$host" "$@"
"""


def make_place(place, **checks):
    """Makes a directory with a site file. The keyword sets the text of its check; "_" stands for "-" in the name."""
    place.mkdir()
    lines = SITE | {name.replace("_", "-"): line for name, line in checks.items()}
    (place / "site.toml").write_text("".join(f"[{check}]\n{line}\n" for check, line in lines.items()))


def preflight(place, *arguments, code, **options):
    """The report, and the seconds it took."""
    start = time.monotonic()
    run(*options.pop("before", ()), FOREBAY, "preflight", "--site", place / "site.toml", "--out", place, "--json", *arguments,
        code=code, **options)
    return json.loads((place / "preflight.json").read_text()), time.monotonic() - start


def findings(advice, check):
    return [one for one in advice["findings"] if one["check"] == check and one["severity"] != "note"]


class Patience:
    """Deadlines that only a hang misses: a busy machine makes everything slower."""

    def __init__(self):
        self.preflight_seconds = 0.0  # of a run in which nothing hangs while several programs work

    def deadline(self, least):
        return max(least, round(4 * self.preflight_seconds))


patience = Patience()


def waited(text):
    """The seconds without an answer in a finding; 0 if the finding reports something else."""
    found = re.search(r"did not answer for ([0-9.]+) (s|min)", text)
    return float(found[1]) * (60 if found[2] == "min" else 1) if found else 0


def mounted(place, targets, rate, *ratios):
    directory, mount = place / "directory", place / "mount"
    for made in (directory / "hanging", mount, *(directory / f"target-{i}" for i in range(targets))):
        made.mkdir(parents=True)
    command = [STRIPED_FS, directory, mount, 1 << 20, targets, rate, *ratios]
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if process.stdout.readline() != "mounted\n":
        print("skipped: no FUSE file system can be mounted here")
        sys.exit(77)
    return process, mount


def unmount(process, mount):
    run("umount", "--lazy", mount, code=None)
    process.kill()
    process.wait()


def slow_targets(place):
    """Two of 24 targets run at half of the rate. Both belong to one server."""
    make_place(place)
    process, mount = mounted(place, 24, RATE, "6=0.5", "7=0.5")
    try:
        (place / "targets").write_text("".join(f"{mount}/target-{i}\n" for i in range(24)))
        (place / "servers").write_text(
            "".join(f"oss{s} {mount}/target-{2 * s} {mount}/target-{2 * s + 1}\n" for s in range(12)))
        advice, seconds = preflight(place, "--targets", f"@{place}/targets", "--servers", place / "servers",
                                    "--probes-a-node", 12, *PROBE, code=1)
        named = findings(advice, "target-speed")
        expect([one["subject"] for one in named] == ["oss3"], "the server is named, and nothing else", named)
        expect(0.4 < named[0]["ratio"] < 0.62, "its ratio is about a half", named)
        slow = [f"{mount}/target-6", f"{mount}/target-7"]
        expect(advice["excluded_targets"] == slow, "both targets are excluded", advice["excluded_targets"])
        expect((place / "exclude.targets").read_text().split() == slow, "and stand in exclude.targets")
        expect([name for i in range(24) for name in os.listdir(mount / f"target-{i}")] == [], "nothing is left there")
        print(f"2 of 24 slow targets: {seconds:.1f} s", flush=True)
    finally:
        unmount(process, mount)


# df DIR; setstripe -c 1 -i OST DIR; quota -q -u USER DIR
LFS = """#!/bin/sh
mount={mount}
case $1 in
  df) echo "UUID                   1K-blocks        Used   Available Use% Mounted on"
      for i in 0 1 2 3 4 5 6 7; do echo "x-OST000${{i}}_UUID 529449792 1268 524063432 1% $mount[OST:$i]"; done
      echo "x-OST0008_UUID 529449792 490000000 39449792 93% $mount[OST:8] D"
      echo "x-OST0009_UUID : inactive device";;
  setstripe) rmdir "$6" && ln -s "$mount/target-$5" "$6";;
  quota) echo "$mount 900 0 1000 - 7 0 0 -";;
esac
"""


def osts_of_lustre(place):
    """lfs lists the OSTs. Each is probed through a directory. A line for lfs setstripe leaves out the slow ones. The
    quota is too small."""
    make_place(place)
    process, mount = mounted(place, 9, RATE, "3=0.4")
    try:
        (place / "lfs").write_text(LFS.format(mount=mount))
        (place / "lfs").chmod(stat.S_IRWXU)
        advice, _ = preflight(place, "--target", mount, "--probes-a-node", 9, "--planned-bytes", "1M", *PROBE, code=1,
                              env=os.environ | {"PATH": f"{place}:{os.environ['PATH']}"})
        expect(advice["excluded_targets"] == ["x-OST0003", "x-OST0009"], "the slow and the inactive one are excluded", advice)
        expect(f"lfs setstripe -o 0-2,4-8 -c 8 -S 64M {mount}" in advice["lines"], "a line to paste", advice["lines"])
        expect(any(line.startswith('exclude_targets = "@') for line in advice["lines"]), "and one for the library", advice["lines"])
        state = {one["subject"]: one["text"] for one in findings(advice, "targets")}
        expect(state["x-OST0009"] == "inactive" and "x-OST0008" in state, "what lfs df says", state)
        quota = findings(advice, "budget")
        expect(len(quota) == 1 and "quota" in quota[0]["text"] and quota[0]["severity"] == "fail", "the quota", quota)
        expect(sorted(os.listdir(mount)) == sorted(["hanging", *(f"target-{i}" for i in range(9))]), "nothing is left")
    finally:
        unmount(process, mount)


def hanging_mount(place):
    """A silent target is reported after its 5 s, and nothing waits for it."""
    make_place(place, mounts="deadline_seconds = 1")
    process, mount = mounted(place, 1, 1e9)
    try:
        advice, seconds = preflight(place, "--target", f"{mount}/hanging", "--probe-bytes", 0, code=1)
        told = [one["text"] for one in findings(advice, "mounts")]
        expect(f"{mount}/hanging did not answer for 1.00 s" in told, "the mount is told", advice["findings"])
        expect(seconds < IN_TIME, "in time", seconds)
        print(f"a hanging mount: {seconds:.1f} s", flush=True)
    finally:
        unmount(process, mount)


def hanging_target(place):
    """One target of a node hangs: the rest are probed meanwhile, the report comes within its deadline, and the program
    ends."""
    make_place(place, target_speed=f"deadline_seconds = {patience.deadline(4)}")
    process, mount = mounted(place, 1, 1e9)
    try:
        targets = [f"{mount}/hanging", *(f"{place}/good-{i}" for i in range(3))]
        for good in targets[1:]:
            os.mkdir(good)
        advice, seconds = preflight(place, *(word for target in targets for word in ("--targets", target)), "--probes-a-node", 1,
                                    *PROBE, code=1)
        told = [one for one in findings(advice, "target-speed") if "did not answer for" in one["text"]]
        expect([one["subject"] for one in told] == targets[:1], "it is told, and no other", told)
        expect(targets[0] in advice["excluded_targets"], "it is excluded", advice["excluded_targets"])
        rate = next(one for one in advice["measures"] if one["name"] == "storage_target_rate_bytes_per_second")
        expect(rate["samples"] >= 9, "the others are probed", rate)
        expect(seconds < IN_TIME, "in time", seconds)
        print(f"a hanging target: {seconds:.1f} s", flush=True)
    finally:
        unmount(process, mount)


def hosts_over_ssh(place):
    """Five hosts in waves of two: one is silent, one is missing, one has a clock 2 s ahead."""
    make_place(place, answer=f"deadline_seconds = {patience.deadline(4)}")
    ssh = place / "ssh"
    ssh.write_text(SSH)
    ssh.chmod(stat.S_IRWXU)
    advice, seconds = preflight(place, "--hosts", "n[1-3],skewed,gone,silent", "--ssh", ssh, "--ssh-at-once", 6, *PROBE, code=1)
    silent = {one["subject"]: one["text"] for one in findings(advice, "answer")}
    expect(sorted(silent) == ["gone", "silent"], "both are told", advice["findings"])
    expect(silent["gone"].endswith("No route to host"), "with what ssh says", silent)
    clocks = findings(advice, "clock")
    expect([one["subject"] for one in clocks] == ["skewed"], "so is the clock", advice["findings"])
    expect("ahead of the median" in clocks[0]["text"] and clocks[0]["severity"] == "fail", "with its way", clocks)
    expect(advice["excluded_nodes"] == ["gone", "silent", "skewed"], "all three are excluded", advice["excluded_nodes"])
    expect((place / "nodes.good").read_text().split() == ["n1", "n2", "n3"], "the others are a host file")
    expect("#SBATCH --exclude=gone,silent,skewed" in advice["lines"], "a line for Slurm", advice["lines"])
    expect(any(line.startswith('exclude_nodes = "@') for line in advice["lines"]), "and one for the library", advice["lines"])
    expect(seconds < IN_TIME, "in time", seconds)
    print(f"6 hosts over ssh: {seconds:.1f} s", flush=True)


def all_bad(place):
    """If every node and every target fails, the lists are empty and give the reason: a script would leave out
    everything."""
    make_place(place, memory="")
    advice, _ = preflight(place, "--application-bytes", "100T", "--targets", place / "none", *PROBE, code=1)
    for kind, what in (("nodes", "node"), ("targets", "storage target")):
        expect(advice[f"excluded_{kind}"] == [], "none is excluded", advice)
        written = (place / f"exclude.{kind}").read_text()
        expect(written.startswith(f"# every {what} fails") and written.count("\n") == 1, "the file says why", written)
        expect(any(f"every {what} fails" in one["text"] for one in findings(advice, "exclude")), "so does a finding", advice)


def left_in_memory(place):
    """Memory that another user left is reported to 1 %, beside any files of more users."""
    if os.geteuid() != 0:
        return
    make_place(place, staging="warn = 0.0001")
    many, shared, left = place / "many", place / "memory", 300_000_000
    many.mkdir()
    shared.mkdir()
    # Private mounts, also of /dev/shm: other programs use it at the same time, and only few findings of a kind are
    # listed.
    script = """set -e
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs "$1"
mkdir "$1/tree"
(cd "$1/tree" && seq 50001 | xargs touch)
mount -t tmpfs tmpfs "$2"
head -c "$3" /dev/zero > "$2/checkpoint.NVRAM"
chown 31337 "$2/checkpoint.NVRAM"
touch -d "3 hours ago" "$2/checkpoint.NVRAM"
shift 3
exec "$@"
"""
    advice, _ = preflight(place, "--staging", shared, *PROBE, code=0,
                          before=("unshare", "--mount", "sh", "-c", script, "sh", many, shared, left))
    told = [one["text"] for one in findings(advice, "staging") if f" in {shared} " in one["text"]]
    expect(told == [f"300 MB in {shared} left by uid31337 (checkpoint.NVRAM, 3 h old)"], "it is named", advice["findings"])


def silent_rank(place):
    """A silent rank is reported within its deadline; then the launcher ends."""
    deadline = patience.deadline(3)
    make_place(place, answer=f"deadline_seconds = {deadline}")
    script = 'if [ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 2 ]; then export LD_PRELOAD="$0"; fi; exec "$@"'
    # The mpiexec of Open MPI 4.1 sometimes dies at an abort and sometimes hangs after all ranks have ended: its exit
    # code is not checked.
    enough = 30 + 6 * deadline
    advice, seconds = preflight(place, "--probe-bytes", "64K", code=None, before=(
        "timeout", "--signal=KILL", enough, "mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", 4, "sh", "-c", script, SILENT))
    expect(run("pgrep", "--full", place / "site.toml", code=None).returncode == 1, "no rank is left", seconds)
    told = findings(advice, "answer")
    expect([one["subject"] for one in told] == ["rank 2"], "the rank is told", advice["findings"])
    expect(deadline <= waited(told[0]["text"]) <= seconds < IN_TIME, "and how long it was waited for", (told, seconds))
    print(f"a rank that never answers: {seconds:.1f} s", flush=True)


def rank_without_a_start(place):
    """A rank that hangs before MPI_Init() ends the preflight after --seconds."""
    make_place(place)
    script = 'if [ "$OMPI_COMM_WORLD_RANK$PMI_RANK" = 1 ]; then exec sleep 300; fi; exec "$@"'
    began = time.monotonic()
    done = run("timeout", "--signal=KILL", 200, "mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", 3, "sh", "-c", script, "sh",
               FOREBAY, "preflight", "--seconds", 4, "--probe-bytes", "64K", code=None)
    expect("MPI_Init() did not return within 4 s" in done.stderr, "the rank that hangs is reported", done.stderr)
    expect(done.returncode != 0 and 4 <= time.monotonic() - began < IN_TIME, "in time", done.returncode)


def ranks(place, count):
    """The given number of nodes over MPI, all good."""
    make_place(place)
    advice, seconds = preflight(
        place, "--target", place, "--probe-bytes", "64K", code=0,
        before=("mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", count))
    expect(len([one for one in advice["findings"] if one["severity"] != "note"]) == 0, "nothing is bad", advice["findings"])
    low = [one for one in advice["findings"] if one["check"] == "memory"]
    expect(len(low) == len({"".join(c for c in one["text"] if not c.isdigit()) for one in low}), "each is told once", low)
    names = {one["name"]: one["value"] for one in advice["measures"]}
    expect(names["nodes"] == 1 and names["measured_nodes"] == 1, "all ranks are on this one machine", names)
    expect(names["ring_rate_bytes_per_second"] > 0, "all have met", names)
    patience.preflight_seconds = names["preflight_seconds"]
    print(f"{count} ranks: {seconds:.1f} s, of which preflight {patience.preflight_seconds:.1f} s", flush=True)


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-preflight-") as scratch:
        place = pathlib.Path(scratch)
        if (BUILD / "bin/forebay-mpi").exists() and shutil.which("mpiexec"):
            ranks(place / "ranks", 5)
            silent_rank(place / "silent")
            rank_without_a_start(place / "start")
        all_bad(place / "all")
        left_in_memory(place / "memory")
        if os.geteuid() == 0:
            hosts_over_ssh(place / "ssh")
        if STRIPED_FS.exists():
            slow_targets(place / "targets")
            osts_of_lustre(place / "lustre")
            hanging_mount(place / "hang")
            hanging_target(place / "stuck")


main()
