"""Goal: if srun starts several copies of the program without MPI, no answer comes twice and no work is done twice.

Method: a shell with the name slurmstepd starts the program with Slurm's variables, as srun does. A verb that reads answers
in the first copy only. A verb of one node works in each copy. A verb of many nodes is refused and names --mpi=pmix. If a
script of a task starts the program, Slurm's variables change nothing.
"""

import os
import pathlib
import shutil
import tempfile

import forebay_test as test


def start(parent, index, *words, tasks=3):
    """One task of a step. The shell does not become the program, because a command follows."""
    environment = os.environ | {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_PROCID": str(index), "SLURM_STEP_NUM_TASKS": str(tasks)}
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"):
        environment.pop(name, None)
    line = " ".join(f"'{word}'" for word in (test.FOREBAY, *words))
    return test.run(parent, "-c", f"{line}; exit $?", code=None, env=environment)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        srun, script = folder / "slurmstepd", folder / "script"
        for shell in (srun, script):
            shutil.copy(pathlib.Path("/bin/sh").resolve(), shell)
        missing = folder / "no-run"
        first, second = start(srun, 0, "ls", missing), start(srun, 1, "ls", missing)
        test.expect(first.returncode == 3 and str(missing) in first.stderr, "the first copy answers", first)
        test.expect(second.returncode == 0 and not second.stdout + second.stderr, "the second copy is silent", second)
        test.expect(start(srun, 0, "ls", missing, tasks=1).returncode == 3, "a single copy answers")
        test.expect(start(script, 1, "ls", missing).returncode == 3, "a script of the second task gets its answer")
        for index in (0, 2):
            for words in (("preflight",), ("copy", folder / "a", folder / "b"), ("walk", folder), ("tune", "--run", missing)):
                refused = start(srun, index, *words)
                test.expect(refused.returncode == 2 and "srun --mpi=pmix" in refused.stderr and "3 copies" in refused.stderr,
                            f"{words} in copy {index}", refused)
            drained = start(srun, index, "drain", "all", "--staging", folder)
            test.expect(drained.returncode == 0 and drained.stdout + drained.stderr, f"drain works in copy {index}", drained)
    print("copies of srun: the first one answers, each one drains, and none works alone in place of MPI")


main()
