"""Goal: a killed node's large-eddy run goes on from its staged copy, on any ranks, with every bit of all 280 variables.

Method: 4 ranks (2 x 2) compute until a save is staged, but not committed, because the agent may write only slowly. Then
all ranks and the agent get SIGKILL. 3 x 1 ranks restart from the staged copy, 2 x 4 and 2 x 2 from the target.
Fingerprints do not depend on the ranks and must equal those of the save. Energies must equal those of an undisturbed
run. On the same number of ranks the fields at the end must be equal, bit for bit: the list misses no part of the state.
Then a chain of jobs: the first gets `forebay stop`, the second reaches its time limit.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from simulation import BIN, SMALL, Les, agent_of, claim, descendants, is_alive, wait_until

FIRST_SAVE, MORE_STEPS = 6, 4  # the second step of a window of 4: its means are no copies
MIX = ("192", "57", "21", "9", "1")
PROGNOSTIC = {"u", "v", "w", "theta", "q"}
ROUNDING = 1e-9


def committed(run):
    done = subprocess.run([BIN / "forebay", "ls", run, "--json"], capture_output=True, text=True, check=True)
    return [entry["step"] for entry in json.loads(done.stdout) if entry["state"] == "committed"]


def killed(folder, saving):
    """Kills a run with a staged step. Returns the step and the run."""
    slow = folder / "slow.toml"
    slow.write_text("[agent]\nrate_bytes_per_second = 20000\n")
    les = Les(folder, 2, 2, **saving, config=str(slow), save_every=FIRST_SAVE, end_step=1000000)
    staged = wait_until(lambda: les.found("saved step") or les.process.poll() is not None, 200)
    ranks, agent = descendants(les.process.pid, "les"), agent_of(saving["staging"])
    assert staged and len(ranks) == 4 and agent, f"ranks {ranks}, agent {agent}:\n" + "\n".join(les.lines)
    print(f"4 ranks are computing step {max(les.steps()) + 1}", flush=True)
    for process in [*ranks, agent]:
        os.kill(process, signal.SIGKILL)
    claim(wait_until(lambda: not any(map(is_alive, [*ranks, agent])), 20), "ranks and agent got SIGKILL")
    claim(les.process.wait(600) != 0, "mpiexec calls the job failed")
    les.reader.join(10)
    (mix,) = set(les.found(r"save step \d+: (\d+) scalars, (\d+) 1-D, (\d+) 2-D, (\d+) 3-D, (\d+) 4-D$"))
    claim(mix == MIX, "saved: 192 scalars, 57 1-D, 21 2-D, 9 3-D and 1 4-D variables")
    step = int(les.found(r"saved step (\d+)$")[-1][0])
    claim(not committed(saving["run"]), f"step {step} was staged, but nothing committed")
    return step, les


def same_bits(first, what, second, step, besides=()):
    mine, other = first.hashes(what[0], step), second.hashes(what[1], step)
    equal = {name for name in mine if mine[name] == other.get(name)}
    whole = len(mine) == 13 == len({*mine.values()}) and mine.keys() == other.keys()
    claim(whole and mine.keys() - equal == {*besides},
          f"step {step}, {what[0]} and {what[1]}: equal bits of {', '.join(sorted(equal))}")
    assert PROGNOSTIC <= equal


def restarted(folder, saving, step, end, px, py, **more):
    les = Les(folder, px, py, **saving, **more, end_step=end).finish()
    (said,) = les.found(r"restart: (.*)")
    claim(said[0] == f"continued at step {step}, saved by 2 x 2 ranks, on {px} x {py}", f"restart: {said[0]}")
    claim([*les.steps()] == [*range(step + 1, end + 1)], f"it computed steps {step + 1} to {end}, none twice")
    return les


def stopped(folder, saving):
    """`forebay stop` ends the run. The next job goes on from there until its own time limit ends it."""
    saving["run"] = str(folder / "chain")
    first = Les(folder, 2, 1, **saving, save_every=1000000, end_step=1000000)
    claim(wait_until(lambda: first.found("step 2 ") or first.process.poll() is not None, 60), "a job of a chain computes")
    subprocess.run([BIN / "forebay", "stop", saving["run"]], check=True, stdout=subprocess.DEVNULL)
    (said,) = first.finish().found("job: save and end: (.*)")
    step = max(first.steps())
    claim(said == ("forebay stop",) and committed(saving["run"]) == [step], f"forebay stop: it saved step {step} and ended")
    mark = folder / "chain/.continue"
    assert not mark.exists()
    short = folder / "short.toml"
    short.write_text("[job]\nwall_time_seconds = 3600\nreserve_seconds = 3700\n")
    second = Les(folder, 3, 1, **saving, config=str(short), end_step=1000000).finish()
    claim([*second.steps()] == [step + 1] and second.found("job: save and end: the job ends in") and mark.exists(),
          "a job whose time is over saves its first step, ends, and asks for the next job")


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-les-") as name:
        folder = Path(name).resolve()
        (folder / "memory").mkdir()
        saving = SMALL | {"run": str(folder / "run"), "staging": str(folder / "memory"), "window_steps": 4}
        step, first = killed(folder, saving)
        end = step + MORE_STEPS
        staged = restarted(folder, saving, step, end, 3, 1)
        claim(committed(saving["run"]) == [step], "the next session drained what was staged, and committed it")
        target = restarted(folder, saving, step, end, 2, 4)
        last = restarted(folder, saving, step, end, 2, 2, save_every=end)
        for les in staged, target, last:
            same_bits(first, ("save", "read"), les, step)
        saving["run"] = str(folder / "undisturbed")
        undisturbed = Les(folder, 2, 2, **saving, end_step=end, save_every=end).finish()
        for les in staged, target, last:
            apart = max(abs(les.steps()[n]["energy"] / undisturbed.steps()[n]["energy"] - 1) for n in les.steps())
            claim(apart < ROUNDING, f"energies up to step {end} are those of the undisturbed run, within {apart:.1e}")
        # Some scalars count restarts, saves and seconds.
        same_bits(undisturbed, ("save", "save"), last, end, besides=["scalars"])
        stopped(folder, saving)
        verified = subprocess.run([BIN / "forebay", "verify", folder / "run"], check=False)
        claim(verified.returncode == 0, "forebay verify agrees")


if __name__ == "__main__":
    sys.exit(main())
