"""Reads RUN/forebay/timings-*.bin by docs/formats/timings.md alone."""

import json
import pathlib
import struct

MAGIC = b"FBTIMES1"
HEAD = struct.Struct("<8sIIII")
TIMING = struct.Struct("<QIIHHI")


def batches_of(data):
    """The batches of one file, whole and in a row; each a dictionary, its timings under "timings"."""
    at = 0
    while at < len(data):
        magic, text_bytes, timings, _, _ = HEAD.unpack_from(data, at)
        if magic != MAGIC:
            raise ValueError(f"no batch at {at}")
        at += HEAD.size
        batch = json.loads(data[at:at + text_bytes])
        at += text_bytes
        batch["timings"] = list(TIMING.iter_unpack(data[at:at + timings * TIMING.size]))
        at += timings * TIMING.size
        yield batch


def batches_of_run(run):
    return [batch for path in sorted(pathlib.Path(run, "forebay").glob("timings-*.bin"))
            for batch in batches_of(path.read_bytes())]
