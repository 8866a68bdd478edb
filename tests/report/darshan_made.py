"""Darshan logs for tests, written by the functions of libdarshan-util that Darshan's own tools write logs with
(darshan_log_create and those that follow), which PyDarshan's wheel brings; and what darshan-parser prints, by that
library's functions too. Raises ImportError without PyDarshan.

As a program it stands in for darshan-parser: `darshan_made.py LOG` prints the log.
"""

import ctypes
import pathlib
import sys

import darshan
from darshan.backend import cffi_backend

POSIX, LUSTRE, KNOWN_MODULES = 1, 8, 18
JOB_METADATA_BYTES, JOB_RECORD_BYTES = 1024, 4096
EXE_BYTES = JOB_RECORD_BYTES - 7 * 8 - JOB_METADATA_BYTES - 1
POSIX_COUNTERS = cffi_backend.counter_names("POSIX")
POSIX_TIMES = cffi_backend.fcounter_names("POSIX")
COMPONENT_COUNTERS = 7  # of a file's layout: stripe size, count, pattern, flags, begin, end, mirror


def library():
    folder = pathlib.Path(darshan.__file__).parent.parent / "darshan.libs"
    found = sorted(folder.glob("libdarshan-util*"))
    if not found:
        raise ImportError(f"{folder} has no libdarshan-util")
    return ctypes.CDLL(str(found[0]))


class Job(ctypes.Structure):
    _fields_ = [("uid", ctypes.c_int64), ("start", ctypes.c_int64), ("start_ns", ctypes.c_int64),
                ("end", ctypes.c_int64), ("end_ns", ctypes.c_int64), ("processes", ctypes.c_int64),
                ("job", ctypes.c_int64), ("metadata", ctypes.c_char * JOB_METADATA_BYTES)]


class Mount(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_char * EXE_BYTES), ("path", ctypes.c_char * EXE_BYTES)]


class NameReference(ctypes.Structure):
    """An entry of a hash table of uthash; whoever walks over it follows `next` alone."""
    _fields_ = [("name", ctypes.c_void_p), ("table", ctypes.c_void_p), ("previous", ctypes.c_void_p),
                ("next", ctypes.c_void_p), ("others", ctypes.c_void_p * 3), ("lengths", ctypes.c_uint * 2)]


class PosixRecord(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint64), ("rank", ctypes.c_int64), ("counters", ctypes.c_int64 * len(POSIX_COUNTERS)),
                ("times", ctypes.c_double * len(POSIX_TIMES))]


class LustreRecord(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint64), ("rank", ctypes.c_int64), ("components", ctypes.c_int64),
                ("stripes", ctypes.c_int64), ("layout", ctypes.c_void_p), ("targets", ctypes.c_void_p)]


GET = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
PUT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
PRINT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p)


class Functions(ctypes.Structure):
    """What a module of a log is read, written and printed by; more members follow."""
    _fields_ = [("get", GET), ("put", PUT), ("print", PRINT)]


def functions_of(libutil, module):
    table = (ctypes.POINTER(Functions) * KNOWN_MODULES).in_dll(libutil, "mod_logutils")
    return table[module].contents


def good(code):
    if code < 0:
        raise RuntimeError("libdarshan-util has refused what it was to write")


def put_names(libutil, log, files):
    names, references = [], []
    for file in files:
        names.append(ctypes.create_string_buffer(file["id"].to_bytes(8, "little") + file["name"].encode() + b"\0"))
        references.append(NameReference(name=ctypes.addressof(names[-1])))
    for one, after in zip(references, references[1:]):
        one.next = ctypes.addressof(after)
    good(libutil.darshan_log_put_namehash(log, ctypes.byref(references[0])))


def put_posix(libutil, log, file):
    record = PosixRecord(id=file["id"], rank=file["rank"])
    for name, value in {"POSIX_OPENS": 1, "POSIX_WRITES": 64, "POSIX_BYTES_WRITTEN": file["written"],
                        "POSIX_RENAME_SOURCES": -1}.items():
        record.counters[POSIX_COUNTERS.index(name)] = value
    for name, value in {"POSIX_F_WRITE_START_TIMESTAMP": file["first"], "POSIX_F_WRITE_END_TIMESTAMP": file["last"],
                        "POSIX_F_CLOSE_END_TIMESTAMP": file["closed"], "POSIX_F_WRITE_TIME": file["seconds"],
                        "POSIX_F_META_TIME": 0.001}.items():
        record.times[POSIX_TIMES.index(name)] = value
    good(functions_of(libutil, POSIX).put(log, ctypes.addressof(record)))


def put_lustre(libutil, log, file):
    targets = file["targets"]
    bytes_of_layout = COMPONENT_COUNTERS * 8 + 16
    layout = (ctypes.c_char * (bytes_of_layout + 8 * len(targets)))()
    ctypes.memmove(layout, (ctypes.c_int64 * COMPONENT_COUNTERS)(1 << 20, len(targets), 0, 0, 0, -1, 0), 8 * COMPONENT_COUNTERS)
    ctypes.memmove(ctypes.addressof(layout) + bytes_of_layout, (ctypes.c_int64 * len(targets))(*targets), 8 * len(targets))
    record = LustreRecord(id=file["id"], rank=file["rank"], components=1, stripes=len(targets),
                          layout=ctypes.addressof(layout), targets=ctypes.addressof(layout) + bytes_of_layout)
    good(functions_of(libutil, LUSTRE).put(log, ctypes.addressof(record)))


def write_log(path, files, mount="/scratch", processes=2048):
    """`files`: dictionaries with id, rank, name, written, first, last, closed, seconds, targets ([]: not on Lustre)."""
    libutil = library()
    libutil.darshan_log_create.restype = ctypes.c_void_p
    log = ctypes.c_void_p(libutil.darshan_log_create(str(path).encode(), 0, 0))
    good(libutil.darshan_log_put_job(log, ctypes.byref(Job(uid=1000, start=1795420000, end=1795420800,
                                                           processes=processes, job=7, metadata=b"lib_ver=3.5.0\n"))))
    good(libutil.darshan_log_put_exe(log, b"./ior -F"))
    mounts = (Mount * 2)(Mount(b"lustre", mount.encode()), Mount(b"ext4", b"/"))
    good(libutil.darshan_log_put_mounts(log, mounts, 2))
    put_names(libutil, log, files)
    for file in files:
        put_posix(libutil, log, file)
    for file in files:
        if file["targets"]:
            put_lustre(libutil, log, file)
    libutil.darshan_log_close(log)


def print_log(path):
    """As darshan-parser does, whose counters this library prints."""
    libutil, log = library(), cffi_backend.log_open(path)
    if log["handle"] == cffi_backend.ffi.NULL:
        return 1
    job, names = cffi_backend.log_get_job(log), cffi_backend.log_get_name_records(log)
    mounts = sorted(cffi_backend.log_get_mounts(log), key=lambda mount: -len(mount[0]))
    print(f"# darshan log version: {job['log_ver']}\n# nprocs: {job['nprocs']}\n# run time: {job['run_time']:.4f}",
          flush=True)
    handle = int(cffi_backend.ffi.cast("uintptr_t", log["handle"]))
    for module in (POSIX, LUSTRE):
        functions = functions_of(libutil, module)
        while functions.get(handle, ctypes.byref(record := ctypes.c_void_p())) > 0:
            number = ctypes.cast(record, ctypes.POINTER(ctypes.c_uint64)).contents.value
            name = names[number]
            mount, kind = next(one for one in mounts if name.startswith(one[0]))
            functions.print(record, name.encode(), mount.encode(), kind.encode())
    ctypes.CDLL(None).fflush(None)
    return 0


if __name__ == "__main__":
    sys.exit(print_log(sys.argv[1]))
