"""Goal: `forebay report --darshan` names the slow target of a Darshan log, and none where all are well.

Method: logs written by Darshan's own functions (darshan_made.py) with 24 targets of 85 or 86 files each, one of them at
0.02 of the rate, and as a Darshan on a real machine has left them: PyDarshan's wheel has one such log, of a job that
waited 43 times as long for one target. Read by PyDarshan, and by what darshan-parser prints.
"""

import json
import os
import pathlib
import random
import stat
import sys
import tempfile

from forebay_test import all_of_forebay, expect, forebay

try:
    import darshan
    import darshan_made
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

FILE_BYTES, TARGET_RATE, TARGETS, FILES, SLOW = 256 << 20, 1.5e9, 24, 2048, 14
REAL_LOG = pathlib.Path(darshan.__file__).parent / "tests" / "input" / "sample-badost.darshan"
HOSTILE = "/scratch/\x1b[31m<b>\nPOSIX\t0\t1\tPOSIX_BYTES_WRITTEN\t9\t/x\t/scratch\tlustre\n"


def made_files(seed, slow_ratio=1.0, name="/scratch/dump.{}"):
    """A file a process, in turns over the targets, each of which writes its files one after the other; closed by all
    when the last one is written."""
    chance, free, files = random.Random(seed), [0.5] * TARGETS, []
    for rank in range(FILES):
        target = rank % TARGETS
        rate = TARGET_RATE * chance.lognormvariate(0, 0.15) * (slow_ratio if target == SLOW else 1)
        seconds = FILE_BYTES / rate * (2 if chance.random() < 0.1 else 1)
        free[target] += seconds
        files.append({"id": chance.getrandbits(63), "rank": rank, "name": name.format(rank), "written": FILE_BYTES,
                      "first": 0.5, "last": free[target], "seconds": seconds, "targets": [target]})
    end = max(free) + 1
    return [file | {"closed": end} for file in files]


def report(log, *arguments, code=0, **options):
    return forebay("report", "--darshan", log, "--python", sys.executable, *arguments, code=code, **options)


def judged(log, **options):
    found = json.loads(report(log, "--json", **options))
    expect(len(found["mounts"]) == 1, "one file system", found["mounts"])
    return found, found["mounts"][0]


def check_slow(log, **options):
    found, mount = judged(log, **options)
    expect(mount["slow"] == [SLOW] and len(mount["targets"]) == TARGETS, "the slow target, and no other", mount["slow"])
    first = mount["targets"][0]
    expect(first["target"] == SLOW and first["name"] == "OST000e" and first["slow"], "is named first", first)
    expect(0.01 < first["ratio"] < 0.05 and first["correlation"] < -0.3, "with its ratio and its correlation", first)
    expect(mount["setstripe"] == "lfs setstripe -c 23 -o 0-13,15-23 DIRECTORY", "and how to leave it out", mount)
    expect(10 < mount["seconds"] / mount["seconds_without"] < 80, "and what that is worth", mount)
    return found, first


def check_servers(directory, log):
    table = directory / "servers"
    table.write_text("".join(f"osc.s-OST{target:04x}-osc-ff.ost_conn_uuid=10.0.0.{target // 6}@o2ib\n"
                             for target in range(TARGETS)))
    found = json.loads(report(log, "--json", "--servers", table))["mounts"][0]
    expect(found["targets"][0]["server"] == "10.0.0.2@o2ib" and found["slow_servers"] == [], "a target has its server",
           found["targets"][0])
    text = report(log, "--servers", table)
    expect(text.index("10.0.0.2@o2ib") < text.index("OST000e"), "the table of servers stands first", text)
    expect("has no server for any target" in report(log, "--servers", darshan_made.__file__, code=2), "a file of none")


def check_real():
    if not REAL_LOG.exists():
        print(f"left out: {REAL_LOG} is not in this PyDarshan")
        return
    found, first = check_slow(REAL_LOG)
    mount = found["mounts"][0]
    expect(found["processes"] == 2048 and mount["bytes"] == 512 << 30, "the whole job", found)
    expect(abs(first["ratio"] - 0.0185) < 0.001 and abs(first["correlation"] + 0.703) < 0.001, "its known numbers", first)
    expect(abs(mount["seconds"] / mount["seconds_without"] - 43.3) < 0.5, "43 times as long", mount)
    text = report(REAL_LOG)
    for words in ("Target 14 (OST000e) is slow", "lfs setstripe -c 23 -o 0-13,15-23 DIRECTORY", "43.3 times as fast",
                  "read by PyDarshan"):
        expect(words in text, f"the text says '{words}'", text)
    others = REAL_LOG.parent / "sample-goodost.darshan"
    expect(judged(others)[1]["slow"] == [], "of a job without a slow target none is named")


def check_parser(directory, log):
    """The same by darshan-parser, where it is in PATH; its errors too."""
    folder = directory / "bin"
    folder.mkdir()
    parser = folder / "darshan-parser"
    parser.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{darshan_made.__file__}" "$@"\n')
    parser.chmod(parser.stat().st_mode | stat.S_IXUSR)
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    by_python, by_parser = judged(log)[0], check_slow(log, env=environment)[0]
    expect(by_parser.pop("reader") == "darshan-parser" and by_python.pop("reader").startswith("PyDarshan"), "who has read")
    for one, other in zip(by_python["mounts"][0].pop("targets"), by_parser["mounts"][0].pop("targets")):
        expect(all(value == other[key] or abs(value - other[key]) < 1e-3 * abs(value) for key, value in one.items()),
               "both say the same of a target", (one, other))
    for one in (by_python, by_parser):
        for key in ("seconds", "seconds_without", "median_rate"):  # a parser prints six digits
            one["mounts"][0][key] = f"{one['mounts'][0][key]:.3g}"
    expect(by_python == by_parser, "and of all", (by_python, by_parser))
    check_slow(directory / "hostile.darshan", env=environment)
    parser.write_text("#!/bin/sh\necho 'Error: it is torn\x1b[31m' >&2\nexit 1\n")
    text = all_of_forebay("report", "--darshan", log, code=4, env=environment)
    expect("darshan-parser says 'Error: it is torn" in text and "\x1b" not in text, "its errors are told", text)


def check_refused(directory, log):
    torn = directory / "torn.darshan"
    torn.write_bytes(log.read_bytes()[:-2000])
    expect("libdarshan-util says" in report(torn, code=4), "a log that is torn")
    (directory / "text").write_text("no log\n")
    expect("cannot open this log" in report(directory / "text", code=4), "a file that is none")
    expect("No such file" in report(directory / "nothing", code=3), "a file that is not there")
    text = forebay("report", "--darshan", log, "--python", "/usr/bin/python3", code=6,
                   env={**os.environ, "PYTHONPATH": "/nowhere", "PYTHONNOUSERSITE": "1"})
    expect("pip install darshan" in text, "without a reader it says how to get one", text)
    text = forebay("report", "--darshan", log, "--python", "no-such-python", code=6)
    expect("pip install darshan" in text, "without an interpreter too", text)
    elsewhere = directory / "elsewhere.darshan"
    darshan_made.write_log(elsewhere, [file | {"targets": [], "name": f"/tmp/{file['rank']}"} for file in made_files(1)[:50]])
    expect("has no targets for" in report(elsewhere, code=6), "a job that has written elsewhere")


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-darshan-") as scratch:
        directory = pathlib.Path(scratch).resolve()
        log = directory / "slow.darshan"
        darshan_made.write_log(log, made_files(1, 0.02))
        check_slow(log)
        for seed in (2, 3, 4):
            healthy = directory / f"healthy{seed}.darshan"
            darshan_made.write_log(healthy, made_files(seed))
            expect(judged(healthy)[1]["slow"] == [], "a healthy log names none")
            expect("No target is slow." in report(healthy), "and says so")
        hostile = directory / "hostile.darshan"
        darshan_made.write_log(hostile, made_files(5, 0.02, HOSTILE + "{}"), mount="/scratch/\x1b[31m<b>")
        check_slow(hostile)
        expect("\x1b" not in report(hostile), "names command no terminal")
        check_servers(directory, log)
        check_real()
        check_refused(directory, log)
        check_parser(directory, log)


if __name__ == "__main__":
    main()
