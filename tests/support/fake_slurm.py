"""Stand-ins for the commands of Slurm, for tests of `forebay job`.

`commands(folder)` writes srun, squeue, scontrol and sbatch into a folder for PATH. srun does what slurmstepd does with
proctrack/cgroup: when the step's task ends, it kills every process that the task left behind. It is the reaper of orphans
among its descendants, so it finds agents too. The other commands answer from files of the folder:

  srun.log      a line of arguments for each step
  keeper.pid    the process of the last keeper
  no_keepers    if it exists, srun refuses the steps of keepers
  left          seconds that squeue shows as the time left
  sbatch.log    a line of JSON with the arguments and FOREBAY_RESTART for each submission
  job.txt       what `scontrol show job` prints
"""

import json
import os
import pathlib
import signal
import sys

COMMAND = """#!{python}
import sys
sys.path.insert(0, {support!r})
import fake_slurm
fake_slurm.{name}(fake_slurm.pathlib.Path({folder!r}), sys.argv[1:])
"""
SUBREAPER = 36


def commands(folder):
    for name in ("srun", "squeue", "scontrol", "sbatch"):
        path = folder / name
        path.write_text(COMMAND.format(python=sys.executable, name=name, folder=str(folder),
                                       support=os.path.dirname(os.path.abspath(__file__))))
        path.chmod(0o755)
    return {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "PBS_", "FOREBAY_KEEPER"))} | {
        "PATH": f"{folder}:{os.environ['PATH']}", "SLURM_JOB_ID": "77", "SLURM_JOB_NUM_NODES": "1"}


def children_of(process):
    found = []
    for task in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += [int(child) for child in task.read_text().split()]
        except OSError:
            pass
    return found


def kill_all_below(process):
    """Kills all descendants. New orphans become children of this process, so it looks until there are none."""
    while True:
        children = children_of(process)
        if not children:
            return
        for child in children:
            below = children_of(child)
            try:
                os.kill(child, 9)
                os.waitpid(child, 0)
            except OSError:
                pass
            for grandchild in below:
                try:
                    os.kill(grandchild, 9)
                except OSError:
                    pass


def srun(folder, arguments):
    import ctypes
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    with (folder / "srun.log").open("a") as log:
        log.write(" ".join(arguments) + "\n")
    while arguments and arguments[0].startswith("-"):
        arguments = arguments[1:]
    is_keeper = "--keeper" in arguments
    if is_keeper and (folder / "no_keepers").exists():
        sys.exit("srun: error: Unable to create step for job 77: Requested node configuration is not available")
    environment = os.environ | {"SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"}
    process = os.posix_spawnp(arguments[0], arguments, environment)
    signal.signal(signal.SIGTERM, lambda number, _: os.kill(process, number))
    if is_keeper:
        (folder / "keeper.pid").write_text(str(process))
    _, status = os.waitpid(process, 0)
    kill_all_below(os.getpid())
    code = os.waitstatus_to_exitcode(status)
    sys.exit(code if code >= 0 else 128 - code)


def squeue(folder, _arguments):
    left = folder / "left"
    if not left.exists():
        sys.exit("slurm_load_jobs error: Invalid job id specified")
    seconds = int(left.read_text())
    print(f"{os.environ['SLURM_JOB_ID']} {seconds // 60}:{seconds % 60:02} 2030-01-01T00:00:00")


def scontrol(folder, arguments):
    if arguments[:2] == ["show", "config"]:
        print("KillOnBadExit           = 0\nKillWait                = 6 sec\n")
    elif arguments[:2] == ["show", "job"]:
        print((folder / "job.txt").read_text())
    else:
        sys.exit(f"scontrol: {arguments}")


def sbatch(folder, arguments):
    log = folder / "sbatch.log"
    number = 78 + (len(log.read_text().splitlines()) if log.exists() else 0)
    with log.open("a") as lines:
        lines.write(json.dumps({"arguments": arguments, "restart": os.environ.get("FOREBAY_RESTART")}) + "\n")
    print(f"Submitted batch job {number}")
