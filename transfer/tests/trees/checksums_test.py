"""Goal: a list of checksums that `forebay walk --checksums` writes is right, and `forebay compare LIST DIRECTORY` sees every
file that differs from it, is missing or is more; a list that was cut or spoiled is refused.

Method: tree TS, whose lists are computed again here, by a table of CRC32C of our own; then one byte, one length, one kind,
one missing and one new file; lists cut at every length of their last lines.
"""

import os
import pathlib
import re
import tempfile

import conformance
import make_tree
from forebay_test import FOREBAY, expect, run


def crc_table():
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
        table.append(number)
    return table


TABLE = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def read_list(path):
    """{path: (bytes, checksum)}"""
    title, *lines = path.read_bytes().split(b"\n")
    expect(title == b"# forebay checksums 1, CRC32C" and lines.pop() == b"", "a title, and a line end at the end")
    sums = {}
    for line in lines:
        crc, size, name = line.split(b" ", 2)
        name = re.sub(rb"\\(.)", lambda found: {b"n": b"\n", b"r": b"\r", b"\\": b"\\"}[found[1]], name)
        sums[name] = (int(size), int(crc, 16))
    expect(len(sums) == len(lines), "each file once")
    return sums


def check(listed, place, *words):
    """Exit code and what was said, without the counts."""
    done = run(FOREBAY, "compare", listed, place, *words, code=None)
    return done.returncode, done.stdout + done.stderr


def check_options(place):
    """What is compared of a list, and what cannot be: the same files whether they are in the list or in the tree."""
    tree, listed = place / "tree", place / "list"
    (tree / "a").mkdir(parents=True)
    for name in ("a/one", "a/two.tmp", "three.tmp", "four"):
        (tree / name).write_text(name)
    run(FOREBAY, "walk", tree, "--checksums", listed, "--hosts", "localhost,localhost")
    expect(set(read_list(listed)) == {b"a/one", b"a/two.tmp", b"three.tmp", b"four"}, "by several processes", listed.read_text())
    expect(check(listed, tree)[0] == 0, "and right")
    for name in ("a/two.tmp", "three.tmp"):
        (tree / name).unlink()
    (tree / "more.tmp").touch()
    code, said = check(listed, tree)
    expect(code == 1 and "two.tmp" in said and "more.tmp" in said, "all is compared", said)
    code, said = check(listed, tree, "--exclude", "*.tmp")
    expect(code == 0 and "2 entries" in said, "what is excluded is in neither", said)
    code, said = check(listed, tree, "--include", "*.tmp")
    expect(code == 1 and "2 only_source" in said and "1 only_target" in said, "what is included alone", said)
    (tree / "four").write_text("4our")
    expect(check(listed, tree, "--exclude", "*.tmp")[0] == 1, "bytes are compared")
    code, said = check(listed, tree, "--exclude", "*.tmp", "--no-bytes")
    expect(code == 0 and "0 B" in said, "without bytes sizes are", said)
    (tree / "four").write_text("longer")
    expect(check(listed, tree, "--exclude", "*.tmp", "--no-bytes")[0] == 1, "and tell")
    for words, wanted in ((("--preserve", "owner"), "no attributes"), (("--hosts", "localhost"), "only one process")):
        code, said = check(listed, tree, *words)
        expect(code == 2 and wanted in said, f"{words} is refused", said)


def main():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        source, listed = place / "source", place / "list"
        make_tree.make("TS", source, 0.3)
        make_tree.Maker(source).file("large", 3_000_000)
        run(FOREBAY, "walk", source, "--checksums", listed)
        sums = read_list(listed)
        root = os.fsencode(source)
        files = {os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names
                 if os.path.isfile(os.path.join(folder, name)) and not os.path.islink(os.path.join(folder, name))}
        expect(set(sums) == files, "all regular files are listed, and nothing else", repr(set(sums) ^ files))
        for name in sorted(files)[::7] + [b"large"]:
            data = pathlib.Path(os.fsdecode(os.path.join(root, name))).read_bytes()
            expect(sums[name] == (len(data), crc32c(data)), f"the checksum of {name!r}", str(sums[name]))
        code, said = check(listed, source)
        expect(code == 0 and f"{len(files)} entries compared" in said, "the tree fits its own list", said)

        data = bytearray((source / "large").read_bytes())
        data[2_000_000] ^= 1
        (source / "large").write_bytes(data)
        plain = [os.path.join(root, name) for name in sorted(files) if os.lstat(os.path.join(root, name)).st_nlink == 1 and name != b"large"]
        with open(plain[0], "ab") as file:
            file.write(b"x")
        os.unlink(plain[1])
        os.unlink(plain[2])
        os.symlink("elsewhere", plain[2])
        (source / "more").write_text("new")
        code, said = check(listed, source, "--report", place / "report")
        lines = (place / "report").read_text().splitlines()
        expect(code == 1 and len(lines) == 5, "five are named", said)
        for kind, count in (("differs", 2), ("only_source", 2), ("only_target", 1)):
            expect(sum(f'"kind":"{kind}"' in line.replace(" ", "") for line in lines) == count, f"{count} are {kind}", "\n".join(lines))

        other = place / "other"
        (other / "a/b").mkdir(parents=True)
        (other / "a/b/f").write_text("deep")
        (other / "x").write_text("same")
        run(FOREBAY, "walk", other, "--checksums", place / "of-other")
        title, *rest = (place / "of-other").read_text().splitlines()
        (place / "of-other").write_text("\n".join([title, *sorted(rest, key=lambda line: not line.endswith("a/b/f"))]) + "\n")
        (other / "a/b/f").unlink()
        (other / "a/b").rmdir()
        (other / "x").rename(other / "a/x")
        code, said = check(place / "of-other", other)
        expect(code == 1 and "a/b/f  only_source" in said and "\nx  only_source" in "\n" + said and "a/x  only_target" in said,
               "a folder that is gone leads to no other one", said)

        check_options(place / "options")
        whole = listed.read_bytes()
        for cut in range(1, 150):
            listed.write_bytes(whole[:-cut])
            code, said = check(listed, source)
            ends_a_line = whole[-cut - 1:-cut] == b"\n"
            expect(code == (1 if ends_a_line else 4), f"a list that lacks {cut} bytes", said)
            expect("only_target" in said if ends_a_line else "not part of a list of checksums" in said, f"says so without {cut} bytes", said)
        for spoiled in (b"", b"\n", whole[3:], b"#" + whole, whole.replace(b"1, CRC32C", b"2, CRC32C"), b"\0" * 100, whole + b"x" * 200_000):
            listed.write_bytes(spoiled)
            code, said = check(listed, source)
            wanted = 4 if b"CRC32C" in spoiled.split(b"\n")[0] else 2
            expect(code == wanted, f"{spoiled[:20]!r}... ends with {wanted}, not {code}", said)
        conformance.removed(place)
        place.mkdir()
    print(f"checksums: {len(files)} files")


main()
