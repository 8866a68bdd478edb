"""Thins restart files of PALM to the files in this directory: thin.py SAMPLES

SAMPLES has the directories cbl and ue, each with BINOUT.mpi.gz and BINOUT.fortran.tgz. Names, sizes, headers, index
planes and counts stay. Of floats and random numbers in long arrays every 211th word stays; the rest becomes zero.
"""

import gzip
import io
import pathlib
import sys
import tarfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import palm_reader  # noqa: E402

LONG = 800  # bytes; shorter arrays stay
EVERY = 211  # a prime, so that the kept words spread over all levels


def thin(data, begin, end, kept=()):
    """Zeros, except every EVERYth word of 8 bytes and the words `kept`."""
    words = np.frombuffer(data, "<i8", (end - begin) // 8, begin)
    stay = np.zeros(words.size, bool)
    stay[::EVERY] = True
    stay[list(kept)] = True
    words[~stay] = 0


def thin_mpi(data):
    data = bytearray(data)
    file = palm_reader.MpiFile(bytes(data))
    for name, begin, end in file.arrays:
        if end - begin <= LONG or name in palm_reader.INDEXES:
            continue
        kept = []
        if pair := palm_reader.index_of(name):
            start = file.array(pair[0]).ravel() - 1
            elements = int(file.array(pair[1]).max())
            kept = np.concatenate([start + first for first in range(0, (end - begin) // 8, elements)])
        thin(data, begin, end, kept)
    return bytes(data)


def thin_fortran(data):
    data = bytearray(data)
    file = palm_reader.BinaryFile(bytes(data))
    for name, place, record in file.global_part + file.local_part:
        if len(record) > LONG and "_index" not in name:
            thin(data, place, place + len(record))
    return bytes(data)


def main(samples):
    for case in ("cbl", "ue"):
        whole = gzip.decompress((samples / case / "BINOUT.mpi.gz").read_bytes())
        (HERE / f"{case}.mpi.gz").write_bytes(gzip.compress(thin_mpi(whole), 9, mtime=0))
        plain = io.BytesIO()
        with tarfile.open(samples / case / "BINOUT.fortran.tgz") as old, tarfile.open(fileobj=plain, mode="w") as new:
            for member in sorted(old.getmembers(), key=lambda one: one.name):
                if not member.isfile():
                    continue
                thinned = thin_fortran(old.extractfile(member).read())
                # Removes all traces of the original machine.
                about = tarfile.TarInfo(pathlib.PurePath(member.name).name)
                about.size = len(thinned)
                new.addfile(about, io.BytesIO(thinned))
        (HERE / f"{case}.fortran.tgz").write_bytes(gzip.compress(plain.getvalue(), 9, mtime=0))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
