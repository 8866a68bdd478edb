"""Goal: LAMMPS, saved by melt.py, goes on after kills at any moment, on other ranks too. Its energies, positions and
velocities stay equal to an uninterrupted run, except for rounding.

Method: the program lmp computes the uninterrupted run, without Python and without Forebay. melt.py computes the same on
2 ranks, killed in mid-run; on 3 ranks, killed together with the agent, so the restart has only the staged copy; and on
1 rank to the end. Rounding: a restart builds neighbour lists anew and sums forces in another order. The 16th digit
changes, and the chaos of the melt lets the difference grow. The energies, sums over all atoms, change late. For 300
steps the limit is 1e-12 of the energies, ten times the measured value. A chaotic run allows no closer limit for long.

Usage: melt_test.py [--cells 10] [--steps 120] [--every 5] [--ranks 2,3,1]
"""

import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import needs

ENERGY_ERROR_MAX = 1e-12  # relative
ATOM_ERROR_MAX = 1e-9  # of a position or velocity, absolute; in units of the potential's length and its unit of time
LINE = re.compile(r"step (\d+) energies (\S+) (\S+) (\S+) (.*)")


def check(holds, text):
    """Ends the test if `holds` is false."""
    if not holds:
        sys.exit(f"melt_test.py: {text}")


def guide():
    """The guide must show the program's own text."""
    shown = (needs.HERE / "melt.py").read_text(encoding="utf-8").split("# [guide]\n")[1].strip()
    told = (needs.HERE.parents[1] / "docs/reference/python.md").read_text(encoding="utf-8")
    check(shown in told, "docs/reference/python.md does not show what stands between the marks [guide] in melt.py")


def uninterrupted(given, folder):
    """Runs LAMMPS alone. Returns the energies of its steps. Dumps id, unwrapped position, velocity of its atoms."""
    text = (needs.HERE / "melt.in").read_text(encoding="utf-8")
    columns = "id xu yu zu vx vy vz"
    text += f"write_dump all custom {folder}/alone.dump {columns} modify format float %.17g\n"
    (folder / "alone.in").write_text(text, encoding="utf-8")
    done = subprocess.run(["mpiexec", "-n", "2", "lmp", "-in", str(folder / "alone.in"), "-log", "none",
                           *f"-var cells {given.cells} -var steps {given.steps} -var every {given.every}".split()],
                          capture_output=True, text=True, check=False, env=needs.ENVIRONMENT, cwd=needs.HERE)
    check(done.returncode == 0, f"lmp ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    table = done.stdout.split("Step PotEng KinEng TotEng")[1].split("Loop time")[0]
    rows = [line.split() for line in table.strip().splitlines()]
    print(f"2 ranks of lmp alone, steps {rows[0][0]} to {rows[-1][0]}", flush=True)
    return {int(row[0]): [float(number) for number in row[1:]] for row in rows}


def session_of(process):
    """The processes of mpiexec's session: mpiexec and its ranks. The agent has a session of its own."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        if int(fields[3]) == process:
            found.append(int(stat.parent.name))
    return found


def agents(folder):
    """The agents of sessions staged in `folder`, from their logs."""
    logs = (log.read_text() for log in folder.glob("forebay-*/*/agent.log"))
    served = {int(number) for log in logs for number in re.findall(r"agent (\d+) serves", log)}
    return [agent for agent in served if pathlib.Path(f"/proc/{agent}/comm").exists()
            and pathlib.Path(f"/proc/{agent}/comm").read_text().strip() == "forebay"]


class Melt:
    """melt.py on some ranks, and the printed lines of its steps."""

    def __init__(self, ranks, given, folder):
        memory = folder / "mpi"  # killed ranks leave Open MPI's shared files behind
        memory.mkdir(exist_ok=True)
        command = needs.python(ranks, needs.HERE / "melt.py", "--run", folder / "run", "--staging", folder / "staging",
                               "--cells", given.cells, "--steps", given.steps, "--every", given.every)
        self.process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        env=needs.ENVIRONMENT | {"OMPI_MCA_btl_vader_backing_directory": str(memory)},
                                        start_new_session=True)
        self.ranks, self.told, self.lines = ranks, {}, []

    def until(self, step):
        """Reads until `step` is printed. Returns False if the program ends first."""
        for line in self.process.stdout:
            self.lines.append(line.rstrip())
            if found := LINE.match(line):
                self.told[int(found[1])] = [float(number) for number in found.group(2, 3, 4)]
                if int(found[1]) >= step:
                    return True
        return False

    def kill(self, others=()):
        """Kills all ranks at once, and `others` with them."""
        doomed = [*session_of(self.process.pid), *others]
        for process in doomed:
            os.kill(process, signal.SIGKILL)
        self.process.communicate()
        check(len(doomed) > self.ranks and self.process.returncode == -signal.SIGKILL,
              f"{self.ranks} ranks and mpiexec were to be killed, {doomed} were")


def compare(melt, expected):
    """Compares the printed energies. Returns the first and the last step."""
    check(melt.told, "melt.py told no energies:\n" + "\n".join(melt.lines))
    worst = 0
    for step, energies in melt.told.items():
        difference = max(abs(one - other) / abs(other) for one, other in zip(energies, expected[step]))
        check(difference <= ENERGY_ERROR_MAX, f"step {step} on {melt.ranks} ranks: energies {energies}, without a kill "
              f"{expected[step]}: {difference:.1e} apart")
        worst = max(worst, difference)
    first, last = min(melt.told), max(melt.told)
    source = next(line for line in melt.lines if LINE.match(line)).partition(" from ")[2]
    print(f"{melt.ranks} ranks, steps {first} to {last}, from {source}: energies within {worst:.1e}", flush=True)
    return first, last


def compare_atoms(given, folder):
    """Compares the last snapshot with LAMMPS' own dump: every atom, with the turns around the box from its image."""
    sys.path.insert(0, str(needs.BUILD / "python"))
    import numpy as np  # pylint: disable=import-outside-toplevel
    import forebay  # pylint: disable=import-outside-toplevel
    os.environ["PATH"] = f"{needs.BUILD / 'bin'}:{os.environ['PATH']}"
    atoms = forebay.open(folder / "run")["restart"].at(given.steps).particles("atoms")
    dump = np.loadtxt(folder / "alone.dump", skiprows=9)
    dump = dump[np.argsort(dump[:, 0])]
    order = np.argsort(atoms["id"])
    np.testing.assert_array_equal(atoms["id"][order], np.arange(1, 4 * given.cells**3 + 1))
    np.testing.assert_array_equal(dump[:, 0], atoms["id"][order])
    edge = given.cells * (4 / 0.8442) ** (1 / 3)
    turns = [(atoms["image"] >> shift & 1023) - 512 for shift in (0, 10, 20)]  # as LAMMPS packs them into 32 bits
    check(any(turn.any() for turn in turns), "no atom has left the box, so that images were not tested")
    got = [atoms[name] + turn * edge for name, turn in zip(("x", "y", "z"), turns)] + [atoms[f"v{name}"] for name in "xyz"]
    worst = max(np.abs(column[order] - dump[:, 1 + index]).max() for index, column in enumerate(got))
    check(worst <= ATOM_ERROR_MAX, f"positions or velocities differ by {worst:.1e}")
    print(f"{len(order)} atoms at step {given.steps}: positions and velocities within {worst:.1e}", flush=True)


def killed_and_continued(given, folder):
    """Kills at a third and at two thirds. A random pause before the kill stops the run between two saves, too."""
    expected = uninterrupted(given, folder)
    counts = [int(count) for count in given.ranks.split(",")]
    before = 0
    for index, ranks in enumerate(counts):
        melt, is_last = Melt(ranks, given, folder), index == len(counts) - 1
        if is_last:
            melt.until(given.steps + 1)
            check(melt.process.wait() == 0, "melt.py failed:\n" + "\n".join(melt.lines))
        else:
            check(melt.until(given.steps * (index + 1) // len(counts)), "melt.py ended early:\n" + "\n".join(melt.lines))
            time.sleep(random.random() * given.pause)
            melt.kill(agents(folder / "staging") if index else ())
        first, last = compare(melt, expected)
        # Printed steps were saved before.
        check(first == 0 if index == 0 else first >= before, f"restarted at {first}, but {before} was saved")
        before = last
    check(before == given.steps, f"the last step was {before}")
    compare_atoms(given, folder)


def looked_at(given, folder):
    """insitu.py must compute the same energies as LAMMPS. Steps are faster than the start of an interpreter: it misses
    some snapshots."""
    sys.path.insert(0, str(needs.BUILD / "python"))
    from forebay._forebay_insitu import ScriptRun  # pylint: disable=import-outside-toplevel
    from forebay.insitu import Snapshot  # pylint: disable=import-outside-toplevel
    run = folder / "looked"
    done = subprocess.run(needs.python(2, needs.HERE / "melt.py", "--run", run, "--staging", folder / "staging", "--cells",
                                       given.cells, "--steps", 10, "--every", 5, "--script", needs.HERE / "insitu.py"),
                          text=True, capture_output=True, check=False, env=needs.ENVIRONMENT)
    told = {int(one[0]): float(one[2]) for one in re.findall(r"step (\d+) energies (\S+) (\S+)", done.stdout)}
    ended = time.monotonic() + 300  # the agent ends after its session
    while agents(folder / "staging") and time.monotonic() < ended:
        time.sleep(0.05)
    made = sorted(run.glob("restart.look/step-*[0-9]"))
    check(made and set(told) >= {int(step.name[5:]) for step in made} and not agents(folder / "staging"),
          f"insitu.py has made {made}:\n{done.stdout}{done.stderr}")
    for directory in made:
        (node,) = ScriptRun(str(run)).drained(str(directory))
        found = Snapshot([node], ["*"], "")
        check(found["atoms"].array == 4 * given.cells**3 == found["speeds"].array.sum(), f"of {found['atoms'].array} atoms")
        difference = abs(float(found["ke"].array) / told[node.step] - 1)
        check(difference < 1e-12, f"step {node.step}: {found['ke'].array}, LAMMPS says {told[node.step]}")
    print(f"insitu.py: the kinetic energies of {len(made)} snapshots are those of LAMMPS", flush=True)


def main():
    """Small by default. The full size is --cells 40 --steps 300 --every 50 --ranks 2,3,2 --pause 5."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in [("cells", 10), ("steps", 120), ("every", 5), ("ranks", "2,3,1"), ("pause", 0.1)]:
        parser.add_argument(f"--{name}", type=type(default), default=default)
    given = parser.parse_args()
    guide()
    needs.look()
    with tempfile.TemporaryDirectory(prefix="forebay-lammps-") as folder:
        (pathlib.Path(folder) / "staging").mkdir()
        looked_at(given, pathlib.Path(folder))
        killed_and_continued(given, pathlib.Path(folder))


if __name__ == "__main__":
    main()
