"""A real Slurm on this machine, for tests: a head and some hosts. As root.

Each host has its own name, network, /dev/shm, /run and cgroups, and a slurmd. Processes of a job step are tracked by
cgroups, as most sites do. Files of the folder: conf/ (slurm.conf, cgroup.conf), state/, log/. The commands of Slurm run on
the head: run("sbatch", ...).

Needs the packages slurmctld, slurmd, slurm-client and munge of Debian, iproute2, and cgroups of version 1.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import time

PACKAGES = {"slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client", "munged": "munge", "ip": "iproute2", "nsenter": "util-linux"}
CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory", "devices", "freezer")
NET = "10.93.0"
CONF = """ClusterName=forebaytest
SlurmctldHost=head
AuthType=auth/munge
AuthInfo=socket=/run/munge/munge.socket.2
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=500
ReturnToService=2
SwitchType=switch/none
MpiDefault=none
KillWait=8
MinJobAge=600
SlurmdTimeout=60
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=0,sched_min_interval=0
NodeName=n[0-{last}] CPUs=2 Boards=1 SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=2000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=INFINITE State=UP
"""
CGROUP = """CgroupPlugin=cgroup/v1
CgroupMountpoint=/sys/fs/cgroup
CgroupAutomount=no
ConstrainCores=yes
ConstrainRAMSpace=yes
ConstrainDevices=no
"""
ENTER = """for group in {groups}; do echo $$ > $group/cgroup.procs; done
exec unshare --net --uts --mount --ipc --pid --cgroup --fork --kill-child --mount-proc --propagation private bash -c {inside}"""
INSIDE = """set -e
hostname {name}
mount -t tmpfs -o size=512m,mode=1777 tmpfs /dev/shm
for folder in /var/tmp /run /var/spool; do mount -t tmpfs -o mode=1777 tmpfs $folder; done
mkdir -p /run/munge /var/spool/slurmd /run/lock
chown munge:munge /run/munge
chmod 755 /run /run/munge /var/spool
mount --bind {folder}/hosts /etc/hosts
for controller in {controllers}; do
    umount /sys/fs/cgroup/$controller
    mount -t cgroup -o $controller cgroup /sys/fs/cgroup/$controller
done
ip link set lo up
install -o munge -g munge -m 400 {folder}/munge.key /run/munge.key
touch {folder}/{name}.ready
until [ -e {folder}/{name}.go ]; do sleep 0.05; done
setpriv --reuid munge --regid munge --clear-groups munged --key-file=/run/munge.key --pid-file=/run/munge/munged.pid \\
    --log-file=/run/munge/munged.log --seed-file=/run/munge/seed --socket=/run/munge/munge.socket.2
{daemon}
exec sleep infinity"""


def reason_to_skip():
    """Empty if this machine can run a cluster."""
    if os.geteuid() != 0:
        return "needs root, for namespaces and cgroups"
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    missing = sorted({package for program, package in PACKAGES.items() if not shutil.which(program, path=path)})
    if missing:
        return f"Slurm is missing; Next: apt-get install --no-install-recommends {' '.join(missing)}"
    groups = [name for name in CONTROLLERS if not pathlib.Path(f"/sys/fs/cgroup/{name}/cgroup.procs").exists()]
    if groups:
        return f"cgroups of version 1 are missing: {', '.join(groups)}"
    allowed = subprocess.run(["unshare", "--net", "--uts", "--mount", "--ipc", "--pid", "--cgroup", "--fork", "true"],
                             capture_output=True, text=True, check=False)
    return f"this machine allows no namespaces: {allowed.stderr.strip()}" if allowed.returncode else ""


class Cluster:
    """with Cluster(folder, 2) as cluster: ..."""

    def __init__(self, folder, hosts):
        self.folder, self.names = folder, ["head", *[f"n{number}" for number in range(hosts)]]
        self.processes = {}
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")} | {
            "SLURM_CONF": str(folder / "conf/slurm.conf"), "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}

    def group(self, controller, name):
        own = next((line.split(":")[2].strip() for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()
                    if controller in line.split(":")[1].split(",")), "/")
        return pathlib.Path(f"/sys/fs/cgroup/{controller}{own.rstrip('/')}/forebay-{os.getpid()}-{name}")

    def address(self, name):
        return f"{NET}.{1 if name == 'head' else 10 + int(name[1:])}"

    def __enter__(self):
        for name in ("conf", "state", "log"):
            (self.folder / name).mkdir()
        (self.folder / "conf/slurm.conf").write_text(CONF.format(folder=self.folder, last=len(self.names) - 2))
        (self.folder / "conf/cgroup.conf").write_text(CGROUP)
        (self.folder / "conf/mpi.conf").write_text("PMIxCliTmpDirBase=/var/tmp\n")
        (self.folder / "munge.key").write_bytes(os.urandom(1024))
        (self.folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{self.address(name)} {name}\n" for name in self.names))
        try:
            for name in self.names:
                self.boot(name)
            self.make_bridge()
            for name in self.names[1:]:
                self.connect(name)
            for name in self.names:
                (self.folder / f"{name}.go").touch()
            self.wait_for_idle()
        except BaseException:
            self.__exit__()
            raise
        return self

    def boot(self, name):
        groups = [self.group(controller, name) for controller in CONTROLLERS]
        for group in groups:
            group.mkdir()
            if "cpuset" in group.parts:
                for file in ("cpuset.cpus", "cpuset.mems"):
                    (group / file).write_text((group.parent / file).read_text())
        daemon = f"slurmctld -i -f {self.folder}/conf/slurm.conf" if name == "head" else f"slurmd -N {name} -f {self.folder}/conf/slurm.conf"
        inside = INSIDE.format(name=name, folder=self.folder, controllers=" ".join(CONTROLLERS), daemon=daemon)
        enter = ENTER.format(groups=" ".join(map(str, groups)), inside="'" + inside.replace("'", "'\\''") + "'")
        with (self.folder / f"log/{name}.log").open("w") as log:
            outer = subprocess.Popen(["bash", "-c", enter], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                                     env=self.environment)
        self.processes[name] = outer
        end = time.monotonic() + 30
        while not (self.folder / f"{name}.ready").exists():
            if outer.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{name} does not start: {(self.folder / f'log/{name}.log').read_text()}")
            time.sleep(0.02)

    def inner(self, name):
        """The first process of a host."""
        outer = self.processes[name].pid
        return int(pathlib.Path(f"/proc/{outer}/task/{outer}/children").read_text().split()[0])

    def ip(self, host, *words):
        subprocess.run(["nsenter", "--target", str(self.inner(host)), "--net", "ip", *words], check=True, env=self.environment)

    def make_bridge(self):
        self.ip("head", "link", "add", "br0", "type", "bridge")
        self.ip("head", "addr", "add", f"{NET}.1/24", "dev", "br0")
        self.ip("head", "link", "set", "br0", "up")

    def connect(self, name):
        self.ip("head", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", str(self.inner(name)))
        self.ip("head", "link", "set", f"to-{name}", "master", "br0", "up")
        self.ip(name, "addr", "add", f"{self.address(name)}/24", "dev", "eth0")
        self.ip(name, "link", "set", "eth0", "up")

    def power_off(self, name):
        """All processes of a host are killed, and its memory is gone. The controller learns it from its administrator."""
        os.kill(self.inner(name), signal.SIGKILL)
        self.processes.pop(name).wait()
        for controller in CONTROLLERS:
            self.remove_group(self.group(controller, name), time.monotonic() + 10)
        for state in ("ready", "go"):
            (self.folder / f"{name}.{state}").unlink()
        self.run("scontrol", "update", f"NodeName={name}", "State=DOWN", "Reason=power")

    def power_on(self, name):
        self.boot(name)
        self.connect(name)
        (self.folder / f"{name}.go").touch()

    def wait_for_idle(self):
        end = time.monotonic() + 60
        while True:
            shown = self.run("sinfo", "-h", "-o", "%T %D", check=False)
            if shown.stdout.strip() == f"idle {len(self.names) - 1}":
                return
            if time.monotonic() > end:
                raise RuntimeError(f"the cluster does not start: {shown.stdout} {shown.stderr}")
            time.sleep(0.2)

    def run(self, *command, host="head", check=True, **options):
        """Runs a command on a host, in its cgroups."""
        groups = " ".join(str(self.group(controller, host)) for controller in CONTROLLERS)
        enter = (f"for group in {groups}; do echo $$ > $group/cgroup.procs; done; exec nsenter --target {self.inner(host)} --net --uts --mount "
                 f"--ipc --cgroup --pid -- env --chdir={self.folder} \"$@\"")
        done = subprocess.run(["bash", "-c", enter, "run", *map(str, command)], **({"capture_output": True, "text": True, "check": False,
                              "stdin": subprocess.DEVNULL, "timeout": 300, "env": self.environment} | options))
        if check and done.returncode:
            raise RuntimeError(f"{command} on {host} ends with {done.returncode}: {done.stdout} {done.stderr}")
        return done

    def job(self, script, *options):
        """Submits a script, and returns the number of the job."""
        path = self.folder / f"job-{time.monotonic_ns()}.sh"
        path.write_text(f"#!/bin/bash\n{script}")
        path.chmod(0o755)
        return self.run("sbatch", "--parsable", f"--output={self.folder}/out-%j.txt", *options, path).stdout.strip()

    def state(self, job):
        shown = self.run("scontrol", "show", "job", job).stdout
        return shown.split("JobState=")[1].split()[0]

    def wait_for(self, job, seconds=180):
        end = time.monotonic() + seconds
        while self.state(job) in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED"):
            if time.monotonic() > end:
                raise RuntimeError(f"job {job} does not end: {self.output(job)}")
            time.sleep(0.3)
        return self.state(job)

    def output(self, job):
        path = self.folder / f"out-{job}.txt"
        return path.read_text(errors="replace") if path.exists() else ""

    def in_memory(self, run=""):
        """Node files in /dev/shm of each host, of one run or of all runs."""
        left = {}
        for name in self.names[1:]:
            if name in self.processes:
                # /dev/shm as a process of the host sees it.
                place = pathlib.Path(f"/proc/{self.inner(name)}/root/dev/shm")
                files = sorted(str(path.relative_to(place)) for path in place.glob(f"forebay-*/{run and pathlib.Path(run).name + '-'}*/*.h5"))
                if files:
                    left[name] = files
        return left

    def __exit__(self, *_):
        for name in reversed(self.names):
            if name in self.processes:
                try:
                    os.kill(self.inner(name), signal.SIGKILL)
                except (OSError, IndexError, ValueError):
                    pass
                self.processes[name].kill()
                self.processes[name].wait()
        end = time.monotonic() + 10
        for name in self.names:
            for controller in CONTROLLERS:
                self.remove_group(self.group(controller, name), end)

    @staticmethod
    def remove_group(group, end):
        """A killed process keeps its cgroup for a moment."""
        while group.exists() and time.monotonic() < end:
            for folder in sorted((path for path in group.rglob("*") if path.is_dir()), key=lambda path: -len(path.parts)):
                try:
                    folder.rmdir()
                except OSError:
                    pass
            try:
                group.rmdir()
            except OSError:
                time.sleep(0.05)
