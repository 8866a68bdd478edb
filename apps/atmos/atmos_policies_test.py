"""Goal: if storage is slower than the steps, each policy acts as its name says, prints every step, and counts it. A
step larger than the staging is refused when it is prepared, with both sizes. Nothing hangs.

Method: an agent of 0.7 MB/s and steps of 0.27 MB every 0.05 s: a drain outlasts some steps on a busy machine, too. The
printed lines, the counters and the steps at the target must agree. The last case stages in a tmpfs of 1 MiB, in a mount
namespace.
"""

import re
import subprocess
import sys
import tempfile

import runs

SLOW, STEPS = 700_000, 8
STEP_BYTES = 4 * 4 * runs.GRID[0] * runs.GRID[1] * runs.GRID[2]
POLICIES = {
    "wait": 'policy = "wait"',
    "wait_at_most": 'policy = "wait_at_most"\nwait_max_seconds = 0.1',
    "skip": 'policy = "skip"',
    "newest_only": 'policy = "newest_only"',
}


def follow(out):
    """Returns the steps that must be at the target, from the printed lines."""
    kept = []
    for step, what in sorted(runs.told(out).items()):
        if what.startswith("kept instead of step "):
            kept.remove(int(what.rpartition(" ")[2]))
        if what != "skipped":
            kept.append(step)
    return kept


def policy(folder, mode, name):
    """Runs eight steps under one policy. Returns the totals."""
    place = runs.Place(folder, f"{mode}-{name}", mode, SLOW, POLICIES[name])
    out, _ = place.simulate(2, "--iterations", STEPS, "--compute", 0.05)
    counted, lines = runs.totals(out), runs.told(out)
    kept = follow(out)
    runs.check(len(lines) == STEPS and place.committed() == kept,
               f"{name}: told {kept}, at the target {place.committed()}\n{out}")
    skipped = sum(what == "skipped" for what in lines.values())
    replaced = sum(what.startswith("kept instead") for what in lines.values())
    runs.check((counted["skipped"], counted["replaced"], counted["failed"]) == (skipped, replaced, 0),
               f"{name}: counted {counted}\n{out}")
    runs.check(counted["kept"] == STEPS - skipped and counted["durable"] == kept[-1], f"{name}: counted {counted}\n{out}")
    return counted


def policies(folder):
    """Checks the differences between the policies."""
    drain_seconds = STEP_BYTES / SLOW
    for mode in ("process", "dedicated"):
        found = {name: policy(folder, mode, name) for name in POLICIES}
        runs.check(found["wait"]["skipped"] == 0 and found["wait"]["blocked"] > (STEPS - 4) * drain_seconds / 2,
                   f"wait: {found['wait']}")
        at_most = found["wait_at_most"]
        runs.check(0 < at_most["skipped"] < STEPS - 2 and at_most["blocked"] >= 0.1 * at_most["skipped"], f"{at_most}")
        runs.check(found["skip"]["skipped"] > 0 and found["skip"]["blocked"] < found["wait"]["blocked"] / 2, f"{found}")
        newest = found["newest_only"]
        # One of the two slots drains nearly always; then the waiting slot stays.
        runs.check(newest["skipped"] > 0, f"newest_only: {newest}")
        runs.check(newest["blocked"] < found["wait"]["blocked"] / 2, f"newest_only: {newest}")
        print(f"{mode}: " + "; ".join(f"{name}: {one['kept']} kept, {one['skipped']} skipped, {one['replaced']} replaced"
                                      for name, one in found.items()), flush=True)


def too_large():
    """Runs in a mount namespace: 1 MiB of staging, steps of 4 MiB."""
    with tempfile.TemporaryDirectory(prefix="forebay-atmos-", dir="/dev/shm") as folder:
        for mode in ("process", "thread", "dedicated"):
            place = runs.Place(folder, mode, mode)
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", place.staging], check=True)
            try:
                out, errors = place.simulate(2, "--iterations", 2, "--grid", "16,128,128", codes=range(1, 256))
            finally:
                subprocess.run(["umount", place.staging], check=True)
            text = "".join(re.findall(r"^atmos: .*(?:\n  .*)*", errors, re.M)[:1])
            runs.check("step 1" not in out and text.startswith("atmos: full: "), f"{out}{errors}")
            sizes = re.search(r"\d MB .*more needed, .*free", text)
            runs.check(sizes and str(place.staging) in text and "Next: " in text, f"no sizes or no way out: {text}")
            print(f"{mode}: {text}", flush=True)


def main():
    if sys.argv[1:] == ["too-large"]:
        return too_large()
    with tempfile.TemporaryDirectory(prefix="forebay-atmos-", dir="/dev/shm") as folder:
        policies(folder)
    for words in (["unshare", "--mount"], ["unshare", "--map-root-user", "--mount"]):
        tried = subprocess.run([*words, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False)
        if tried.returncode == 0:
            return sys.exit(subprocess.run([*words, sys.executable, __file__, "too-large"], check=False).returncode)
    print("a step larger than the staging was not tried: this machine allows no mount namespace")
    return None


main()
