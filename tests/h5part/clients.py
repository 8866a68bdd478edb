"""What the tests of the H5Part library share: an empty place with a staging directory, and clients that are run there."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BINARIES = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"])
FOREBAY = os.environ["FOREBAY_AGENT"]
STAGING = None
SECONDS_MAX = 600  # for what hangs: a busy machine takes ten times as long as an idle one


def expect(good, what):
    if not good:
        sys.exit(f"not as expected: {what}")


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
    line = [str(BINARIES / "tests" / client), *map(str, arguments)]
    return ["mpiexec", "-n", str(ranks), *line] if ranks else line


def run(ranks, client, *arguments, good=True, **more):
    """Without `ranks` the client is a serial program. Gives what it printed, errors too."""
    line = command(ranks, client, *arguments)
    done = subprocess.run(line, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS_MAX, **more)
    expect((done.returncode == 0) == good, f"{' '.join(line)} answered {done.returncode}:\n{done.stdout}")
    return done.stdout


def forebay(*arguments, good=True):
    done = subprocess.run([FOREBAY, *map(str, arguments)], text=True, capture_output=True, timeout=SECONDS_MAX)
    expect((done.returncode == 0) == good, f"forebay {arguments}: {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def h5dump(path):
    """Debian's HDF5, which is older than h5py's, must read it too."""
    if shutil.which("h5dump"):
        subprocess.run(["h5dump", "-H", str(path)], check=True, stdout=subprocess.DEVNULL, timeout=600)
