"""Goal: if only some hosts can write to the target, the output of all hosts arrives through them, and losing one loses
nothing.

Method: 3 hosts. Two of them compute and have the target mounted read-only, so that they cannot write a byte. First the
job dedicates host2 (agent.forwarders). Then `forebay forward` is started by hand on host2 and killed during both
drains; the staged snapshots are reported, and committed through a new forwarder. At last there are two forwarders, and
the host of one loses its power during a drain: the other takes over. It also takes over for a job that ends by the loss
of a rank.
"""

import json
import re
import sys

import machine
from machine import expect, forebay, run, snapshots, wait_until

UNIVERSE = ["--mesh", 32, "--particles", 32, "--steps", 64]
COMPUTING, FORWARDER = ("host0", "host1"), "host2"
PORT = 4711


class Place:
    def __init__(self, folder, hosts):
        self.folder, self.hosts = folder, hosts
        self.target = folder / "target"
        self.run = self.target / "run"
        self.config = folder / "forebay.toml"

    def on(self, host, *command, **options):
        return run(*self.hosts.command, "run", host, *command, **options)

    def reach(self, *addresses):
        return [f"forward_to = {json.dumps(addresses)}", f'forward_token_file = "{self.folder}/token"']

    def configure(self, agent, rate=0):
        lines = ["close_wait_seconds = 60", "[agent]", "linger_seconds = 2", f"rate_bytes_per_second = {rate}", "retries = 1", *agent,
                 "[streams.restart]", "slots = 2"]
        self.config.write_text("\n".join(lines) + "\n")

    def nbody(self, where, name, *options, saving=True):
        saved = ["--run", self.run, "--config", self.config, "--save-every", 2] if saving else []
        return machine.Job([*self.hosts.command, "mpiexec", "--host", where, machine.NBODY, *UNIVERSE, *saved, *options],
                           self.folder / f"{name}.log")

    def forwarder(self, name, host, number):
        """Starts forebay forward on a host."""
        job = machine.Job([*self.hosts.command, "run", host, machine.FOREBAY, "forward", self.run, "--listen", f":{PORT}",
                           "--token-file", self.folder / "token", "--json"], self.folder / f"{name}.log")
        wait_until(lambda: '"addresses"' in job.output() and "}" in job.output(), f"{name} listens")
        told = json.loads(job.output()[job.output().index("{"):job.output().index("}") + 1])
        expect(f"{number}:{PORT}" in told["addresses"], f"at the address of {host}", told)
        return job

    def agents(self, host):
        return self.on(host, "pgrep", "-x", "forebay").stdout.split()


def finished(job, what):
    expect(job.finish() == 0, what, job.output())


def same_state(place, name, undisturbed):
    expect(machine.digests(place.folder / f"{name}.json") == machine.digests(place.folder / f"{undisturbed}.json"),
           "the state is the undisturbed one, bit for bit")


def cut_target_off(place):
    for host in COMPUTING:
        for command in (("mount", "--bind", place.target, place.target),
                        ("mount", "-o", "remount,bind,ro", place.target)):
            done = place.on(host, *command)
            expect(done.returncode == 0, f"{' '.join(map(str, command))} on {host}", done.stderr)
        tried = place.on(host, "touch", place.target / "x")
        expect(tried.returncode and "Read-only file system" in tried.stderr, f"{host} cannot write to the target")


def hosts_of_the_job(place):
    """The job dedicates its last host: 4 of 6 ranks compute, on two hosts."""
    place.configure([])
    job = place.nbody("host0:2,host1:2", "direct", "--stop-after", 2)
    expect(job.finish() not in (0, None) and "Read-only file system" in job.output(),
           "without a forwarder a save is refused at once", job.output())
    place.configure(["forwarders = 1"])
    job = place.nbody("host0:2,host1:2,host2:2", "given-up", "--stop-after", 4, "--checksum-file",
                      place.folder / "given-up.json")
    finished(job, "with host2 as forwarder 6 ranks end well")
    expect("4 ranks on 2 nodes" in job.output(), "4 of them on 2 hosts compute", job.output())
    expect(snapshots(place.run, "committed") == {2, 4}, "steps 2 and 4 are committed", job.output())
    for step in (2, 4):
        at = place.run / f"restart/step-{step:06}"
        expect(sorted(path.name for path in at.glob("*.h5")) == ["node-00000.h5", "node-00001.h5"],
               f"step {step} has the node files of both hosts", sorted(at.iterdir()))
        expect(at.with_suffix(".h5").exists(), "and its view")
    forebay("verify", place.run)
    same_state(place, "given-up", "undisturbed-4")
    wait_until(lambda: not any(place.agents(host) for host in COMPUTING), "nothing of forebay is left on the hosts")


def killed_while_draining(place):
    address = f"host2:{PORT}"
    place.configure(place.reach(address), rate=150_000)
    forwarder = place.forwarder("first", FORWARDER, "10.83.0.12")
    job = place.nbody("host0:2,host1:2", "killed", "--restart", "--stop-after", 6)
    part = wait_until(lambda: next((place.run / "restart").glob(".step-000006.*.part"), None) or job.process.poll(),
                      "step 6 is being drained")
    expect(not isinstance(part, int), "the job still runs", job.output())
    place.on(FORWARDER, "pkill", "-KILL", "-x", "forebay")
    expect(job.finish() == 1, "the forwarder is killed: the job computes on and reports failure", job.output())
    lost = re.findall(r".*is NOT committed.*(?:\n  .*)*", job.output())
    expect(lost and all(re.search(r"the staged copy on host[01], /dev/shm/forebay-", text) and "forebay drain" in text
                        for text in lost), "its error names the staged copy and the next command", job.output())
    expect("10.83.0.12" in job.output(), "and the forwarder that is lost", job.output())
    expect(snapshots(place.run, "committed") == {2, 4}, "steps 2 and 4 stay committed")
    for host in COMPUTING:
        wait_until(lambda host=host: not place.agents(host), f"the agent of {host} has left")
    forwarder.kill()


def drained_later(place):
    reach = ("--forward-to", f"host2:{PORT}", "--token-file", place.folder / "token")
    forwarder = place.forwarder("second", FORWARDER, "10.83.0.12")
    said = ""
    for host in COMPUTING:
        done = place.on(host, machine.FOREBAY, "drain", "all", *reach)
        said += done.stdout + done.stderr
    # The agent of the first host waits for the node file of the second, which commits.
    expect("restart@6: committed" in said, "what both hosts have staged is committed through another forwarder", said)
    done = place.on(COMPUTING[0], machine.FOREBAY, "drain", "all", *reach)
    expect(done.returncode == 0 and "NOT committed" not in done.stdout, "and nothing is left to do",
           done.stdout + done.stderr)
    expect(snapshots(place.run, "committed") == {2, 4, 6}, "steps 2, 4 and 6 are committed", forebay("ls", place.run))
    forebay("verify", place.run)
    return forwarder


def powered_off(place):
    """host0 begins with the forwarder on host2, host1 with the forwarder on login."""
    other = place.forwarder("third", "login", "10.83.0.1")
    place.configure(place.reach(f"host2:{PORT}", f"login:{PORT}"), rate=150_000)
    job = place.nbody("host0:2,host1:2", "continued", "--restart", "--stop-after", 8, "--checksum-file",
                      place.folder / "continued.json")
    wait_until(lambda: next((place.run / "restart").glob(".step-000008.*.part"), None) or job.process.poll() is not None,
               "step 8 is being drained")
    place.hosts("off", FORWARDER)
    finished(job, "the host of one of two forwarders loses its power: the job ends well")
    expect("restart: step 6," in job.output(), "it went on from step 6", job.output())
    expect(snapshots(place.run, "committed") == {4, 6, 8}, "steps 4, 6 and 8 are committed", forebay("ls", place.run))
    same_state(place, "continued", "undisturbed-8")
    return other


def job_killed(place, other):
    """host1 is dedicated to write for host0, where a rank is killed. The remaining data are brought to the target by
    hand."""
    expect(place.on("host1", "umount", place.target).returncode == 0, "host1 may write to the target again")
    place.configure(["forwarders = 1"], rate=150_000)
    job = place.nbody("host0:2,host1:2", "ended", "--restart", "--stop-after", 10)
    wait_until(lambda: next((place.run / "restart").glob(".step-000010.*.part"), None) or job.process.poll() is not None,
               "step 10 is being drained")
    place.on("host0", "pkill", "-KILL", "--oldest", "-x", "nbody")
    expect(job.finish() not in (0, None), "a rank that computes is killed: the job ends", job.output())
    for host in COMPUTING:
        wait_until(lambda host=host: not place.on(host, "pgrep", "-x", "nbody|forebay").stdout,
                   f"neither a rank nor an agent is left on {host}")
    done = place.on("host0", machine.FOREBAY, "drain", "all", "--forward-to", f"login:{PORT}", "--token-file",
                    place.folder / "token")
    expect("restart@10: committed" in done.stdout, "what was sealed is committed through the other forwarder",
           done.stdout + done.stderr)
    place.on("login", "pkill", "-TERM", "-x", "forebay")
    expect(other.finish() == 0, "which is told to end, and does", other.output())
    forebay("recover", place.run)
    forebay("verify", place.run)


def main():
    machine.need(("mpiexec", "openmpi-bin"))
    if not re.search("OpenRTE|Open MPI", run("mpiexec", "--version").stdout):
        machine.skip("mpiexec is not Open MPI's, whose daemons tools/virtual-hosts can bring to its hosts")
    with machine.scratch() as scratch:
        folder = machine.Path(scratch)
        with machine.Tool("virtual-hosts", ["up", 3], {"VIRTUAL_HOSTS_DIR": folder / "hosts"}) as hosts:
            place = Place(folder, hosts)
            place.target.mkdir()
            for stop in (4, 8):
                finished(place.nbody("host0:2,host1:2", f"undisturbed-{stop}", "--stop-after", stop, "--checksum-file",
                                     folder / f"undisturbed-{stop}.json", saving=False),
                         f"4 ranks on 2 hosts run undisturbed to step {stop}")
            cut_target_off(place)
            hosts_of_the_job(place)
            killed_while_draining(place)
            forwarder = drained_later(place)
            job_killed(place, powered_off(place))
            forwarder.kill()


sys.dont_write_bytecode = True
main()
