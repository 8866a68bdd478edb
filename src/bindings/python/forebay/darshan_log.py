"""Reads a Darshan log: the files that a job wrote to Lustre. Darshan's own library decodes it, through
darshan-parser if that is in PATH, else through PyDarshan. Names in a log may hold anything, and numbers may be
absurd."""

import collections
import dataclasses
import math
import os
import pickle
import re
import shutil
import subprocess
import sys

BYTES_MAX, SECONDS_MAX = 1e18, 1e9  # larger numbers mean damage
FILES_MAX, STRIPES_MAX = 2_000_000, 16_000_000
STREAMS = ("<STDIN>", "<STDOUT>", "<STDERR>")  # STDIO counts these as files
USAGE, MISSING, CORRUPT, UNSUPPORTED = 2, 3, 4, 6  # exit codes of the program
COUNTED = ("BYTES_READ", "BYTES_WRITTEN", "F_READ_TIME", "F_WRITE_TIME", "F_META_TIME", "F_SLOWEST_RANK_TIME",
           "F_WRITE_START_TIMESTAMP", "F_WRITE_END_TIMESTAMP")  # after the name of the module
HOW_TO_INSTALL = "pip install darshan, or install darshan-util (https://darshan.readthedocs.io)"


class Failed(Exception):
    """(exit code, what, next)"""


@dataclasses.dataclass
class File:
    """A file written on Lustre. `first` and `last`: seconds from the begin of the job to its first write and to the
    end of its last write. `seconds`: time of its slowest rank in reads, writes and metadata calls."""
    mount: str
    targets: list
    read: int = 0
    written: int = 0
    first: float = 0
    last: float = 0
    seconds: float = 0


class Log:
    """All files of a job, from the records of a reader."""

    def __init__(self, reader):
        self.reader, self.processes, self.seconds, self.partial = reader, 0, 0.0, False
        self.layouts, self.accesses, self.stripes = {}, {}, 0

    def add_stripes(self, file, mount, targets):
        layout = self.layouts.setdefault(file, (mount, []))
        layout[1].extend(target for target in targets if 0 <= target < 1 << 32)
        self.stripes += len(targets)
        self.check_room()

    def access(self, file, rank, module):
        """The record of one rank, or of all together (-1), on a file; the caller fills it in."""
        access = self.accesses.setdefault((file, rank, module), collections.Counter())
        self.check_room()
        return access

    def check_room(self):
        if max(len(self.accesses), len(self.layouts)) > FILES_MAX or self.stripes > STRIPES_MAX:
            raise Failed(UNSUPPORTED, f"the log has more than {FILES_MAX} files or {STRIPES_MAX} stripes", "")

    def files(self):
        """(written files on Lustre, number of files elsewhere, number of files only read, and their bytes)"""
        files = {}
        for (number, rank, _), access in sorted(self.accesses.items()):
            file = files.setdefault(number, File(*self.layouts.get(number, ("", []))))
            file.read += int(amount(access["BYTES_READ"]))
            # A record of all ranks has the sum of their seconds, and the seconds of the slowest rank.
            spent = sum(amount(access[f"F_{kind}_TIME"], SECONDS_MAX) for kind in ("READ", "WRITE", "META"))
            slowest = amount(access["F_SLOWEST_RANK_TIME"], SECONDS_MAX)
            file.seconds = max(file.seconds, slowest if rank < 0 and slowest > 0 else spent)
            written = int(amount(access["BYTES_WRITTEN"]))
            first, last = (amount(access[f"F_WRITE_{end}_TIMESTAMP"], SECONDS_MAX) for end in ("START", "END"))
            if written <= 0 or last < first:
                continue
            file.first = first if file.written == 0 else min(file.first, first)
            file.last = max(file.last, last)
            file.written += written
        on_lustre = [file for file in files.values() if file.targets]
        only_read = [file for file in on_lustre if not file.written and file.read]
        elsewhere = sum(1 for file in files.values() if file.written and not file.targets)
        return [file for file in on_lustre if file.written], elsewhere, len(only_read), sum(file.read for file in only_read)


def amount(value, most=BYTES_MAX):
    """The value within 0 and `most`. Darshan gives -1 for a value that it did not count."""
    return min(max(value, 0), most) if math.isfinite(value) else 0


def number(text, kind=int):
    try:
        return kind(text)
    except ValueError:
        return None


def columns_of(line):
    """(module, rank, file, counter, value, mount, name) of a line of darshan-parser. A name may hold tabs, so mount
    and kind of file system are the last two columns. A name with a line feed cuts them off."""
    columns = line.split("\t")
    if len(columns) < 6:
        return None
    module, rank, file, counter, value = columns[:5]
    rank, file = number(rank), number(file)
    if rank is None or file is None:
        return ()
    return module, rank, file, counter, value, columns[-2] if len(columns) >= 8 else "", columns[5]


def by_parser(path):
    """Reads the output of darshan-parser. Its errors are among its lines."""
    log, complaint, has_failed = Log("darshan-parser"), "", False
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    with subprocess.Popen(["darshan-parser", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment) as parser:
        for line in parser.stdout:  # lines of bytes end only in a line feed: names may hold other line ends
            line = line.decode(errors="replace").rstrip("\n")
            if line.startswith("#"):
                take_head(log, line)
            elif (columns := columns_of(line)) is None:
                if line and not has_failed:  # the reason begins with "Error"; keep the first such line
                    complaint, has_failed = line[:300], line.startswith("Error")
            elif columns:
                take_columns(log, *columns)
    if parser.returncode or has_failed:
        raise Failed(CORRUPT, f"{path}: " + (f"darshan-parser says '{complaint}'" if complaint else
                                             f"darshan-parser ended with exit code {parser.returncode}"), "")
    return log


def take_head(log, line):
    if found := re.match(r"# nprocs: (\d+)", line):
        log.processes = int(found[1])
    elif found := re.match(r"# run time: ([\d.]+)", line):
        log.seconds = number(found[1], float) or 0.0
    elif "contains incomplete data" in line:
        log.partial = True


def take_columns(log, module, rank, file, counter, value, mount, name):
    if module == "LUSTRE":
        if "OST_ID_" in counter:
            target = number(value)
            log.add_stripes(file, mount, [-1 if target is None else target])
    elif module in ("POSIX", "STDIO") and not name.startswith("<STD"):
        name = counter.removeprefix(module + "_")
        access = log.access(file, rank, module)
        if name in COUNTED:
            access[name] = number(value, float) or 0.0


def by_pydarshan(path):
    """Reads by the library in PyDarshan's wheel."""
    import darshan  # pylint: disable=import-outside-toplevel
    from darshan.backend import cffi_backend as backend  # pylint: disable=import-outside-toplevel

    def records(module):
        while (record := backend.log_get_record(handle, module, dtype="dict")) is not None:
            yield record

    log = Log(f"PyDarshan {darshan.__version__}")
    handle = backend.log_open(path)
    if handle["handle"] == backend.ffi.NULL:
        raise Failed(CORRUPT, f"{path}: PyDarshan's libdarshan-util cannot open this log", "")
    modules, job, names = backend.log_get_modules(handle), backend.log_get_job(handle), backend.log_get_name_records(handle)
    log.processes, log.seconds = int(job["nprocs"]), float(job["run_time"])
    log.partial = any(modules[name]["partial_flag"] for name in ("POSIX", "STDIO", "LUSTRE") if name in modules)
    mounts = sorted((place for place, kind in backend.log_get_mounts(handle) if kind == "lustre"), key=len, reverse=True)
    for record in records("LUSTRE"):
        if record["id"] in log.layouts:  # a record of another rank has the same layout
            continue
        name = names.get(record["id"], "")
        mount = next((place for place in mounts if name == place or name.startswith(place.rstrip("/") + "/")), "")
        log.add_stripes(record["id"], mount, [int(target) for one in record["components"] for target in one["ost_ids"]])
    for module in ("POSIX", "STDIO"):
        for record in records(module) if module in modules else ():
            if names.get(record["id"], "") not in STREAMS:
                counters = record["counters"] | record["fcounters"]
                access = log.access(record["id"], int(record["rank"]), module)
                for name in COUNTED:
                    access[name] = float(counters.get(f"{module}_{name}", 0))
    return log


class Complaints:
    """Collects the library's standard error while it reads: it reports damage nowhere else."""

    def __enter__(self):
        self.saved, (self.read_end, write_end) = os.dup(2), os.pipe()
        os.set_blocking(write_end, False)  # a library that complains without end must not block us
        os.dup2(write_end, 2)
        os.close(write_end)
        return self

    def __exit__(self, *_):
        os.dup2(self.saved, 2)
        os.close(self.saved)
        os.set_blocking(self.read_end, False)
        try:
            lines = os.read(self.read_end, 1 << 16).decode(errors="replace").splitlines()
        except BlockingIOError:
            lines = []
        os.close(self.read_end)
        self.error = next((line[:300] for line in lines if line.startswith("Error")), "")
        return False


def read_in_child(path):
    """Runs PyDarshan in a copy of this process: a damaged log can crash the library."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with Complaints() as complaints:
                try:
                    answer = by_pydarshan(path)
                except Failed as failed:
                    answer = failed
                except Exception as error:  # pylint: disable=broad-except  # a damaged log may raise anything
                    answer = Failed(CORRUPT, f"{path}: PyDarshan: {type(error).__name__}: {error}"[:500], "")
            if complaints.error and not isinstance(answer, Failed):
                answer = Failed(CORRUPT, f"{path}: libdarshan-util says '{complaints.error}'", "")
            with os.fdopen(write_end, "wb") as pipe:
                pickle.dump(answer, pipe)
        finally:
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        answer = pipe.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) or not answer:
        raise Failed(CORRUPT, f"{path}: PyDarshan's libdarshan-util crashed on this log", "")
    answer = pickle.loads(answer)
    if isinstance(answer, Failed):
        raise answer
    return answer


def read_log(path):
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise Failed(MISSING, f"{path}: {error.strerror}", "") from error
    path = f"./{path}" if path.startswith("-") else path  # else the reader takes it for an option
    if shutil.which("darshan-parser"):
        return by_parser(path)
    try:
        import darshan  # pylint: disable=import-outside-toplevel,unused-import
    except ImportError as error:
        raise Failed(UNSUPPORTED, f"{path} cannot be read: darshan-parser is not in PATH, and {sys.executable} has no "
                                  f"PyDarshan ({error})", HOW_TO_INSTALL) from error
    return read_in_child(path)
