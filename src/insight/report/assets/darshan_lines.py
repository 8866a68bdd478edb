"""Prints what a Darshan log says of written files, as lines of JSON for the program that has started this:

    {"forebay": "begin"}                                         first: from now on a crash is the log's doing
    {"forebay": "darshan", "reader": TEXT, "processes": N, "seconds": N, "partial": BOOL}
    {"file": ID, "mount": PATH, "from": K, "targets": [N, ...]}   stripes K and on of a Lustre file: indices of OSTs
    {"posix": ID, "rank": N, "read": BYTES, "written": BYTES, "first": SECOND, "last": SECOND, "seconds": N}
    {"stdio": ID, ...}                                           the same of fwrite() and its like, which are no POSIX calls there
    {"end": N}                                                   last: how many lines there were before
    {"error": TEXT, "kind": "missing" or "corrupt"}              in place of all that follows

ID is a decimal text. `first` and `last` are the beginning of the first write and the end of the last one; `seconds` is
what the slowest rank has spent in reads, writes and calls about the file. Whatever else is printed is a complaint of the
library. Needs PyDarshan, whose wheel brings libdarshan-util; of the package forebay it needs nothing.
"""

import json
import sys

STRIPES_A_LINE = 100  # a line has at most 4096 bytes
TEXT_MAX = 500
STREAMS = ("<STDIN>", "<STDOUT>", "<STDERR>")  # STDIO counts these as files


def say(line):
    sys.stdout.write(json.dumps(line) + "\n")


def lustre_mounts(backend, log):
    """Longest first, so that the first that fits is the one that a file lies on."""
    mounts = [path for path, kind in backend.log_get_mounts(log) if kind == "lustre"]
    return sorted(mounts, key=len, reverse=True)


def records(backend, log, module):
    while (record := backend.log_get_record(log, module, dtype="dict")) is not None:
        yield record


def files(backend, log):
    mounts, names = lustre_mounts(backend, log), backend.log_get_name_records(log)
    for record in records(backend, log, "LUSTRE"):
        name = names.get(record["id"], "")
        mount = next((path for path in mounts if name == path or name.startswith(path.rstrip("/") + "/")), "")
        targets = [int(target) for component in record["components"] for target in component["ost_ids"]]
        for begin in range(0, len(targets), STRIPES_A_LINE):
            yield {"file": str(record["id"]), "mount": mount[:TEXT_MAX], "from": begin,
                   "targets": targets[begin:begin + STRIPES_A_LINE]}


def accesses(backend, log, module):
    names = backend.log_get_name_records(log)
    for record in records(backend, log, module):
        if names.get(record["id"], "") in STREAMS:
            continue
        count, timed = record["counters"], record["fcounters"]
        seconds = sum(float(timed[f"{module}_F_{kind}_TIME"]) for kind in ("READ", "WRITE", "META"))
        if record["rank"] < 0:  # of all ranks together
            seconds = float(timed[f"{module}_F_SLOWEST_RANK_TIME"]) or seconds
        yield {module.lower(): str(record["id"]), "rank": int(record["rank"]), "read": int(count[f"{module}_BYTES_READ"]),
               "written": int(count[f"{module}_BYTES_WRITTEN"]), "first": float(timed[f"{module}_F_WRITE_START_TIMESTAMP"]),
               "last": float(timed[f"{module}_F_WRITE_END_TIMESTAMP"]), "seconds": seconds}


def main(path):
    sys.stdout.reconfigure(line_buffering=True)  # the library complains, and never in the middle of a line
    try:
        import darshan  # pylint: disable=import-outside-toplevel
        from darshan.backend import cffi_backend as backend  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        say({"error": f"PyDarshan cannot be loaded: {error}"[:TEXT_MAX], "kind": "missing"})
        return 1
    say({"forebay": "begin"})
    log = backend.log_open(path)
    if log["handle"] == backend.ffi.NULL:
        say({"error": "it is no log that PyDarshan's libdarshan-util can open", "kind": "corrupt"})
        return 1
    modules, job = backend.log_get_modules(log), backend.log_get_job(log)
    say({"forebay": "darshan", "reader": f"PyDarshan {darshan.__version__}", "processes": int(job["nprocs"]),
         "seconds": float(job["run_time"]),
         "partial": any(modules[name]["partial_flag"] for name in ("POSIX", "STDIO", "LUSTRE") if name in modules)})
    count = 2
    of_modules = [accesses(backend, log, name) for name in ("POSIX", "STDIO") if name in modules]
    for lines in (files(backend, log), *of_modules):
        for line in lines:
            say(line)
            count += 1
    say({"end": count})
    return 0


if __name__ == "__main__":
    try:
        CODE = main(sys.argv[1])
        sys.stdout.flush()
    except Exception as error:  # pylint: disable=broad-except  # whatever a damaged log makes of it is told
        say({"error": f"PyDarshan: {type(error).__name__}: {error}"[:TEXT_MAX], "kind": "corrupt"})
        CODE = 1
    sys.exit(CODE)
