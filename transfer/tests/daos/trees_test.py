"""Goal: the verbs of trees take daos://POOL/CONTAINER/PATH by libdfs as they take directories: all that a container can hold
is kept, all that it cannot is in the manifest, and each error says what is wrong and what to do.

Method: the module of DAOS over a libdfs of these tests (fake_container.cpp), which refuses what DAOS refuses; the trees of
the conformance tests go there and come back, and the judge, which has no code of ours, compares. No real DAOS was ever met.
"""

import collections
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "trees"))

import judge  # noqa: E402
import make_tree  # noqa: E402
import team  # noqa: E402
from forebay_test import BUILD, FOREBAY, SECONDS_MAX, expect  # noqa: E402

MODULE = BUILD / "tests/daos"
ROOT = "daos://tank/cont"
UUID = "3559e4b2-7f55-41ad-8d37-f279a8f3f586"


class Daos:
    """A system with the pool `tank`, whose container `cont` has a UUID too."""

    def __init__(self, place):
        self.store = place / "daos"
        (self.store / "tank/cont").mkdir(parents=True)
        (self.store / "tank" / UUID).symlink_to("cont")

    def environment(self):
        return os.environ | {"LD_LIBRARY_PATH": f"{MODULE}:{os.environ.get('LD_LIBRARY_PATH', '')}", "FAKE_DAOS": str(self.store)}

    def start(self, *arguments):
        return subprocess.Popen([FOREBAY, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                stdin=subprocess.DEVNULL, env=self.environment())

    def forebay(self, *arguments, code=0, **environment):
        done = subprocess.run([FOREBAY, *arguments], capture_output=True, text=True, errors="replace", check=False,
                              env=self.environment() | environment, timeout=SECONDS_MAX, stdin=subprocess.DEVNULL)
        words = [str(one) for one in arguments]
        expect(code is None or done.returncode == code, f"{words} exits with {done.returncode}, not {code}",
               done.stdout + done.stderr)
        expect("never released" not in done.stderr, f"{words} releases what it opens", done.stderr)
        return done.stdout if "--json" in words else done.stdout + done.stderr

    def told(self, *arguments, **options):
        return json.loads(self.forebay(*arguments, "--json", **options))


def wait_until(is_so, what):
    deadline = time.monotonic() + SECONDS_MAX
    while not is_so():
        expect(time.monotonic() < deadline, what)
        time.sleep(0.01)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def entries(top):
    """The paths below a folder, and what they are."""
    found = {}
    for path, folders, names in os.walk(os.fsencode(top)):
        for name in folders + names:
            whole = os.path.join(path, name)
            found[os.path.relpath(whole, os.fsencode(top))] = os.lstat(whole)
    return found


def what_daos_cannot_hold(top):
    """How many of each: by looking at the tree with no code of ours."""
    parts = collections.Counter()
    inodes = set()
    for path, about in entries(top).items():
        whole = os.path.join(os.fsencode(top), path)
        kind = stat.S_IFMT(about.st_mode)
        is_first = stat.S_ISDIR(about.st_mode) or about.st_ino not in inodes
        inodes.add(about.st_ino)
        parts["hard link"] += not is_first
        if kind in (stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFCHR, stat.S_IFBLK):
            parts["special"] += 1
            continue
        parts["sticky"] += bool(about.st_mode & stat.S_ISVTX)
        for name in os.listxattr(whole, follow_symlinks=False):
            lost = name.startswith("system.posix_acl") or not os.getxattr(whole, name, follow_symlinks=False)
            parts["attribute"] += lost
    return parts


def kind_of_part(line):
    word = line["part"].split(" ")[0]
    return {"hard": "hard link", "mode": "sticky"}.get(word, word if word == "attribute" else "special")


def check_tree(daos, place, tree):
    source, back, manifest = place / tree, place / f"{tree}-back", place / f"{tree}.jsonl"
    make_tree.make(tree, source, 0.1 if tree == "TS" else 1)
    for name in os.listdir(os.fsencode(source)):
        if name == b"hole-5-gib":  # is not stored as holes in the libdfs of these tests, and read as zeros
            os.unlink(os.path.join(os.fsencode(source), name))
    target = f"{ROOT}/{tree}"
    daos.forebay("copy", source, target, "--cannot-keep", "manifest", "--manifest", manifest)
    wanted, found = what_daos_cannot_hold(source), collections.Counter(kind_of_part(line) for line in lines(manifest))
    named = {(line["path"], line["part"]) for line in lines(manifest)}
    expect(len(named) == sum(found.values()), "the manifest says nothing twice")
    lost_kinds = {kind for kind in wanted if wanted[kind]}
    expect(found == +wanted, f"of {tree} the manifest has what DAOS cannot hold: {dict(found)}, not {dict(+wanted)}")
    daos.forebay("copy", target, back)
    verdict = judge.judge(source, back)
    columns = {"hard link": {"hard links"}, "special": {"fifo", "socket", "device", "special mtime ns", "entries"},
               "sticky": {"mode"}, "attribute": {"xattr", "acl", "mode"}}
    allowed = set().union({"sparse"}, *(columns[kind] for kind in lost_kinds))
    expect(set(verdict.failed()) <= allowed, f"of {tree} only that is lost: {verdict.failed()}, of {allowed}", judge.text(verdict))
    daos.forebay("compare", target, back)


def small_tree(top):
    for number in range(40):
        path = top / f"d{number % 4}" / f"file-{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(1000 + number))
    (top / "empty").touch()
    (top / "link").symlink_to("d0/file-0")
    os.setxattr(top / "d1/file-1", "user.some", b"value")
    os.chown(top / "d2/file-2", 12, 34)
    os.chmod(top / "d2/file-6", 0o4711)
    return top


def check_sync(daos, place):
    source, target = small_tree(place / "small"), f"{ROOT}/small"
    told = daos.told("copy", source, target)
    expect((told["copied"], told["folders"]) == (42, 4), "all is copied", str(told))
    told = daos.told("sync", source, target, "--delete")
    expect((told["copied"], told["adjusted"], told["equal"], told["removed"]) == (0, 0, 42, 0), "an unchanged tree is equal", str(told))
    for one, other in ((source, target), (target, source), (target, f"daos://tank/{UUID}/small")):
        daos.forebay("compare", one, other)
    verdict = judge.judge(source, daos.store / "tank/cont/small")
    expect(not set(verdict.failed()) - {"xattr"}, "files of the container are those of the source", judge.text(verdict))

    (source / "d0/file-0").write_bytes(b"other")
    os.chmod(source / "d1/file-1", 0o600)
    os.removexattr(source / "d1/file-1", "user.some")
    os.utime(source / "d2", ns=(10**18, 10**18 + 7))
    shutil.rmtree(source / "d3")
    (source / "link").unlink()
    (source / "link").symlink_to("elsewhere")
    report = place / "differences"
    daos.forebay("compare", source, target, "--report", report, code=1)
    found = {line["path"] for line in lines(report)}
    expect({"d0/file-0", "d1/file-1", "d2", "d3", "link"} <= found, "compare finds each change", str(found))
    told = daos.told("sync", source, target, "--delete", "--verify")
    expect((told["copied"], told["adjusted"], told["removed"]) == (2, 1, 11), "what changed is copied, adjusted and removed", str(told))
    daos.forebay("compare", source, target)
    walked = daos.told("walk", target)
    expect((walked["file"], walked["folder"], walked["link"]) == (31, 4, 1), "a walk counts", str(walked))
    daos.forebay("delete", target)
    expect(not os.path.exists(daos.store / "tank/cont/small"), "all is deleted")
    left = list((daos.store / "tank").glob("cont.attributes/*"))
    daos.forebay("walk", target, code=3)
    return left


def check_kinds(daos, place):
    """What has taken the name of something else."""
    source, target = small_tree(place / "kinds"), f"{ROOT}/kinds"
    shutil.copytree(source, daos.store / "tank/cont/kinds", symlinks=True)
    top = daos.store / "tank/cont/kinds"
    (top / "empty").unlink()
    (top / "empty/more").mkdir(parents=True)
    (top / "link").unlink()
    (top / "link").mkdir()
    shutil.rmtree(top / "d0")
    (top / "d0").write_text("file")
    said = daos.forebay("copy", source, target, code=1)
    expect((top / "empty/more").is_dir() and (top / "link").is_dir(), "no folder is replaced", said)
    expect(said.count("the target has a directory in its place") == 2, "and that is why", said)
    daos.forebay("sync", source, target, "--delete")
    daos.forebay("compare", source, target)


def check_lock(daos, place):
    """A second copy is refused while the first one runs; what that leaves when it is killed, the next one removes."""
    source, target = small_tree(place / "for-lock"), f"{ROOT}/locked"
    locks = lambda: set(pathlib.Path("/dev/shm").glob("forebay-daos-0-*"))  # noqa: E731
    before = locks()
    first = daos.start("copy", source, target, "--rate", "2000", "--threads", "1")
    top = daos.store / "tank/cont/locked"
    wait_until(lambda: locks() - before and list(top.glob("d*/.fb-*")), "the first copy is at work")
    said = daos.forebay("copy", source, target, code=2)
    expect("another process copies to" in said, "a second copy to one target is refused", said)
    first.kill()
    first.wait()
    daos.forebay("copy", source, target)
    daos.forebay("compare", source, target)
    expect(locks() == before, "no lock is left", str(locks() - before))


def check_groups(daos, place):
    """A folder with the bit of setgid gives its group to what is made in it, as the copy counts on."""
    source = small_tree(place / "for-groups")
    os.chown(source, -1, 77)
    os.chmod(source, 0o2775)
    os.chown(source / "empty", 0, 0)
    daos.forebay("copy", source, f"{ROOT}/groups")
    (source / "later").write_text("later")  # has the folder's group
    os.symlink("x", source / "later-link")
    daos.forebay("copy", source, f"{ROOT}/groups")
    daos.forebay("compare", source, f"{ROOT}/groups")


def check_large(daos, place):
    """A file in pieces, by several threads; and one that a killed copy left gets what it lacks."""
    source = place / "large"
    source.mkdir()
    with open(source / "file", "wb") as file:
        for number in range(72):
            file.write(os.urandom(1 << 20) if number % 7 else bytes([number]) * (1 << 20))
        file.write(b"end")
    said = daos.forebay("copy", source, f"{ROOT}/large", "--threads", "4", code=5, FAKE_DAOS_FAILS="dfs_write:28")
    expect("No space left on device" in said, "a full pool is named", said)
    expect(not any(name.startswith("file") for name in os.listdir(daos.store / "tank/cont/large")), "nothing half copied has a name")
    daos.forebay("copy", source, f"{ROOT}/large", "--threads", "4", "--verify")
    daos.forebay("copy", f"{ROOT}/large", place / "large-back", "--threads", "3")
    expect(subprocess.run(["cmp", source / "file", place / "large-back/file"], check=False).returncode == 0, "the bytes are the same")
    left = [name for name in os.listdir(daos.store / "tank/cont/large") if name != "file"]
    expect(not left, "no temporary names are left", str(left))


def check_several(daos, place):
    """Several processes, of which one is killed; what one has made the others see."""
    source, target = small_tree(place / "for-several"), f"{ROOT}/several"
    for number in range(400):
        (source / f"d{number % 4}" / f"more-{number}").write_bytes(os.urandom(5000))
    (source / "large").write_bytes(os.urandom(1 << 20) * 80)
    ways = [("hosts", lambda *words: daos.told(*words, *team.Hosts(place / "hosts", "node1", "node2").options()))]
    if shutil.which("mpiexec") and (FOREBAY.parent / "forebay-mpi").exists():
        ways.append(("ranks", lambda *words: team.with_ranks(3, *words, **daos.environment())))
    for name, verb in ways:
        back = place / f"several-{name}"
        told = verb("copy", source, target, "--threads", "2")
        expect((told["copied"], told["folders"]) == (443, 4), f"{name}: all is copied", str(told))
        entries = [one["entries"] for one in told["processes"]]
        taken = sum(one["gifts_taken"] for one in told["processes"][1:])  # who gets how much is the machine's matter
        expect(len(entries) == 3 and sum(entries) == told["entries"] and taken > 0, f"{name}: others have a part", str(told["processes"]))
        verb("compare", source, target)
        expect(verb("walk", target)["entries"] == 448, f"{name}: a walk counts all")
        told = verb("sync", source, target, "--delete")
        expect((told["copied"], told["equal"], told["removed"]) == (0, 443, 0), f"{name}: all is equal", str(told))
        verb("copy", target, back)
        expect(not judge.judge(source, back).failed(), f"{name}: all comes back", judge.text(judge.judge(source, back)))
        verb("delete", target)
        expect(not (daos.store / "tank/cont/several").exists(), f"{name}: all is removed")
    hosts = team.Hosts(place / "hosts-lost", "node1", "node2")
    process = team.start("copy", source, target, "--threads", "1", "--rate", "30M", "--patience", "2", "--json", *hosts.options(),
                         env=daos.environment())
    top = daos.store / "tank/cont/several"
    wait_until(lambda: list(top.glob("d*/*")), "the copy is at work")
    time.sleep(0.5)
    hosts.signal("node1", signal.SIGKILL)
    told, _ = team.ended(process)
    expect([one["host"] for one in told["processes"] if one["lost"]] == ["node1"], "node1 is lost", str(told["processes"]))
    daos.forebay("compare", source, target)
    expect(not team.temporaries(top), "no temporary names stay", str(team.temporaries(top)))


def check_containers(daos, place):
    source = small_tree(place / "for-containers")
    said = daos.forebay("copy", source, "daos://none/cont/a", code=3)
    expect("there is no pool none" in said, "a missing pool is named", said)
    for target in ("daos://tank/new", "daos://tank/new/a"):
        said = daos.forebay("copy", source, target, code=3)
        expect("has no container new" in said and "--make-container" in said, "a missing container too, and what makes it", said)
        expect("--file-oclass=EC_16P2GX --dir-oclass=RP_3G1 --chunk-size=2097152" in said, "also by the program of DAOS", said)
    daos.forebay("copy", source, "daos://tank/new/a", "--make-container", "--dry-run", code=3)
    daos.forebay("copy", source, "daos://tank/new/a", "--make-container")
    properties = (daos.store / "tank/new.properties").read_text()
    wanted = ("chunk 2097152", "=131072", "=2")
    expect(all(one in properties for one in wanted), "it has the profile for simulations", properties)
    daos.forebay("copy", source, "daos://tank/new/b", "--make-container")
    daos.forebay("copy", source, "daos://tank/small/a", "--make-container", FAKE_DAOS_RANKS="4")
    properties = (daos.store / "tank/small.properties").read_text()
    expect("ranks 3" in properties, "the classes fit a small pool", properties)
    said = daos.forebay("copy", source, "daos://tank/refused/a", "--make-container", code=2, FAKE_DAOS_FAILS="dfs_cont_create_with_label:22")
    expect("in a pool of 32 ranks" in said and "daos container create tank refused" in said, "a refused creation is an error", said)
    (daos.store / "tank/new.balanced").touch()
    daos.forebay("compare", source, "daos://tank/new/a")
    daos.forebay("compare", "daos://tank/new/a", "daos://tank/new/b")
    daos.forebay("copy", source, place / "plain", "--make-container", code=2)
    daos.forebay("delete", "daos://tank/new", code=2)
    daos.forebay("copy", "daos://tank/new/a", "daos://tank/new/a/below", code=2)
    daos.forebay("copy", ROOT, f"daos://tank/{UUID}/below", code=2)
    daos.forebay("copy", "daos://tank/new", ROOT, "--allow-unlike")
    daos.forebay("compare", "daos://tank/new", ROOT, code=1)  # the other one holds more


def check_rights(daos, place):
    top = daos.store / "tank"
    (top / "new.only-read").touch()
    daos.forebay("copy", "daos://tank/new/a", place / "read-only", "--preserve", "owner,permissions,times")
    said = daos.forebay("copy", "daos://tank/new/a", place / "read-only-again", code=1)
    expect("dfs_listxattr" in said, "that attributes cannot be listed is no reason to drop them", said)
    said = daos.forebay("copy", place / "for-containers", "daos://tank/new/c", code=2)
    expect("Operation not permitted" in said, "a container that may only be read is not written", said)
    (top / "new.forbidden").touch()
    said = daos.forebay("walk", "daos://tank/new", code=2)
    expect("daos container get-acl tank new" in said, "who may not read it is told where rights are", said)
    (top / "new.forbidden").unlink()
    (top / "new.other-type").touch()
    said = daos.forebay("walk", "daos://tank/new", code=6)
    expect("its type must be POSIX" in said, "a container of another type is named", said)
    said = daos.forebay("walk", ROOT, code=5, FAKE_DAOS_FAILS="dfs_init:113")
    expect("daos_agent" in said, "where no agent answers, that is told", said)
    report = place / "lost"
    daos.forebay("copy", ROOT, place / "lost-copy", "--report", report, code=1, FAKE_DAOS_FAILS="dfs_read:5")
    expect(any(line["kind"] == "failed" and "dfs_read" in line["why"] for line in lines(report)), "what cannot be read is named")
    os.symlink("for-links", top / "cont/way")
    (top / "cont/for-links").mkdir()
    expect("way is not a directory" in daos.forebay("walk", f"{ROOT}/way", code=2), "no link of a container is followed")


def main():
    if os.geteuid() != 0:
        print("skipped: needs root, to make and give away entries")
        sys.exit(77)
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="forebay-daos-", dir=memory) as place:
        place = pathlib.Path(place)
        if (BUILD / "lib/libforebay_daos.so").exists():
            print("skipped: this build reaches containers by a real libdfs")
            sys.exit(77)
        daos = Daos(place)
        left = check_sync(daos, place)
        expect(not left, "no attributes are left of what was deleted", str(left))
        check_kinds(daos, place)
        check_lock(daos, place)
        check_groups(daos, place)
        check_large(daos, place)
        check_several(daos, place)
        check_containers(daos, place)
        check_rights(daos, place)
        for tree in ("TS", "special"):
            check_tree(daos, place, tree)


if __name__ == "__main__":
    main()
