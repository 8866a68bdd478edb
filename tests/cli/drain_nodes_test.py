"""Goal: forebay drain all on several nodes at once commits a snapshot of these nodes and frees the memory of each node. If a
node is lost, drain says so. The Epilog of a batch system drains as the job's user and never takes a node out of service.

Method: each node is a staging folder of its own. make_staged writes what a dead session left there.
"""

import os
import pathlib
import subprocess
import tempfile
import time

import forebay_test as test

MAKE = test.BUILD / "tests/make_staged"
NOBODY = 65534


def stage(folder, **options):
    """Step 100 on two nodes of a run, in folder/a and folder/b."""
    (folder / "run7/forebay/sessions").mkdir(parents=True)
    for number, node in enumerate("ab"):
        (folder / node).mkdir()
        if options:
            os.chown(folder / node, NOBODY, NOBODY)
            for path in (folder / "run7", folder / "run7/forebay", folder / "run7/forebay/sessions"):
                os.chown(path, NOBODY, NOBODY)
    for number, node in enumerate("ab"):
        test.run(MAKE, folder / node, folder / "run7", "restart", 100, 2, number, umask=0o077, **options)


def staged(folder):
    return sorted(path.name for path in folder.rglob("restart.0.h5"))


def drain(folder, *words, **options):
    return test.run(test.FOREBAY, "drain", "all", "--staging", folder, *words, **options)


def nodes_one_after_the_other(folder):
    """The first node waits for the second one."""
    stage(folder)
    first = subprocess.Popen([test.FOREBAY, "drain", "all", "--staging", folder / "a"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    test.expect(first.poll() is None, "the first node waits")
    second = drain(folder / "b")
    output, errors = first.communicate(timeout=60)
    test.expect(first.returncode == 0, "the first node ends well", output + errors)
    for text in (output, second.stdout):
        test.expect("restart@100: committed" in text, "both say so", text)
    test.expect(f"of run {folder / 'run7'}" in errors + second.stderr, "they name the run", errors)
    test.expect(not staged(folder), "no node keeps memory", staged(folder))
    test.expect("committed" in test.output_of(test.FOREBAY, "ls", folder / "run7"), "the run has the step")


def lost_node(folder):
    """The second node never comes."""
    stage(folder)
    began = time.monotonic()
    done = drain(folder / "a", "--wait", 1, code=1)
    test.expect(1 <= time.monotonic() - began < 30, "it waits as long as asked")
    for word in ("NOT committed", "other nodes", "srun", "--drop"):
        test.expect(word in done.stdout, f"it says {word}", done.stdout)
    test.expect(len(staged(folder)) == 2, "nothing is removed")
    one = next((folder / "a").glob("*/*"))
    test.expect("--drop" in test.run(test.FOREBAY, "drain", one, "--wait", 1, code=1).stdout, "a directory alone too")


def epilog(folder):
    """As root for another user, if the test may."""
    stage(folder)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
    drain(folder / "a", "--epilog", env=environment, code=2)
    drain(folder / "a", "--epilog", env=environment | {"SLURM_JOB_UID": "ann"}, code=2)
    own = environment | {"SLURM_JOB_UID": str(os.getuid())}
    done = drain(folder / "a", "--epilog", "--wait", 1, env=own)
    test.expect("NOT committed" in done.stdout and len(staged(folder)) == 2, "what stays is named", done.stdout)
    if os.getuid() != 0:
        drain(folder / "a", "--epilog", env=environment | {"SLURM_JOB_UID": "0"}, code=None)
        return
    os.chmod(folder, 0o711)
    other = folder / "other"
    other.mkdir()
    stage(other, user=NOBODY, group=NOBODY)
    os.chmod(other, 0o755)
    both = [subprocess.Popen([test.FOREBAY, "drain", "all", "--epilog", "--staging", other / node], stdout=subprocess.PIPE, text=True,
                             env=environment | {"SLURM_JOB_UID": str(NOBODY)}) for node in "ab"]
    texts = [process.communicate(timeout=60)[0] for process in both]
    test.expect(all("restart@100: committed" in text for text in texts), "both nodes drain", texts)
    manifest = list((other / "run7/restart").glob("*"))
    test.expect(manifest and all(path.stat().st_uid == NOBODY for path in manifest), "the files belong to the user", manifest)
    test.expect(not staged(other), "no node keeps memory")


def main():
    for check in (nodes_one_after_the_other, lost_node, epilog):
        with tempfile.TemporaryDirectory() as name:
            check(pathlib.Path(name))
    print("nodes that drain at once all end well, a lost node is named, and an Epilog drains for the user")


main()
