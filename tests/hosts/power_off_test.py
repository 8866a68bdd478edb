"""Goal: a host that loses its power during a drain costs the step that was being saved, and nothing else.

Method: 3 hosts of 2 ranks save two steps. The second drains so slowly that the last host is powered off meanwhile. The
job restarts on the remaining two hosts from their staged copies; the data of the lost host come from the target. To
prove that the staged copies are used, one of them is damaged at the target. At the end all remains are cleaned.
"""

import re
import sys
from pathlib import Path

import machine
from machine import expect, forebay, run, snapshots, wait_until

HOSTS = "host0:2,host1:2,host2:2"
UNIVERSE = ["--mesh", 32, "--particles", 32, "--steps", 64]
SAVED, CUT = 2, 4  # the committed step, and the step whose drain is cut


def nbody(hosts, place, name, *options):
    return machine.Job([*hosts.command, "mpiexec", "--host", options[0], machine.NBODY, *UNIVERSE, *options[1:]],
                       place / f"{name}.log")


def finished(job, what):
    expect(job.finish() == 0, what, job.output())


def agents_on(hosts, host):
    return run(*hosts.command, "run", host, "pgrep", "-x", "forebay").stdout.split()


def cut_off(hosts, place, saving):
    """Powers host2 off while step CUT drains, then lets the agents of the remaining hosts finish."""
    stream = place / "run/restart"
    job = nbody(hosts, place, "cut", HOSTS, *saving, "--stop-after", CUT)
    wait_until(lambda: snapshots(place / "run", "committed") == {SAVED}, f"step {SAVED} is committed")
    part = wait_until(lambda: next(stream.glob(f".step-{CUT:06}.*.part"), None), f"step {CUT} is being drained")
    hosts("off", "host2")
    expect(not (part / "node-00002.h5").exists(), "the power went before the node file of host2 was at the target")
    # mpiexec ends at once, or waits for lost daemons; a batch system would not wait.
    run(*hosts.command, "run", "login", "pkill", "-KILL", "-x", "mpiexec.*|orted|nbody")
    expect(job.finish() not in (0, None), "the job is ended, and failed", job.output())
    expect(run(*hosts.command, "run", "host2", "true").returncode != 0, "host2 is gone")
    for host in ("host0", "host1"):
        wait_until(lambda host=host: not agents_on(hosts, host), f"the agent of {host} has left")
    expect(sorted(path.name for path in part.glob("*.h5")) == ["node-00000.h5", "node-00001.h5"],
           "the other two node files have arrived", sorted(part.iterdir()))
    expect(snapshots(place / "run", "committed") == {SAVED}, f"step {SAVED} stays committed, step {CUT} is not")
    named = f"restart@{CUT} was sealed and is not committed. The memory of host[0-2] may still have it."
    wait_until(lambda: named in forebay("ls", place / "run"), "ls names what is left, and where")
    for verb, code in (("report", 0), ("recover", 1)):
        said = forebay(verb, place / "run", exit_code=code)
        expect(named in said and "srun --nodelist=host[0-2]" in said, f"{verb} names it too, with the next step", said)


def restart(hosts, place, saving):
    """Restarts on two hosts with other ranks. The target's copy of host0's staged data is damaged meanwhile."""
    at_target = place / f"run/restart/step-{SAVED:06}/node-00000.h5"
    machine.flip_byte(at_target)
    forebay("verify", place / "run", exit_code=1)
    job = nbody(hosts, place, "restarted", "host0:2,host1:2", *saving, "--restart", "--stop-after", SAVED,
                "--checksum-file", place / "restarted.json")
    finished(job, "4 ranks on 2 hosts restart")
    expect(f"restart: step {SAVED}," in job.output(), f"from step {SAVED}", job.output())
    named = f"restart@{CUT} was sealed and is not committed. The memory of host2 may still have it."
    expect(job.output().count(named) == 1, "the session names what lies on the host that it lacks", job.output())
    expect(machine.digests(place / "restarted.json") == machine.digests(place / "undisturbed.json"),
           "and have the undisturbed state, bit for bit")
    machine.flip_byte(at_target)


def clean(hosts, place, saving):
    left = forebay("recover", place / "run", exit_code=1)
    expect("2 of 3 node files have arrived, but not the file of node 2" in left, "recover names the lost node file", left)
    forebay("recover", place / "run", "--stale")
    listed = forebay("ls", place / "run")
    expect("was sealed" not in listed, "and forgets what no host has any more", listed)
    finished(nbody(hosts, place, "continued", "host0:2,host1:2", *saving, "--restart", "--stop-after", CUT),
             f"the job goes on and saves step {CUT} again")
    expect(snapshots(place / "run", "committed") == {SAVED, CUT} and not snapshots(place / "run", "part"),
           f"steps {SAVED} and {CUT} are committed and nothing else is left", forebay("ls", place / "run"))
    forebay("recover", place / "run")
    forebay("verify", place / "run")


def main():
    machine.need(("mpiexec", "openmpi-bin"))
    if not re.search("OpenRTE|Open MPI", run("mpiexec", "--version").stdout):
        machine.skip("mpiexec is not Open MPI's, whose daemons tools/virtual-hosts can bring to its hosts")
    with machine.scratch() as scratch:
        place = Path(scratch)
        config = place / "forebay.toml"
        # About 0.5 MB a host: 5 seconds of draining. With two slots the committed step stays staged.
        config.write_text("[agent]\nrate_bytes_per_second = 100000\n\n[streams.restart]\nslots = 2\n")
        saving = ["--run", place / "run", "--config", config, "--save-every", 2]
        tool = machine.Tool("virtual-hosts", ["up", 3], {"VIRTUAL_HOSTS_DIR": place / "hosts"})
        with tool as hosts:
            finished(nbody(hosts, place, "undisturbed", HOSTS, "--stop-after", SAVED, "--checksum-file",
                           place / "undisturbed.json"), "6 ranks on 3 hosts run undisturbed")
            cut_off(hosts, place, saving)
            restart(hosts, place, saving)
            clean(hosts, place, saving)
        expect(not (place / "hosts").exists(), "the hosts are down")


sys.dont_write_bytecode = True
main()
