"""Goal: over real sshd, `forebay job` starts keepers on other hosts, commits the snapshots of a crash there and frees the
memory. A staging directory with a blank and a login shell that prints do not matter. A host that ssh refuses is named. A
tool with --hosts shares its work over sshd.

Method: three hosts and a login host in namespaces, each host with an sshd. Open MPI starts its ranks by the same ssh.
"""

import json
import os
from pathlib import Path

import machine
from forebay_test import BUILD, FOREBAY
from machine import expect, run

SIMULATION = BUILD / "tests/job_simulation_mpi"
MEGABYTES, SLOW = 4, 1_000_000
STAGING = "/dev/shm/a place"
SERVER = """ListenAddress 0.0.0.0
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/home/.ssh/authorized_keys
PidFile none
UsePAM no
StrictModes no
"""
CLIENT = """Host *
  IdentityFile {folder}/user_key
  UserKnownHostsFile {folder}/known_hosts
  BatchMode yes
  StrictHostKeyChecking yes
  LogLevel ERROR
"""
# Each host gets its own accounts file: root has a home of the test, and no password.
START = """set -e
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/sshd "{staging}"
mount --bind {folder}/passwd /etc/passwd
mount --bind {folder}/shadow /etc/shadow
$(command -v sshd || echo /usr/sbin/sshd) -f {folder}/sshd_config
"""


def write_configuration(folder):
    home = folder / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".bashrc").write_text("echo a shell that prints\n")
    for name in ("host_key", "user_key"):
        done = run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name)
        expect(done.returncode == 0, f"ssh-keygen makes {name}", done.stderr)
    (home / ".ssh/authorized_keys").write_text((folder / "user_key.pub").read_text())
    key = " ".join((folder / "host_key.pub").read_text().split()[:2])
    # The third host is not known.
    (folder / "known_hosts").write_text(f"host0 {key}\nhost1 {key}\n")
    (folder / "sshd_config").write_text(SERVER.format(folder=folder))
    (folder / "ssh_config").write_text(CLIENT.format(folder=folder))
    (folder / "passwd").write_text(f"root:x:0:0:root:{home}:/bin/bash\nsshd:x:100:65534::/run/sshd:/usr/sbin/nologin\n"
                                   "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n")
    (folder / "shadow").write_text("root:*:19000:0:99999:7:::\nsshd:!:19000::::::\n")


class Place:
    def __init__(self, folder, hosts):
        self.folder, self.hosts, self.ssh = folder, hosts, f"ssh -F {folder}/ssh_config"

    def on(self, host, *command, **options):
        return run(*self.hosts.command, "run", host, *command, **options)

    def job(self, *options, command):
        environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        return self.on("login", FOREBAY, "job", "--ssh", self.ssh, *options, "--", *command, env=environment)

    def in_memory(self, host):
        return self.on(host, "find", "/dev/shm", "-name", "*.h5", "-o", "-name", "keeper.*").stdout.split("\n")[:-1]


def crash(place):
    """All ranks crash. Each host has a part of each snapshot."""
    target = place.folder / "run7"
    net = "10.83.0.0/24"
    settings = {"plm_rsh_agent": place.ssh, "plm": "rsh", "pml": "ob1", "btl": "self,vader,tcp", "btl_tcp_if_include": net,
                "oob_tcp_if_include": net, "hwloc_base_binding_policy": "none", "orte_tmpdir_base": "/dev/shm"}
    launcher = ["mpiexec", *(word for name, value in settings.items() for word in ("--mca", name, value)), "--host", "host0,host1", "-n", 2]
    for name in ("FOREBAY_KEEPER", "FOREBAY_AGENT"):
        launcher += ["-x", name]
    done = place.job("--hosts", "host[0-1]", "--staging", STAGING,
                     command=[*launcher, SIMULATION, target, STAGING, 3, 2 * MEGABYTES << 20, SLOW, "crash"])
    expect("saved step 3" in done.stdout and done.returncode == 139, "the simulation crashes after three saves", done.stdout + done.stderr)
    committed = sorted(path.parent.name for path in (target / "restart").glob("step-*/manifest.json"))
    expect(committed == ["step-000001", "step-000002", "step-000003"], "all is committed", (committed, done.stderr))
    expect("after the command" in done.stderr and "no keeper" not in done.stderr, "the keepers of both hosts did that", done.stderr)
    for host in ("host0", "host1"):
        expect(not place.in_memory(host), f"nothing stays in the memory of {host}", place.in_memory(host))


def refused(place):
    done = place.job("--hosts", "host[0,2]", command=["sh", "-c", "exit 7"])
    expect(done.returncode == 7, "the command runs without this keeper", done.stderr)
    expect("no keeper: host2" in done.stderr and "Host key verification failed" in done.stderr, "the host is named", done.stderr)
    expect("no keeper: host0" not in done.stderr, "the other host has its keeper", done.stderr)


def copy(place):
    source, target = place.folder / "tree", place.folder / "copy"
    for number in range(400):
        path = source / f"folder{number % 20}" / f"file {number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes([number % 251]) * (number * 100))
    done = place.on("login", FOREBAY, "copy", source, target, "--hosts", "host0,host1", "--ssh", place.ssh, "--json")
    expect(done.returncode == 0, "forebay copy over sshd", done.stdout + done.stderr)
    workers = {worker["host"]: worker for worker in json.loads(done.stdout)["processes"]}
    expect({"host0", "host1"} <= workers.keys() and not any(worker["lost"] for worker in workers.values()), "both hosts help", workers)
    expect(run("diff", "-r", source, target).returncode == 0, "the copy is whole")


def main():
    machine.need(("mpiexec", "openmpi-bin"), ("ssh", "openssh-client"), ("ssh-keygen", "openssh-client"), built=(FOREBAY, SIMULATION))
    if run("sh", "-c", "PATH=$PATH:/usr/sbin command -v sshd").returncode:
        machine.skip("sshd is missing; Next: apt-get install openssh-server")
    with machine.scratch() as name:
        folder = Path(name)
        write_configuration(folder)
        environment = {"VIRTUAL_HOSTS_DIR": folder / "hosts", "VIRTUAL_HOSTS_SHM": "256m", "FOREBAY_AGENT": FOREBAY}
        with machine.Tool("virtual-hosts", ("up", 3), environment) as hosts:
            place = Place(folder, hosts)
            for host in ("host0", "host1", "host2"):
                done = place.on(host, "sh", "-c", START.format(folder=folder, staging=STAGING))
                expect(done.returncode == 0, f"sshd of {host}", done.stderr)
            for check in (crash, refused, copy):
                check(place)


main()
