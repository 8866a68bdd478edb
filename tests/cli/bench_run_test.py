#!/usr/bin/env python3
"""Goal: `forebay bench run` measures what its options say, verifies what comes back, and leaves nothing behind: neither
at its end, nor after a signal, nor of a job that it has killed.

Method: small rows on 2 and 3 ranks in a folder that holds a user's file; the JSON, CSV, tables and page of one run; a case
file; options that cannot be combined; SIGTERM in the middle.
"""

import csv
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = pathlib.Path(os.environ["FOREBAY_AGENT"])
ROOT = pathlib.Path(os.environ["FOREBAY_SOURCE_DIR"])


def bench(folder, *words, ranks=2, code=0):
    """By mpiexec, but for one rank."""
    launcher = ["mpiexec", "-n", str(ranks)] if ranks > 1 else []
    command = [*launcher, str(PROGRAM), "bench", "run", "--target", str(folder / "target"), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def staging(folder):
    return f"{folder}/staging,slots=1"


def measures(advice):
    """[(words, {measure: value})] of each row."""
    return [({one["name"]: one["value"] for one in row["setting"]}, {one["name"]: one["value"] for one in row["measures"]}, row["remarks"])
            for row in advice["rows"]]


def ways(folder):
    """Every way and layout; what cannot be combined is skipped and said."""
    done = bench(folder, "--size", "400K", "--data", "3xf4", "--sweep", "via=posix,mmap,mpiio,hdf5,dfs", "--sweep", "layout=shared,rank,groups:2",
                 "--sweep", "sync=independent,collective,collective:all", "--op", "write,read:cold,restart:2", "--repeats", 1, "--dumps", 3,
                 "--vary", "15%", "--mem", "aos", "--json", ranks=3)
    rows = measures(json.loads(done.stdout))
    assert len(rows) == 45, len(rows)
    for words, values, remarks in rows:
        skipped = words["via"] in ("hdf5", "dfs") or words["via"] != "mpiio" and words["sync"] != "independent"
        if words["via"] == "hdf5" and not skipped or words["via"] == "hdf5" and values:
            continue  # a build with parallel HDF5
        assert skipped == (not values), (words, remarks)
        assert skipped == any(remark.startswith("skipped: ") for remark in remarks), (words, remarks)
        for rate in ("write", "read", "restart"):
            assert skipped or values[f"{rate}_rate_bytes_per_second"] > 0, (words, values)
    return rows


def of_forebay(folder):
    rows = measures(json.loads(bench(folder, "--via", "forebay", "--size", "400K", "--nodes", 2, "--sweep", "layout=shared,node,groups:1",
                                     "--sweep", "data=particles,palm", "--stage", staging(folder), "--op", "write,read:cold,restart:2",
                                     "--repeats", 1, "--dumps", 2, "--json", ranks=3).stdout))
    assert len(rows) == 6
    for words, values, _ in rows:
        assert values["visible_seconds"] > 0 and values["drain_rate_bytes_per_second"] > 0, (words, values)
        assert values["restart_rate_bytes_per_second"] > 0, (words, values)
        assert words["nodes"] == "2" and words["ranks"] == "3", words


def killed(folder):
    rows = measures(json.loads(bench(folder, "--sweep", "via=posix,forebay", "--size", "400K", "--op", "write,kill,restart:1", "--dumps", 3,
                                     "--repeats", 1, "--json").stdout))
    for words, values, _ in rows:
        assert values["lost_saves"] in (0, 1) and "write_rate_bytes_per_second" not in values, (words, values)


def told(folder):
    """One run in every form."""
    page, table = folder / "page.html", folder / "table.csv"
    done = bench(folder, "--size", "300K", "--sweep", "xfer=64K,100K", "--op", "write,read,metadata", "--tree", "n=20:z=1:b=2", "--repeats", 3,
                 "--mem", "block", "--out", "ior", "--out", f"html={page}", "--out", f"csv={table}")
    assert len(re.findall(r"^write +[0-9.]+ ", done.stdout, re.M)) == 2 * 3 + 2, done.stdout
    assert len(re.findall(r"^   File creation +[0-9.]+ +[0-9.]+", done.stdout, re.M)) == 2, done.stdout
    lines = list(csv.DictReader(io.StringIO("".join(line + "\n" for line in table.read_text().splitlines() if not line.startswith("#")))))
    writes = [line for line in lines if line["measure"] == "write_rate_bytes_per_second"]
    assert [line["samples"] for line in writes] == ["3", "3"] and writes[0]["ratio"] == "1", writes
    for line in lines:
        assert float(line["min"]) <= float(line["interval_low"]) <= float(line["median"]) <= float(line["interval_high"]) <= float(line["max"]), line
    text = page.read_text()
    assert text.count("<svg") >= 4 and "http" not in text.replace("http-equiv", "") and "<script" not in text, text[:2000]
    page.unlink()
    table.unlink()


def cases(folder):
    """Each case file is understood; its published figures stand beside ours."""
    for case in sorted(path for path in (ROOT / "bench/cases").glob("*.toml") if not path.name.startswith("plan-")):
        advice = json.loads(bench(folder, "--case", case, "--scale", "0.0001", "--repeats", 1, "--sweep", "dumps=1", "--tree", "n=10", "--json").stdout)
        published = [one for row in advice["rows"] for one in row["measures"] if one["name"].startswith("published_")]
        assert published and all(one["origin"] == "given" and one["from"] for one in published), case
        assert any(key["name"] == "source" for key in advice["key"]), case


def refused(folder):
    for words, code, text in [(["--sync", "collective"], 2, "posix has no collective calls"), (["--via", "dfs"], 6, "no libdfs"),
                              (["--size", "much"], 2, "--size is not understood"), (["--sweep", "speed=1"], 2, "--sweep speed=1"),
                              (["--out", "xml"], 2, "--out is not understood"), (["--ranks", "9"], 2, "9 ranks are wanted"),
                              (["--op", "write,restart:5"], 2, "wants more ranks")]:
        done = bench(folder, *words, ranks=1, code=code)
        assert text in done.stderr, done


def interrupted(folder):
    """A signal in the middle: what was made is gone, what was there is not."""
    command = [str(PROGRAM), "bench", "run", "--target", str(folder / "target"), "--size", "8M", "--dumps", "1000", "--via", "forebay", "--stage",
               staging(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
        end = time.monotonic() + 60
        while not list((folder / "staging").glob("forebay-bench-*/*")):
            assert time.monotonic() < end and running.poll() is None, running.stderr.read()
            time.sleep(0.05)
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == -signal.SIGTERM


def main():
    if not PROGRAM.with_name("forebay-mpi").exists() or not shutil.which("mpiexec"):
        print("skipped: a build without MPI, or no mpiexec")
        return 77
    os.environ["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
    with tempfile.TemporaryDirectory(prefix="forebay-bench-run-", dir="/dev/shm") as scratch:
        folder = pathlib.Path(scratch)
        own = folder / "target/r0-0-0-0"
        own.parent.mkdir()
        (folder / "staging").mkdir()
        own.write_text("a user's", encoding="ascii")
        before = sorted(folder.rglob("*"))
        for story in (ways, of_forebay, killed, told, cases, refused, interrupted):
            story(folder)
            assert sorted(folder.rglob("*")) == before, (story, sorted(folder.rglob("*")))
        assert own.read_text(encoding="ascii") == "a user's"
    return 0


if __name__ == "__main__":
    sys.exit(main())
