"""Goal: an archive proves that it is all there: one that lost blocks, or entries, or has others in their place, is never
said to be whole; and no file gets a name that belongs to bytes which were not restored.

Method: zeros at each block of an archive, and entries cut out, doubled and swapped; then nothing wrong may be restored,
and the exit code is 4. What the last entry says is worked out again as transfer/docs/format-archive.md has it, from archives made by
one thread and by several, with a file that changes. GNU tar, bsdtar and tarfile read the archive without a word. Archives
of others that were joined, or are zeros. Restores over older files, of which the first name of an inode is damaged.
"""

import os
import pathlib
import re
import shutil
import stat
import subprocess
import tarfile
import tempfile
import threading
import time

import pairs
from forebay_test import FOREBAY, expect, forebay, run

BLOCK = 512
OLD_ARCHIVE = pathlib.Path(os.environ["FOREBAY_SOURCE_DIR"]) / "tests/corpus/archive_head/ours.tar"


class Head:
    """One entry of an archive of ours: where it lies, and what its comments say."""

    def __init__(self, data, at):
        self.at = at
        block = data[at:at + BLOCK]
        self.type, size = block[156:157], int(block[124:135], 8)
        self.text = data[at + BLOCK:at + BLOCK + size]
        self.comments = dict(re.findall(rb"comment=FOREBAY\.(\w+)=([^\n]*)\n", self.text))
        at += BLOCK + (size + BLOCK - 1) // BLOCK * BLOCK
        if self.type == b"x":
            length = re.search(rb" size=(\d+)\n", self.text)
            stored = int(length.group(1)) if length else int(data[at + 124:at + 135], 8)
            self.name = data[at:at + 100].rstrip(b"\0")
            at += BLOCK + (stored + BLOCK - 1) // BLOCK * BLOCK
        self.behind = at
        self.is_entry = b"crc32c" in self.comments


def heads_of(data):
    heads, at = [], 0
    while data[at:at + BLOCK].strip(b"\0"):
        heads.append(Head(data, at))
        at = heads[-1].behind
    expect(not data[at:].strip(b"\0") and len(data) == at + 2 * BLOCK, "two blocks of zeros are its end")
    return heads


def check_end_record(path):
    """As the page of the format has it."""
    heads = heads_of(path.read_bytes())
    expect(heads[0].type == b"g" and heads[0].comments[b"promise"] == b"at end", "the mark promises an end", str(heads[0].comments))
    *entries, last = [head for head in heads if head.is_entry]
    for head in [*entries, last]:
        expect(int(head.comments[b"at"], 16) == head.at, f"the entry at byte {head.at} says where it lies", str(head.comments))
        expect((b"end" in head.comments) == (head is last), "the last entry has the end, and it alone")
    total = sum(int(head.comments[b"crc32c"].split()[1], 16) * (head.at // BLOCK) for head in entries) % (1 << 64)
    expect(last.comments[b"end"] == f"{len(entries)} {total:016x}".encode(), "it says what lies before it", str(last.comments))
    expect(last.name == b"./", "the root is last")
    return entries


def small(place):
    (place / "below").mkdir(parents=True)
    for number in range(6):
        (place / f"file{number}").write_bytes(bytes([65 + number]) * 700)
        os.utime(place / f"file{number}", (1, 1_700_000_000))
    (place / "below/other").write_bytes(bytes(range(256)) * 30)
    os.link(place / "file0", place / "below/same")
    (place / "below/away").symlink_to("../file1")
    os.mkfifo(place / "fifo")
    os.mknod(place / "socket", stat.S_IFSOCK | 0o600)
    return place


def expect_told(place, data, what, source, says=""):
    """Exit code 4 of the check and of a restore, which makes nothing wrong. What lies in zeros of a file's bytes is told with 1."""
    path, target = place / "damaged.tar", place / "from-damaged"
    path.write_bytes(data)
    checked = run(FOREBAY, "restore-archive", "--check", path, code=None)
    expect(checked.returncode == 4 and says in checked.stderr, f"{what} is told by the check", checked.stdout + checked.stderr)
    done = run(FOREBAY, "restore-archive", path, target, "--no-sync", code=None)
    expect(done.returncode == 4 and "restored entries are whole" in done.stderr, f"{what} is told", done.stdout + done.stderr)
    wrong = [pair.path for pair in pairs.walk(source, target) if pair.right and pair.left and pair.equal_bytes is False]
    expect(not wrong, f"{what}: nothing wrong is restored", str(wrong))
    shutil.rmtree(target)


def check_lost(place, source, path):
    data = path.read_bytes()
    heads = heads_of(data)
    begins = {head.at for head in heads}
    for at in range(0, len(data) - 2 * BLOCK, BLOCK):
        for size in (2 * BLOCK, 8 * BLOCK, len(data)):
            end = min(at + size, len(data) - 2 * BLOCK)
            lost = data[:at] + bytes(end - at) + data[end:]
            (place / "lost.tar").write_bytes(lost)
            done = run(FOREBAY, "restore-archive", "--check", place / "lost.tar", code=None)
            expect(done.returncode in (1, 4) or lost == data, f"{size} zeros from byte {at} on of {len(data)} are told", done.stdout)
            if at in begins:
                expect(done.returncode == 4 and f"byte {at}," in done.stderr, f"zeros from the head at byte {at} on are told there", done.stderr)
    expect_told(place, bytes(len(data)), "a file of zeros", source, f"all its {len(data)} bytes are zeros")
    for head in heads[1:-1]:
        before, own, behind = data[:head.at], data[head.at:head.behind], data[head.behind:]
        expect_told(place, before + behind, f"the entry at byte {head.at}, cut out,", source, f"{len(own)} bytes before it are missing")
        expect_told(place, before + own + own + behind, f"the entry at byte {head.at}, doubled,", source, "do not belong there")
    first, second = next((one, two) for one, two in zip(heads[1:], heads[2:]) if one.behind - one.at == two.behind - two.at)
    swapped = data[:first.at] + data[second.at:second.behind] + data[first.at:first.behind] + data[second.behind:]
    expect_told(place, swapped, "two entries of one size, swapped,", source, "written for byte")
    last = heads[-1]
    expect_told(place, data[:last.at] + bytes(2 * BLOCK), "the last entry, cut off,", source, "before its last entry")
    expect_told(place, data + b"x", "something behind its end", source, f"byte {len(data)} begins further entries")
    expect_told(place, data + data, "an archive behind another", source, "further entries")
    (place / "longer.tar").write_bytes(data + bytes(20 * BLOCK))
    forebay("restore-archive", "--check", place / "longer.tar")
    run("tar", "-C", source.parent, "-rf", place / "longer.tar", source.name)
    expect_told(place, (place / "longer.tar").read_bytes(), "what tar -r has added", source, "further entries after its last entry")
    other = archived_again(place, source)  # an entry of an older archive, at the same place and of the same length
    one, same = next((one, two) for one, two in zip(heads[1:], heads_of(other)[1:])
                     if one.is_entry and one.comments[b"crc32c"] != two.comments[b"crc32c"] and (one.at, one.behind) == (two.at, two.behind))
    expect_told(place, data[:one.at] + other[same.at:same.behind] + data[one.behind:], "an entry of another archive", place / "older", "some entries were replaced")


def archived_again(place, source):
    older = place / "older"
    shutil.copytree(source, older, symlinks=True, copy_function=shutil.copy2, ignore=shutil.ignore_patterns("fifo", "socket", "same"))
    os.link(older / "file0", older / "below/same")
    os.mkfifo(older / "fifo")
    os.mknod(older / "socket", stat.S_IFSOCK | 0o600)
    for name in sorted(os.listdir(older)):
        if name.startswith("file"):
            os.utime(older / name, (1, 1_600_000_000))
    forebay("archive", older, place / "older.tar", "--threads", 1)
    for name in os.listdir(source):
        if name.startswith("file"):
            shutil.copyfile(source / name, older / name)
    return (place / "older.tar").read_bytes()


def check_others_are_silent(place, path):
    """None of them says a word, and none makes a file of the end."""
    names = set()
    for program, words in (("tar", ["-tvf"]), ("bsdtar", ["-tvf"])):
        if shutil.which(program):
            done = run(program, *words, path)
            expect(not done.stderr and "FOREBAY" not in done.stdout, f"{program} reads it without a word", done.stderr)
    target = place / "by-tar"
    target.mkdir()
    done = run("tar", "-C", target, "-xf", path)
    expect(not done.stderr, "tar extracts it without a word", done.stderr)
    with tarfile.open(path) as tar:
        names = {pathlib.PurePath(name).as_posix() for name in tar.getnames()}
    there = {pathlib.Path(where, name).relative_to(target).as_posix() for where, folders, files in os.walk(target) for name in folders + files}
    expect(names == there | {"."}, "tarfile has the same entries", str(names ^ there))
    shutil.rmtree(target)


def check_changing(place):
    """Places that are passed over have entries too, which count."""
    source = place / "changing"
    source.mkdir()
    (source / "large").write_bytes(bytes(24 << 20))
    ends = threading.Event()

    def change():
        with open(source / "large", "r+b") as file:
            while not ends.is_set():
                file.write(b"x")
                file.flush()
                ends.wait(0.06)  # long enough to begin a copy, too short to end one

    changer = threading.Thread(target=change)
    changer.start()
    done = run(FOREBAY, "archive", source, place / "changing.tar", "--threads", 3, "--rate", "200M", code=None)
    ends.set()
    changer.join()
    expect(done.returncode == 1 and "changed" in done.stdout, "the file changed each time", done.stdout + done.stderr)
    entries = check_end_record(place / "changing.tar")
    expect(len(entries) >= 3, f"the root comes between comments: {len(entries)} times")
    forebay("restore-archive", "--check", place / "changing.tar")
    (place / "changing.tar").unlink()
    shutil.rmtree(source)


def check_of_others(place):
    """Zeros end them; but not where other bytes follow, or where nothing is before them."""
    with tarfile.open(place / "empty.tar", "w"):
        pass
    text = forebay("restore-archive", "--check", place / "empty.tar", code=4)
    expect("an empty tar archive" in text, "an archive without an entry is told", text)
    for name in ("one", "two"):
        (place / name).write_text(name * 300)
        run("tar", "-C", place, "-cf", place / f"{name}.tar", name)
        forebay("restore-archive", "--check", place / f"{name}.tar")
    one, two = (place / "one.tar").read_bytes(), (place / "two.tar").read_bytes()
    (place / "joined.tar").write_bytes(one + two)
    text = forebay("restore-archive", place / "joined.tar", place / "joined", code=4)
    expect(f"tail -c +{len(one) + 1} gives" in text and (place / "joined/one").exists(), "joined archives are told, and how to get at the next", text)
    ours = (place / "small.tar").read_bytes()
    (place / "joined.tar").write_bytes(ours + ours)
    text = forebay("restore-archive", "--check", place / "joined.tar", code=4)
    expect(f"tail -c +{len(ours) + 1} gives" in text, "also of ours", text)
    run("sh", "-c", f"tail -c +{len(ours) + 1} joined.tar > next.tar", cwd=place)
    expect((place / "next.tar").read_bytes() == ours, "which gives it")
    (place / "cut.tar").write_bytes(one[:3 * BLOCK])
    expect("the file was cut" in forebay("restore-archive", "--check", place / "cut.tar", code=4), "an end without zeros is told")
    forebay("restore-archive", "--check", OLD_ARCHIVE)


def check_two_at_once(place):
    """The second begins between the moments in which the first makes its file and locks it."""
    if not shutil.which("strace"):
        print("left out, two archives at once: no strace")
        return
    for name in ("one", "two"):
        (place / f"tree-{name}").mkdir()
        (place / f"tree-{name}" / name).write_bytes(os.urandom(16 << 20))
    words = [FOREBAY, "archive", place / "tree-one", place / "of-two.tar"]
    slow = ["strace", "-f", "-qq", "-o", place / "locks", "-e", "trace=flock", "-e", "inject=flock:delay_enter=1500000:when=1"]
    first = subprocess.Popen([*slow, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(3000):
        if any(name.startswith(".fb-") for name in os.listdir(place)):
            break
        time.sleep(0.001)
    second = subprocess.Popen([FOREBAY, "archive", place / "tree-two", place / "of-two.tar", "--rate", "4M"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    said = first.communicate()
    expect(first.returncode == 2 and "another process is writing" in said[1], f"the first is refused: {first.returncode}", "".join(said))
    said = second.communicate()
    expect(second.returncode == 0, "the second makes its own", "".join(said))
    with tarfile.open(place / "of-two.tar") as tar:
        expect(any(name.endswith("two") for name in tar.getnames()), "with what it was given")
    expect(not [name for name in os.listdir(place) if name.startswith(".fb-")], "nothing is left", str(os.listdir(place)))


def check_mode_of_target(place):
    """A TARGET of which the archive has no entry is as mkdir makes it, also when a restore of it was killed."""
    (place / "folder").mkdir()
    (place / "folder/file").write_text("x")
    run("tar", "-C", place, "-cf", place / "folder.tar", "folder")
    run("tar", "-C", place / "folder", "-cf", place / "root.tar", ".")
    for umask, mode in ((0o022, 0o755), (0o027, 0o750)):
        forebay("restore-archive", place / "folder.tar", place / "made", umask=umask)
        expect(stat.S_IMODE((place / "made").stat().st_mode) == mode, f"TARGET has the mode {mode:o}", oct((place / "made").stat().st_mode))
        shutil.rmtree(place / "made")
    (place / "made").mkdir()
    (place / "made").chmod(0o700)
    forebay("restore-archive", place / "folder.tar", place / "made")
    expect(stat.S_IMODE((place / "made").stat().st_mode) == 0o700, "one that was there stays as it was")
    shutil.rmtree(place / "made")
    (place / "folder/file").write_bytes(bytes(1 << 20))
    run("tar", "-C", place, "-cf", place / "slow.tar", "folder")
    process = subprocess.Popen([FOREBAY, "restore-archive", place / "slow.tar", place / "made", "--rate", "100K"])
    while len([path for path in (place / "made").rglob(".fb-*") if path.stat().st_size > 0]) < 2:  # the mark, and the file
        expect(process.poll() is None, "the restore goes on")
        time.sleep(0.01)
    process.kill()
    process.wait()
    expect(stat.S_IMODE((place / "made").stat().st_mode) == 0o700, "TARGET is closed while it is filled")
    (place / "slow.tar").rename(place / "moved.tar")
    forebay("restore-archive", place / "moved.tar", place / "made")
    expect(stat.S_IMODE((place / "made").stat().st_mode) == 0o755, "and opened by the restore that goes on")
    expect(not [*(place / "made").rglob(".fb-*")], "which leaves nothing of the first, wherever the archive lies now")
    (place / "folder").chmod(0o711)
    run("tar", "-C", place / "folder", "-cf", place / "root.tar", ".")
    forebay("restore-archive", place / "root.tar", place / "rooted")
    expect(stat.S_IMODE((place / "rooted").stat().st_mode) == 0o711, "an entry of the root counts")


def check_links_to_older(place):
    """Of an inode whose bytes are wrong no name is restored, and what stood there stays."""
    source, target = place / "linked", place / "older-files"
    source.mkdir()
    (source / "a").write_bytes(b"unmistakable" * 50)
    for name in "bc":
        os.link(source / "a", source / name)
    (source / "good").write_text("good")
    os.link(source / "good", source / "good2")
    forebay("archive", source, place / "linked.tar", "--threads", 1)
    data = bytearray((place / "linked.tar").read_bytes())
    data[data.index(b"unmistakable") + 3] ^= 1
    (place / "linked.tar").write_bytes(data)
    for there in (True, False):
        target.mkdir()
        for name in "abc" if there else "":
            (target / name).write_text(f"older {name}")
        done = forebay("restore-archive", place / "linked.tar", target, "--no-sync", code=1)
        kept = {name: (target / name).read_text() for name in os.listdir(target)}
        wanted = {"good": "good", "good2": "good"} | ({name: f"older {name}" for name in "abc"} if there else {})
        expect(kept == wanted, "no name of it is restored, and older files stay", str(kept))
        expect(all((target / name).stat().st_nlink == 1 for name in "abc" if there), "they are no names of one another")
        expect(len(re.findall(r"failed.*which was not restored", done)) == 2 and "checksum" in done, "each name is told", done)
        shutil.rmtree(target)
    with tarfile.open(place / "dangling.tar", "w") as tar:  # of others: the first name is not in it
        info = tarfile.TarInfo("further")
        info.type, info.linkname = tarfile.LNKTYPE, "first"
        tar.addfile(info)
    target.mkdir()
    for name in ("first", "further"):
        (target / name).write_text(f"older {name}")
    done = forebay("restore-archive", place / "dangling.tar", target, "--no-sync", code=1)
    expect((target / "further").read_text() == "older further" and "which is not in the archive" in done, "a link to what stands there is not made", done)


def check_links_to_left_out(place):
    """A device that the target cannot hold is dropped: its further name is not that of an older file."""
    with tarfile.open(place / "device.tar", "w") as tar:
        for name, kind, link in (("device", tarfile.CHRTYPE, ""), ("further", tarfile.LNKTYPE, "device")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.devmajor, info.devminor = kind, link, 1, 3
            tar.addfile(info)
    target = place / "no-devices"
    target.mkdir()
    for name in ("device", "further"):
        (target / name).write_text(f"older {name}")
    if run("unshare", "--user", "--map-root-user", "true", code=None).returncode != 0:
        print("left out, what cannot be made: this machine allows no user namespaces")
        return
    done = run("unshare", "--user", "--map-root-user", FOREBAY, "restore-archive", place / "device.tar", target, "--cannot-keep", "drop", code=1)
    expect((target / "further").read_text() == "older further" and "to device, which was not restored" in done.stdout, "it is told", done.stdout + done.stderr)


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-archive-end-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        source = small(place / "small")
        for threads in (3, 1):
            forebay("archive", source, place / "small.tar", "--threads", threads, "--verify", "--force")
            check_end_record(place / "small.tar")
            forebay("restore-archive", "--check", place / "small.tar")
        check_others_are_silent(place, place / "small.tar")
        check_lost(place, source, place / "small.tar")
        check_changing(place)
        check_of_others(place)
        check_two_at_once(place)
        check_mode_of_target(place)
        check_links_to_older(place)
        check_links_to_left_out(place)
    print("archives prove that they are whole")


main()
