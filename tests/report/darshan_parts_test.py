"""Goal: the rule over Darshan logs names the slow target of a made log, and nothing in a healthy one. Lines of
darshan-parser become the right files, and absurd numbers become nothing. Servers are found in what lctl prints.

Method: made logs of 24 targets whose rates spread as on a busy system, three seeds of each kind; lines and texts by hand.
"""

import os
import pathlib
import random
import sys

ROOT = pathlib.Path(os.environ.get("FOREBAY_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(ROOT / "src/bindings/python/forebay"), str(ROOT / "tests/support")]
import darshan_log  # noqa: E402
import darshan_report  # noqa: E402
import darshan_rule  # noqa: E402
from forebay_test import expect  # noqa: E402

SEEDS, TARGETS, TARGET_RATE, FILE_BYTES = 3, 24, 1.5e9, 256 << 20


def made_files(seed, files=1024, stripes=1, slow=None, slow_ratio=0.02, noise=0.15, late=0.1, bursts=1):
    """A target writes one file of its own after another. A file on several targets is as late as the slowest of its
    parts. Bursts come one after the other, 1000 s apart."""
    chance, free, made = random.Random(seed), [0.0] * TARGETS, []
    for i in range(files):
        begin = 1 + 1000.0 * (i * bursts // files)
        file = darshan_log.File("/scratch", [], written=FILE_BYTES, first=begin)
        for stripe in range(stripes):
            target = (i + stripe * 7) % TARGETS
            rate = TARGET_RATE * chance.lognormvariate(0, noise) * (slow_ratio if target == slow else 1)
            took = FILE_BYTES / stripes / rate * (2 if chance.random() < late else 1)
            free[target] = max(free[target], begin) + took
            file.targets.append(target)
            file.last, file.seconds = max(file.last, free[target]), max(file.seconds, took)
        made.append(file)
    return made


def slow_in(files):
    return [target["target"] for mount in darshan_rule.judge(files) for target in mount["targets"] if target["slow"]]


def check_rule():
    kinds = [{}, {"files": 48}, {"files": 200, "noise": 0.3, "late": 0.2}, {"stripes": 4}, {"files": 240, "stripes": 24},
             {"bursts": 8}, {"files": 24}]
    for seed in range(SEEDS):
        for kind in kinds:
            expect(slow_in(made_files(seed, **kind)) == [], "a healthy log names nothing", (seed, kind))
        for kind in ({"slow_ratio": 0.02}, {"slow_ratio": 0.5}, {"slow_ratio": 0.1, "bursts": 8}, {"slow_ratio": 0.1, "stripes": 4}):
            expect(slow_in(made_files(seed, slow=3, **kind)) == [3], "the slow one is named alone", (seed, kind))
        patient = made_files(seed)
        for file in patient:
            file.seconds *= 4 if file.targets[0] == 5 else 1
        expect(slow_in(patient) == [], "a target that is done with the others is not slow", seed)
    mount, = darshan_rule.judge(made_files(1, slow=14))
    first = mount["targets"][0]
    expect(first["target"] == 14 and 0.005 < first["ratio"] < 0.05 and first["correlation"] < -0.3, "its numbers", first)
    expect(20 < mount["seconds"] / mount["seconds_without"] < 60, "what it is worth", mount)
    expect(mount["setstripe"] == "lfs setstripe -c 23 -o 0-13,15-23 DIRECTORY", "how to leave it out", mount)
    mount, = darshan_rule.judge(made_files(1, files=240, stripes=24, slow=3))
    expect(not mount["told_apart"], "files on all targets tell none of them apart")
    small = [darshan_log.File("/scratch", [5], written=1000, first=1, last=900, seconds=5) for _ in range(40)]
    home = [darshan_log.File("/home", [i], written=1 << 30, first=1, last=2, seconds=1) for i in range(24)]
    mounts = darshan_rule.judge([*made_files(7, slow=14), *small, *home])
    expect([mount["mount"] for mount in mounts] == ["/home", "/scratch"] and mounts[1]["small_files"] == 40, "each mount apart")
    expect(slow_in([*made_files(7, slow=14), *small]) == [14], "small files count for nothing")
    odd = [darshan_log.File("", [0], written=1, first=3, last=3),
           darshan_log.File("", [1, 1, 1], written=2**64 - 1, first=0, last=1e9, seconds=1e9)]
    expect(darshan_rule.judge([]) == [] and slow_in(odd[:1]) == [] and slow_in(odd) == [], "little or nothing is judged")
    ranges = [darshan_rule.ranges_of(numbers) for numbers in ([], [3], [0, 1, 2, 4, 7, 8])]
    expect(ranges == ["", "3", "0-2,4,7-8"], "ranges as lfs takes them", ranges)


def parsed(lines):
    log = darshan_log.Log("by hand")
    for line in lines:
        if line.startswith("#"):
            darshan_log.take_head(log, line)
        elif columns := darshan_log.columns_of(line):
            darshan_log.take_columns(log, *columns)
    return log


def check_lines():
    log = parsed(["# nprocs: 2048", "# run time: 779.5000", "# *WARNING*: The POSIX module contains incomplete data!", "",
                  "POSIX\t-1\t1\tPOSIX_BYTES_WRITTEN\t100\t/s/a\tb\t/s\tlustre",
                  "POSIX\t-1\t1\tPOSIX_F_WRITE_START_TIMESTAMP\t1.5\t/s/a\t/s\tlustre",
                  "POSIX\t-1\t1\tPOSIX_F_WRITE_END_TIMESTAMP\t2.5\t/s/a", "POSIX\t-1\t1\tPOSIX_F_WRITE_END_TIMESTAMP\t2.5\t/s/a\t",
                  "POSIX\t-1\t1\tPOSIX_F_WRITE_TIME\t900.0\t/s/a\t/s\tlustre",
                  "POSIX\t-1\t1\tPOSIX_F_SLOWEST_RANK_TIME\t0.9\t/s/a\t/s\tlustre",
                  "LUSTRE\t-1\t1\tLUSTRE_OST_ID_0\t14\t/s/a\t/s\tlustre",
                  "LUSTRE\t-1\t1\tLUSTRE_COMP1_OST_ID_1\t3\t/s/a\t/s\tlustre",
                  "MPIIO\t0\t1\tMPIIO_BYTES_WRITTEN\t1\t/s/a\t/s\tlustre", "POSIX\t0\t2\tPOSIX_BYTES_WRITTEN\t5\t/tmp/x\t/\text4",
                  "POSIX\tx\ty\tPOSIX_BYTES_WRITTEN\t5\t/tmp/x\t/\text4"])
    files, elsewhere, only_read, _ = log.files()
    expect((log.processes, log.seconds, log.partial, elsewhere, only_read) == (2048, 779.5, True, 1, 0), "the head", vars(log))
    expect(files == [darshan_log.File("/s", [14, 3], 0, 100, 1.5, 2.5, 0.9)], "of the slowest rank, not of all together", files)
    log = parsed(["STDIO\t0\t1\tSTDIO_BYTES_WRITTEN\t30\t/s/a\t/s\tlustre", "STDIO\t0\t1\tSTDIO_F_WRITE_START_TIMESTAMP\t1.0\t/s/a\t/s\tlustre",
                  "STDIO\t0\t1\tSTDIO_F_WRITE_END_TIMESTAMP\t3.0\t/s/a\t/s\tlustre", "POSIX\t0\t1\tPOSIX_BYTES_WRITTEN\t12\t/s/a\t/s\tlustre",
                  "POSIX\t0\t1\tPOSIX_F_WRITE_START_TIMESTAMP\t2.0\t/s/a\t/s\tlustre",
                  "POSIX\t0\t1\tPOSIX_F_WRITE_END_TIMESTAMP\t4.0\t/s/a\t/s\tlustre", "STDIO\t0\t7\tSTDIO_BYTES_WRITTEN\t99\t<STDOUT>\tUNKNOWN\tUNKNOWN",
                  "POSIX\t0\t2\tPOSIX_BYTES_READ\t500\t/s/b\t/s\tlustre", "LUSTRE\t0\t1\tLUSTRE_OST_ID_0\t4\t/s/a\t/s\tlustre",
                  "LUSTRE\t0\t2\tLUSTRE_OST_ID_0\t5\t/s/b\t/s\tlustre"])
    files, elsewhere, only_read, only_read_bytes = log.files()
    expect(files == [darshan_log.File("/s", [4], 0, 42, 1.0, 4.0, 0)], "fwrite() counts beside POSIX calls", files)
    expect((elsewhere, only_read, only_read_bytes) == (0, 1, 500), "what was only read is told apart")
    log = darshan_log.Log("absurd")
    log.add_stripes(1, "/s", [-1, 1 << 32, 2])
    for rank, written, first, last in ((0, -1, 0, 1), (1, 1e300, float("nan"), 5), (2, 10, 5, 4)):
        log.access(1, rank, "POSIX").update({"BYTES_WRITTEN": written, "F_WRITE_START_TIMESTAMP": first,
                                            "F_WRITE_END_TIMESTAMP": last, "F_WRITE_TIME": float("inf")})
    files = log.files()[0]
    expect(files == [darshan_log.File("/s", [2], 0, 10**18, 0, 5, 0)], "absurd numbers are nothing", files)


def check_servers():
    servers = darshan_report.servers_in(
        "osc.scratch-OST0000-osc-ffff8800.ost_conn_uuid=10.1.1.2@o2ib\n"
        " 9 UP osc scratch-OST000e-osc-ffff8800 4b546a5e-c1e2 4 10.1.1.3@o2ib4\r\n  1 UP mgc MGC10.1.1.1@o2ib 12345 4\n"
        "scratch-OSTzzzz 10.1.1.9@o2ib\nOST1 1@x\nOST0003 nothing\n\nOST0001 10.1.1.2@o2ib")
    expect(servers == {0: "10.1.1.2@o2ib", 1: "10.1.1.2@o2ib", 14: "10.1.1.3@o2ib4"}, "both commands of lctl", servers)
    targets = [{"target": i, "files": 10, "bytes": 100, "seconds": 1.0 + i, "ratio": 0.1 if i in (0, 1, 4) else 1.0,
                "slow": i in (0, 1, 4)} for i in range(8)]
    rows = darshan_report.by_server({"targets": targets}, {0: "a", 1: "a", 2: "a", 3: "a", 4: "b", 5: "b", 6: "c"})
    expect([row["slow"] for row in rows] == [True, False, False, False], "one slow target is that target's fault", rows)
    expect(rows[0] == {"name": "a", "targets": 4, "slow_targets": 2, "files": 40, "bytes": 400, "seconds": 4.0, "ratio": 0.55,
                       "slow": True}, "of half of its targets a server is slow", rows[0])


if __name__ == "__main__":
    check_rule()
    check_lines()
    check_servers()
