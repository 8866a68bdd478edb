#!/usr/bin/env python3
"""Ten million entries through every verb: rate, and memory at its highest. Run by hand, where there is memory for it: a
tmpfs needs some 1 KB for each, in the source and in the copy, and more inodes than it has by default (mount -o nr_inodes=0).

    bench/movers/many.py [--entries 10000000] [--place /dev/shm] [--threads 16] [--in-folder 10000] [--of files]

Method: folders of `--in-folder` empty files each, by as many processes as there are threads; with `--of links` each file has
a name in the first half of the folders and one in the second, with `--of folders` all entries are empty folders in one. Then
each verb once, the sync twice. Of a verb its entries a second, its MB, and its bytes of memory an entry beyond those for an
empty tree. Tables that are too large for memory are files in TMPDIR.
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "transfer/tests/trees"))

import peak  # pylint: disable=wrong-import-position


def fill(work):
    """A folder of files, or of further names for the files of another folder."""
    folder, first, files = work
    os.mkdir(folder)
    fd = os.open(folder, os.O_RDONLY)
    for number in range(files):
        name = f"{number:07}"
        if first:
            os.link(first / name, name, dst_dir_fd=fd)
        else:
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=fd))
    os.close(fd)


def make(place, given):
    place.mkdir()
    if given.of == "folders":
        for number in range(given.entries):
            os.mkdir(place / f"{number:08}")
        return
    files = given.entries // (2 if given.of == "links" else 1)
    folders = [(place / f"a{number:06}", None, min(given.in_folder, files - at))
               for number, at in enumerate(range(0, files, given.in_folder))]
    # Second names come when all first ones are there: a listing has them far from each other.
    again = [(place / f"b{number:06}", first, count) for number, (first, _, count) in enumerate(folders)]
    with multiprocessing.Pool(given.threads) as pool:
        for work in (folders, again if given.of == "links" else ()):
            for _ in pool.imap_unordered(fill, work):
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
    parser.add_argument("--of", choices=["files", "links", "folders"], default="files")
    parser.add_argument("--place", type=pathlib.Path, default="/dev/shm")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="forebay-many-", dir=given.place) as scratch:
        place = pathlib.Path(scratch)
        source, target, empty = place / "source", place / "target", place / "empty"
        empty.mkdir()
        begin = time.perf_counter()
        make(source, given)
        print(f"made {given.entries} entries in {time.perf_counter() - begin:.1f} s", flush=True)
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
