"""What the tests of the H5Part library share: an empty place with a staging directory, and clients that are run there."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

from forebay_test import BUILD, SECONDS_MAX, expect

STAGING = None


def run_of(path):
    return pathlib.Path(f"{path}.forebay")


@contextlib.contextmanager
def workplace(config=""):
    global STAGING
    work = pathlib.Path(tempfile.mkdtemp(prefix="forebay-h5part-"))
    STAGING = work / "memory"
    STAGING.mkdir()
    (work / "config.toml").write_text(f'staging = "{STAGING}"\n{config}')
    os.environ["FOREBAY_H5PART_CONFIG"] = str(work / "config.toml")
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def nothing_staged():
    return not any(path.is_file() for path in STAGING.rglob("*"))


def command(ranks, client, *arguments):
    line = [str(BUILD / "tests" / client), *map(str, arguments)]
    return ["mpiexec", "-n", str(ranks), *line] if ranks else line


def run(ranks, client, *arguments, good=True, **more):
    """Without `ranks` the client is a serial program. Gives what it printed, errors too."""
    line = command(ranks, client, *arguments)
    done = subprocess.run(line, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS_MAX, **more)
    expect((done.returncode == 0) == good, f"{' '.join(line)} answered {done.returncode}:\n{done.stdout}")
    return done.stdout


def h5dump(path):
    """Debian's HDF5, which is older than h5py's, must read it too."""
    if shutil.which("h5dump"):
        subprocess.run(["h5dump", "-H", str(path)], check=True, stdout=subprocess.DEVNULL, timeout=600)
