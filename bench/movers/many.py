#!/usr/bin/env python3
"""Ten million empty files through every verb: rate, and memory at its highest. Run by hand, where there is memory for it: a
tmpfs needs some 1 KB for each, in the source and in the copy.

    bench/movers/many.py [--entries 10000000] [--place /dev/shm] [--threads 16] [--in-folder 10000]

Method: folders of `--in-folder` files each, by as many processes as there are threads; then each verb once, the sync twice.
Of a verb its entries a second, its MB, and its bytes of memory an entry beyond those for an empty tree.
"""

import argparse
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import ways

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/trees"))

import peak  # pylint: disable=wrong-import-position


def fill(work):
    folder, files = work
    os.mkdir(folder)
    fd = os.open(folder, os.O_RDONLY)
    for number in range(files):
        os.close(os.open(f"{number:07}", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=fd))
    os.close(fd)


def make(place, entries, in_folder, processes):
    place.mkdir()
    with multiprocessing.Pool(processes) as pool:
        folders = [(place / f"{number:06}", min(in_folder, entries - at)) for number, at in enumerate(range(0, entries, in_folder))]
        for _ in pool.imap_unordered(fill, folders):
            pass


def verbs(source, target, threads):
    yield "walk", ("walk", source)
    yield "copy", ("copy", source, target)
    yield "sync, first", ("sync", source, target)
    yield "sync, second", ("sync", source, target, "--delete")
    yield "compare", ("compare", source, target)
    yield "delete", ("delete", target)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=10_000_000)
    parser.add_argument("--in-folder", type=int, default=10_000)
    parser.add_argument("--place", type=pathlib.Path, default="/dev/shm")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="forebay-many-", dir=given.place) as scratch:
        place = pathlib.Path(scratch)
        source, target, empty = place / "source", place / "target", place / "empty"
        empty.mkdir()
        begin = time.perf_counter()
        make(source, given.entries, given.in_folder, given.threads)
        print(f"made {given.entries} files in {time.perf_counter() - begin:.1f} s", flush=True)
        for (label, words), (_, empty_words) in zip(verbs(source, target, given.threads), verbs(empty, place / "other", given.threads)):
            options = ("--threads", given.threads)
            least = peak.run((ways.PROGRAM, *empty_words, *options))[1]
            begin = time.perf_counter()
            code, used = peak.run((ways.PROGRAM, *words, *options))
            seconds = time.perf_counter() - begin
            if code:
                raise SystemExit(f"bench/movers: forebay {' '.join(map(str, words))} exits with {code}")
            print(f"{label:14} {given.entries / seconds / 1e3:8.0f} k/s  {used / 1e6:7.1f} MB  {(used - least) / given.entries:6.2f} B an entry",
                  flush=True)
        subprocess.run(["rm", "-rf", source], check=True)


main()
