#!/usr/bin/env python3
"""Goal: `forebay bench run` measures according to its options, verifies the data it reads, and leaves nothing behind,
neither at its end, nor after a signal, nor from a job that it killed.

Method: small rows on 2 and 3 ranks in a directory with a user's file. JSON, CSV, tables and page of one run; a case
file; options that exclude each other or differ between ranks; signals in the middle; two runs at once; a full disk;
remains of a killed run; names with markup.
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
    """Starts the bench, by mpiexec for more than one rank."""
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
    """Every way and layout. Impossible combinations are skipped with a remark."""
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
    """One run in every output form."""
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
    """Each case file is read, and its published figures appear beside ours."""
    for case in sorted(path for path in (ROOT / "bench/cases").glob("*.toml") if not path.name.startswith("plan-")):
        advice = json.loads(bench(folder, "--case", case, "--scale", "0.0001", "--repeats", 1, "--sweep", "dumps=1", "--tree", "n=10", "--json").stdout)
        published = [one for row in advice["rows"] for one in row["measures"] if one["name"].startswith("published_")]
        assert published and all(one["origin"] == "given" and one["from"] for one in published), case
        assert any(key["name"] == "source" for key in advice["key"]), case


def refused(folder):
    for words, code, text in [(["--sync", "collective"], 2, "posix has no collective calls"), (["--via", "dfs"], 6, "no libdfs"),
                              (["--via", "genericio"], 6, "no bench of GenericIO"), (["--repeats", "0"], 2, "--repeats must be 1 or more"),
                              (["--case", folder / "none.toml"], 3, "none.toml"),
                              (["--size", "much"], 2, "--size much: give an amount"), (["--sweep", "speed=1"], 2, "--sweep speed=1"),
                              (["--out", "xml"], 2, '--out "xml" is not valid'), (["--ranks", "9"], 2, "9 ranks are needed"),
                              (["--out", "json="], 2, "contains no file"), (["--out", f"json={folder}/none/x.json"], 3, "none"),
                              (["--out", f"csv={folder}/target/r0-0-0-0"], 2, "is no such file of forebay bench run"),
                              (["--op", "write,restart:5"], 2, "needs more ranks")]:
        done = bench(folder, *words, ranks=1, code=code)
        assert text in done.stderr and "Next: " in done.stderr, done
    # The bench makes only a missing last directory and removes it again; its parents belong to the user.
    done = bench(folder, "--sweep", f"target={folder}/none/deep", ranks=1, code=3)
    assert "none/deep cannot be made" in done.stderr and "Next: " in done.stderr, done
    bench(folder, "--sweep", f"target={folder}/none", "--size", "64K", "--repeats", 1, ranks=1)
    # Ranks with different options must not wait for one another.
    command = ["mpiexec"]
    for size in ("64K", "128K"):
        command += [*([":"] if len(command) > 1 else []), "-n", "1", str(PROGRAM), "bench", "run", "--target", str(folder / "target"), "--size", size]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2 and "ranks have different options" in done.stderr, done


def begun(folder, *words):
    """A run that goes on until a signal; yields when it has made a file."""
    command = [str(PROGRAM), "bench", "run", "--target", str(folder / "target"), "--size", "8M", "--dumps", "1000", *map(str, words)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 300
    while not list(folder.glob("*/forebay-bench-*/*")):
        assert time.monotonic() < end and running.poll() is None, running.stderr.read()
        time.sleep(0.05)
    return running


def interrupted(folder):
    """A signal in the middle: our files are gone, the user's file is not."""
    for number, words in ((signal.SIGTERM, ["--via", "forebay", "--stage", staging(folder)]), (signal.SIGINT, ["--durable", "fsync"])):
        with begun(folder, *words) as running:
            running.send_signal(number)
            assert running.wait(60) == -number, (running.returncode, running.stderr.read())


def left_behind(folder):
    """The next run reports and removes the remains of a killed run. It reports and keeps the files of a living run."""
    with begun(folder, "--via", "forebay", "--stage", staging(folder)) as running:
        done = bench(folder, "--size", "64K", "--repeats", 1, ranks=1)
        assert "belongs to a benchmark that runs now, process" in done.stderr, done.stderr
        running.kill()
        running.wait(60)
    assert list(folder.glob("*/forebay-bench-*")), "a killed one leaves its directories"
    other = folder / "target/forebay-bench-0000000000000000"
    other.mkdir()
    (other / ".forebay-bench").write_text("elsewhere\nboot\n17\n", encoding="ascii")
    done = bench(folder, "--size", "64K", "--repeats", 1, "--via", "forebay", "--stage", staging(folder), ranks=1)
    assert done.stderr.count("was left by a killed benchmark, process") == 2 and done.stderr.count("and is removed") == 2, done.stderr
    assert "belongs to a benchmark, process 17 on elsewhere: if it has ended, remove the directory" in done.stderr and other.exists(), done.stderr
    shutil.rmtree(other)


def at_once(folder):
    """Two runs make the same missing target and do not disturb each other."""
    both = [subprocess.Popen([str(PROGRAM), "bench", "run", "--target", str(folder / "target"), "--size", "1M", "--repeats", "2"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for one in both:
        _, errors = one.communicate(timeout=120)
        assert one.returncode == 0, errors


def as_root(folder):
    """As root, the job to be killed starts as root; otherwise the program says what it needs."""
    if os.geteuid() != 0:
        return
    bare = {name: value for name, value in os.environ.items() if not name.startswith("OMPI_ALLOW")}
    command = [str(PROGRAM), "bench", "run", "--target", str(folder / "target"), "--size", "64K", "--op", "write,kill,restart:1", "--dumps", "2",
               "--repeats", "1"]
    done = subprocess.run(["mpiexec", "--allow-run-as-root", "-n", "1", *command], capture_output=True, text=True, check=False, env=bare)
    assert done.returncode == 0, done
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=bare)
    assert done.returncode != 0 and "Next: set OMPI_ALLOW_RUN_AS_ROOT=1" in done.stderr, done


def full_disk(folder):
    """Missing space is reported as an error by every way; nothing stays."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return
    small = folder / "target/small"
    small.mkdir()
    script = 'mount -t tmpfs -o size=4M tmpfs "$1" && shift && "$@"; code=$?; ls -A "$0"; exit $code'
    for via, *words in (("posix",), ("mmap",), ("mpiio",), ("mpiio", "--sync", "collective"),
                        ("mpiio", "--sync", "collective:all", "--op", "write"), ("forebay",)):
        command = ["unshare", "--mount", "sh", "-c", script, str(small), str(small), "mpiexec", "-n", "2", str(PROGRAM), "bench", "run",
                   "--target", str(small), "--via", via, "--size", "8M", "--repeats", "1", *words]
        if via == "forebay":
            command += ["--stage", staging(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 5 and not done.stdout.strip(), (via, done)
    small.rmdir()


def markup(folder):
    """Names with HTML or CSV are plain text in the page and the table."""
    named = folder / 'target/<img src=x onerror="a">&b'
    named.mkdir()
    page, table = folder / "page.html", folder / "table.csv"
    words = ["--sweep", f"target={named};{folder}/target", "--size", "64K", "--repeats", 1]
    bench(folder, *words, "--out", f"html={page}", "--out", f"csv={table}", ranks=1)
    text = page.read_text(encoding="utf-8")
    assert "<img" not in text and "&lt;img" in text, text
    lines = list(csv.DictReader(line for line in table.read_text(encoding="utf-8").splitlines() if not line.startswith("#")))
    assert {str(named), f"{folder}/target"} <= {line["target"] for line in lines}, lines
    if shutil.which("tidy"):
        done = subprocess.run(["tidy", "-quiet", "-errors", "--warn-proprietary-attributes", "no", page], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    # The next run replaces its outputs, but not a user's file.
    bench(folder, *words, "--out", f"html={page}", "--out", f"csv={table}", ranks=1)
    page.unlink()
    table.unlink()
    named.rmdir()


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
        for story in (ways, of_forebay, killed, told, cases, refused, interrupted, left_behind, at_once, as_root, full_disk, markup):
            story(folder)
            assert sorted(folder.rglob("*")) == before, (story, sorted(folder.rglob("*")))
        assert own.read_text(encoding="ascii") == "a user's"
    return 0


if __name__ == "__main__":
    sys.exit(main())
