"""Goal: on Lustre new files have the layout of --layout and --exclude-targets from their first byte on. Files that
exist only in an archive are not touched without --recall. This was never tried on a real Lustre; it follows the header
and the source of its client.

Method: two mounts of striped_fs. It accepts and reports layouts like Lustre, refuses bytes for a file without objects,
counts opens and recalls files that are read. The test decodes layouts without code of forebay.
"""

import json
import os
import struct
import sys
import tempfile
from collections import Counter, namedtuple
from pathlib import Path

import machine
from machine import expect, forebay

TARGETS, STRIPE, RATE = 8, 65536, 10**12
ALL = 65535
MDT = 0x100
Stretch = namedtuple("Stretch", "begin end pattern stripe count pool targets")


def plain_wish(count, stripe=0, pool="", pattern=1):
    head = struct.pack("<II16xIHH", 0x0BD30BD0 if pool else 0x0BD10BD0, pattern, stripe, count, 65535)
    return head + (pool.encode().ljust(16, b"\0") if pool else b"")


def composite_wish(*stretches):
    """A composite layout of (begin, end, plain layout)."""
    place = 32 + 48 * len(stretches)
    entries = blobs = b""
    for begin, end, plain in stretches:
        entries += struct.pack("<IIQQII16x", 0, 0, begin, end, place + len(blobs), len(plain))
        blobs += plain
    return struct.pack("<IIIHH16x", 0x0BD60BD0, place + len(blobs), 0, 0, len(stretches)) + entries + blobs


def plain_stretch(blob, begin=0, end=2**64 - 1):
    magic, pattern, stripe, count = struct.unpack_from("<II16xIH", blob)
    pool = blob[32:48].split(b"\0")[0].decode() if magic == 0x0BD30BD0 else ""
    objects = blob[48 if pool else 32:]
    targets = tuple(struct.unpack_from("<20xI", objects, at)[0] for at in range(0, len(objects), 24))
    return Stretch(begin, end, pattern, stripe, count, pool, targets)


def layout(path):
    blob = os.getxattr(path, "lustre.lov")
    if struct.unpack_from("<I", blob)[0] != 0x0BD60BD0:
        return [plain_stretch(blob)]
    found = []
    for i in range(struct.unpack_from("<H", blob, 14)[0]):
        begin, end, place, size = struct.unpack_from("<8xQQII", blob, 32 + 48 * i)
        found.append(plain_stretch(blob[place:place + size], begin, end))
    return found


def shape(path):
    """The layout without its targets, which differ between files."""
    return [(*stretch[:4], stretch.count, stretch.pool) for stretch in layout(path)]


def count(path):
    return layout(path)[0].count


def new_file(path, size, wish=None):
    """Makes a file with a layout, as `lfs setstripe` does."""
    os.mknod(path, 0o644)
    if wish:
        os.setxattr(path, "lustre.lov", wish)
    path.write_bytes(os.urandom(min(size, 5000)).ljust(size, b"x"))
    return path


def release(path):
    """The state after `lfs hsm_release`: exists, released, archived."""
    os.setxattr(path, "trusted.hsm", struct.pack("<IIQQ", 0, 1 | 4 | 8, 1, 1))


def opens(path):
    return int(os.getxattr(path, "lustre.opens"))


def told(*words, exit_code=0):
    return json.loads(forebay(*words, "--json", "--threads", 2, exit_code=exit_code))


def by_size(source, target):
    place = source / "sizes"
    place.mkdir()
    stripes = {10: 1, 65536: 1, 65537: 4, 262144: 4, 262145: 8, 70 << 20: 8}  # the last file is copied in pieces
    for size in stripes:
        new_file(place / str(size), size)
    about = told("copy", place, target / "sizes", "--layout", "64K:1,256K:4,-1")
    found = {int(path.name): count(path) for path in (target / "sizes").iterdir()}
    expect(found == stripes, "files have stripes by their sizes", found)
    expect(about["laid_out"] == len(stripes) and about["fewer_stripes"] == 0, "and the report counts them", about)
    forebay("compare", place, target / "sizes")
    # Stripes and pool come from the directory. The pool "first4" has four targets.
    (target / "pooled").mkdir()
    os.setxattr(target / "pooled", "lustre.lov", plain_wish(2, 131072, "first4"))
    about = told("copy", place, target / "pooled/sizes", "--layout", "65536:0,262144:3,8")
    found = {path.name: layout(path)[0] for path in (target / "pooled/sizes").iterdir()}
    expect({int(name): one.count for name, one in found.items()} == {10: 2, 65536: 2, 65537: 3, 262144: 3, 262145: 4, 70 << 20: 4},
           "0 leaves a file to its directory", found)
    expect(all(one.pool == "first4" and one.stripe == 131072 and max(one.targets) < 4 for one in found.values()),
           "in the pool and the stripes of its directory", found)
    expect(about["laid_out"] == 4 and about["fewer_stripes"] == 2, "files that get fewer stripes are counted", about)


def as_directory(source, target):
    place = source / "plain"
    place.mkdir()
    new_file(place / "file", 5000, plain_wish(5))
    wish = composite_wish((0, 1 << 20, plain_wish(1)), (1 << 20, 2**64 - 1, plain_wish(ALL)))
    (target / "composite").mkdir()
    os.setxattr(target / "composite", "lustre.lov", wish)
    for words in ([], ["--layout", "auto"], ["--layout", "default"]):
        about = told("copy", place, target / "composite/plain", *words)
        expect(shape(target / "composite/plain/file") == [(0, 1 << 20, 1, STRIPE, 1, ""), (1 << 20, 2**64 - 1, 1, STRIPE, ALL, "")],
               f"a new file lies as its directory says {words}", layout(target / "composite/plain/file"))
        expect(about["laid_out"] == 0, "and nothing was chosen for it", about)
        forebay("delete", target / "composite/plain")


def too_large_for_one(target):
    """Holes stay holes if the source reports them."""
    for name, wish in (("one", plain_wish(1)), ("two", plain_wish(2)), ("stubborn", plain_wish(1))):
        (target / name).mkdir()
        os.setxattr(target / name, "lustre.lov", wish)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as elsewhere:
        for name, size in (("small", 64 << 30), ("large", (128 << 30) + 1)):
            (Path(elsewhere) / name).touch()
            os.truncate(Path(elsewhere) / name, size)
        for name, words, expected in (("one", [], (1, 3)), ("one", ["--layout", "default"], (1, 1)), ("two", [], (2, 2)),
                                      ("stubborn", [], (1, 1))):
            about = told("copy", elsewhere, target / name / "copy", *words)
            found = tuple(count(target / name / "copy" / one) for one in ("small", "large"))
            expect(found == expected and about["laid_out"] == (3 in expected), f"{words} spreads files of more than 64 GiB of one stripe",
                   (name, found, about))
            forebay("delete", target / name / "copy")
    for name in ("one", "two", "stubborn"):
        (target / name).rmdir()


def as_source(source, target):
    place = source / "shapes"
    (place / "below").mkdir(parents=True)
    new_file(place / "plain", 5000, plain_wish(3, 262144))
    new_file(place / "pool", 5000, plain_wish(2, 65536, "first4"))
    new_file(place / "large", 65 << 20, plain_wish(5, 131072))
    new_file(place / "composite", 5000, composite_wish((0, 65536, plain_wish(0, 65536, pattern=MDT)), (65536, 1 << 30, plain_wish(2, 131072)),
                                                       (1 << 30, 2**64 - 1, plain_wish(ALL, 1 << 20, "first4"))))
    os.setxattr(place / "below", "lustre.lov", plain_wish(6, 196608))
    new_file(place / "below/file", 100)
    about = told("copy", place, target / "shapes", "--layout", "source")
    for name in ("plain", "pool", "large", "composite", "below", "below/file"):
        expect(shape(target / "shapes" / name) == shape(place / name), f"{name} lies as its source",
               (layout(target / "shapes" / name), layout(place / name)))
    expect(len(layout(target / "shapes/composite")) == 3 and count(target / "shapes/below/file") == 6 and about["laid_out"] == 5,
           "these are the layouts that were meant", about)
    forebay("compare", place, target / "shapes")
    # Existing files stay as they are. Directories that differ get the source's layout.
    os.setxattr(place / "below", "lustre.lov", plain_wish(7, 196608))
    told("sync", place, target / "shapes", "--layout", "source")
    expect(count(target / "shapes/below") == 7 and count(target / "shapes/below/file") == 6, "a sync lays nothing out anew")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as elsewhere:
        (Path(elsewhere) / "file").write_bytes(b"1")
        about = told("copy", elsewhere, target / "elsewhere", "--layout", "source")
        expect(about["laid_out"] == 0, "a source without layouts leaves files to their directory", about)


def without_targets(place, source, target):
    few = source / "few"
    few.mkdir()
    for number in range(36):
        new_file(few / str(number), 100, plain_wish(1))
    excluded = place / "exclude.targets"
    excluded.write_text("# of a preflight\nstriped-OST0002_UUID\nOST0005\n")
    about = told("copy", few, target / "few", "--layout", "1", "--exclude-targets", f"@{excluded}")
    found = Counter(one for path in (target / "few").iterdir() for one in layout(path)[0].targets)
    expect(found == {number: 6 for number in (0, 1, 3, 4, 6, 7)}, "files go round the targets that are left, each in its turn", found)
    expect(about["excluded_targets"] == ["OST0002", "OST0005"] and about["laid_out"] == 36, "which the report says", about)
    expect("new files do not use OST0002, OST0005" in forebay("copy", few, target / "few", "--exclude-targets", "2,5"),
           "to people, too")
    # Both processes use the same list.
    about = told("copy", few, target / "shared", "--exclude-targets", "0-4", "--hosts", "localhost", "--layout", "2")
    found = [layout(path)[0] for path in (target / "shared").iterdir()]
    expect(all(one.count == 2 and set(one.targets) < {5, 6, 7} for one in found) and about["laid_out"] == 36,
           "workers leave targets out, too", found)
    # Without --layout the directory decides the number of stripes, whatever its form.
    told("copy", few, target / "composite/few", "--exclude-targets", "1-6")
    found = layout(target / "composite/few/7")
    expect([(*one[:4], one.count, set(one.targets)) for one in found] ==
           [(0, 1 << 20, 1, STRIPE, 1, set(found[0].targets)), (1 << 20, 2**64 - 1, 1, STRIPE, 2, {0, 7})] and
           set(found[0].targets) < {0, 7}, "each stretch of a composite layout leaves them out", found)
    forebay("copy", few, target / "nowhere", "--exclude-targets", "0-7", exit_code=1)
    expect(not list((target / "nowhere").iterdir()), "where none is left, nothing is made")


def released_files(place, source, target):
    case = source / "case"
    case.mkdir()
    for name in ("here", "there", "large"):
        new_file(case / name, 5000 if name != "large" else 65 << 20, plain_wish(3))
    release(case / "there")
    release(case / "large")
    before = {name: opens(case / name) for name in ("there", "large")}
    left = lambda: {name: opens(case / name) for name in before} == before  # noqa: E731
    about = told("walk", case, "--list", place / "list", "--special")
    special = {one["path"]: one["released"] for one in map(json.loads, (place / "list").read_text().splitlines())}
    expect(about["released_files"] == 2 and special == {"there": True, "large": True}, "a walk counts and lists them", (about, special))
    for words in (["walk", case, "--checksums", place / "sums"], ["copy", case, target / "case"], ["sync", case, target / "case"],
                  ["sync", case, target / "case", "--dry-run"], ["copy", case, target / "case", "--layout", "source"],
                  ["archive", case, place / "case.tar"]):
        about = told(*words, exit_code=1)
        expect(about["remarks"]["released"] == 2 and about["remarks"]["failed"] == 0, f"{words[0]} names them", about)
    expect(sorted(path.name for path in (target / "case").iterdir()) == ["here"], "and does not copy them")
    expect(left(), "nobody has opened them")
    told("copy", case, target / "case", "--recall")
    opened = {name: opens(case / name) - before[name] for name in before}
    expect(opened == {"there": 1, "large": 2}, "--recall opens them: a large one once more, to look at it", opened)
    forebay("compare", case, target / "case")
    told("walk", case, "--checksums", place / "sums")
    release(case / "there")
    release(target / "case/large")
    before = {path: opens(path) for path in (case / "there", target / "case/large")}
    for words, released in ((["compare", case, target / "case"], 2), (["sync", case, target / "case", "--checksum"], 2),
                            (["compare", place / "sums", target / "case"], 1)):
        about = told(*words, exit_code=1)
        named = {kind: number for kind, number in about["remarks"].items() if number}
        expect(named == {"released": released}, f"{words[0]} names those whose bytes it needs", named)
    # These need only sizes and times.
    told("sync", case, target / "case")
    told("compare", case, target / "case", "--no-bytes")
    expect({path: opens(path) for path in before} == before, "nobody has opened them, on either side")


def what_cannot_be(source, target):
    few = source / "few"
    with tempfile.TemporaryDirectory(dir="/dev/shm") as elsewhere:
        for words in (["--layout", "1"], ["--layout", "source"], ["--exclude-targets", "3"]):
            forebay("copy", few, Path(elsewhere) / "copy", *words, exit_code=6)
        expect(not list(Path(elsewhere).iterdir()), "where nobody may choose, nothing is copied")
        for words in ([], ["--layout", "default"]):
            forebay("copy", few, Path(elsewhere) / "copy", *words)
    for words in ("", "1:1", "2:1,1:1,-1", "64Q:1,1", "1,1", "64M:1,", "1:1,2001", "1:1,-2", "mirror"):
        forebay("copy", few, target / "wrong", "--layout", words, exit_code=2)
    forebay("copy", few, target / "wrong", "--exclude-targets", "/dev/shm", exit_code=2)
    forebay("copy", few, target / "wrong", "--exclude-targets", "@/no/such/file", exit_code=3)
    expect(not (target / "wrong").exists(), "nothing was copied")
    # A file system that accepts a layout request and ignores it.
    (target / "stubborn").mkdir()
    about = told("copy", few, target / "stubborn/few", "--layout", "1", exit_code=1)
    expect(about["remarks"]["not_kept"] == 36 and not list((target / "stubborn/few").iterdir()), "what is not obeyed is seen", about)
    about = told("copy", few, target / "stubborn/few", "--layout", "1", "--cannot-keep", "drop", exit_code=1)
    expect(about["copied"] == 36 and count(target / "stubborn/few/3") == TARGETS, "and dropped where that is wished", about)
    forebay("compare", few, target / "stubborn/few")


def from_archive(place, source, target):
    few = source / "few"
    forebay("archive", few, place / "few.tar")
    forebay("restore-archive", place / "few.tar", target / "restored", "--layout", "3", "--exclude-targets", "0")
    found = [layout(path)[0] for path in (target / "restored").iterdir()]
    expect(len(found) == 36 and all(one.count == 3 and 0 not in one.targets for one in found), "a restore lays files out, too", found)
    forebay("restore-archive", place / "few.tar", target / "other", "--layout", "source", exit_code=2)
    forebay("restore-archive", place / "few.tar", "/dev/shm/forebay-no-layouts", "--layout", "3", exit_code=6)
    expect(not Path("/dev/shm/forebay-no-layouts").exists(), "where nobody may choose, nothing is restored")


def main():
    machine.need_striped_fs()
    with machine.scratch() as name:
        place = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(place / "cache")
        with machine.striped(place / "from", STRIPE, TARGETS, RATE) as (_, source, _), \
                machine.striped(place / "to", STRIPE, TARGETS, RATE) as (_, target, _):
            by_size(source, target)
            as_directory(source, target)
            too_large_for_one(target)
            as_source(source, target)
            without_targets(place, source, target)
            released_files(place, source, target)
            what_cannot_be(source, target)
            from_archive(place, source, target)


sys.dont_write_bytecode = True
main()
