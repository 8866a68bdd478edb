"""Goal: if dfuse shows a DAOS container, the tree verbs accept its address and its paths. If no mount shows the
container, the error contains the command to mount it.

Method: striped_fs mounts directories like dfuse: the same kind of mount and the attribute with pool and container; no
hard links, fifos and ACLs. A program `daos` in PATH resolves labels. This was never tried on a real DAOS.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import machine
from machine import expect

POOL, CONT, OTHER = (f"{digit * 8}-2222-3333-4444-{digit * 12}" for digit in "abc")
RATE = 10**12
DAOS = f"""#!/bin/sh
[ "$*" = "--json container query tank cont" ] || {{ echo "no such container" >&2; exit 1; }}
printf '{{"response": {{"pool_uuid": "{POOL}", "container_uuid": "{CONT}", "container_label": "cont"}}, "status": 0}}'
"""


def forebay(*arguments, code=0, **environment):
    done = subprocess.run([machine.FOREBAY, *map(str, arguments)], capture_output=True, text=True, check=False,
                          env=os.environ | environment, timeout=machine.SECONDS_MAX)
    expect(done.returncode == code, f"forebay {' '.join(map(str, arguments))} exits with {code}",
           f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout if "--json" in arguments else done.stdout + done.stderr


def tree(top):
    (top / "d").mkdir(parents=True)
    (top / "d/file").write_bytes(bytes(range(256)) * 4096)
    (top / "link").symlink_to("d/file")
    os.setxattr(top / "d", "user.some", b"value")
    os.mkfifo(top / "fifo")
    os.link(top / "d/file", top / "d/name")
    os.utime(top / "d", ns=(10**18, 10**18 + 7))
    return top


def by_address(place, mount):
    source, target = tree(place / "source"), f"daos://{POOL}/{CONT.upper()}/case"
    forebay("copy", source, target, code=1)
    said = forebay("copy", source, target, "--cannot-keep", "manifest", "--manifest", place / "beside.jsonl")
    expect(f"is {mount}/case here, by dfuse" in said, "it says where the container is", said)
    parts = sorted(json.loads(line)["part"].split(" ")[0] for line in (place / "beside.jsonl").read_text().splitlines())
    expect(parts == ["fifo", "hard"], "the manifest has what DAOS cannot hold", str(parts))
    expect((mount / "case/d/name").read_bytes() == (source / "d/file").read_bytes(), "the bytes are there")
    # At the server: the kernel may still have the times before the renames.
    times = [(at / name).stat().st_mtime_ns for at in (source, place / "two/directory/case") for name in ("d", "d/file")]
    expect(times[:2] == times[2:] and times[0] == 10**18 + 7, "times too", times)
    seen = [json.loads(forebay("sync", source / "d", f"{target}/d", "--preserve", "times", "--json"))[key] for key in ("copied", "equal")]
    expect(seen == [0, 2], "a second sync copies nothing", str(seen))
    forebay("sync", source, target, "--cannot-keep", "drop", "--delete", code=1)
    said = forebay("compare", source, target, "--json", code=1)
    found = {(one["kind"], one["path"]) for one in json.loads(said)["first"]}
    expect(found == {("only_source", "fifo"), ("differs", "d/name")}, "compare finds these alone", said)
    forebay("copy", target, place / "back")
    forebay("compare", target, place / "back")
    said = forebay("walk", f"daos://{POOL}/{CONT}", "--json")
    expect(json.loads(said)["file"] == 2, "a container as a whole is walked", said)
    said = forebay("walk", f"daos://{POOL}/{OTHER}")
    expect(f"is {place}/one/mount here" in said, "of two containers of a pool each has its mount", said)
    forebay("delete", f"daos://{POOL}/{CONT}", code=2)
    forebay("delete", target)
    expect(not (mount / "case").exists() and mount.exists(), "what is in it is deleted")


def by_label(place, mount):
    programs = place / "programs"
    programs.mkdir()
    (programs / "daos").write_text(DAOS)
    (programs / "daos").chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    forebay("copy", place / "source/d", "daos://tank/cont/by-label", "--preserve", "none", PATH=path)
    expect((mount / "by-label/file").exists(), "labels are those of the mounted container")
    said = forebay("walk", "daos://tank/other", code=6, PATH=path)
    expect("no such container" in said and "UUIDs" in said, "what DAOS says of labels is told", said)
    said = forebay("walk", "daos://tank/cont", code=6, PATH="/nowhere")
    expect("start of program: daos" in said, "and where its program is missing", said)


def by_links(place, mount):
    link = place / "project" / "link"
    link.mkdir(parents=True)
    os.setxattr(link, "user.daos", f"DAOS.POSIX://{POOL}/{CONT}".encode() + b"\0")
    forebay("copy", place / "source/d", link / "new", "--preserve", "none")
    expect((mount / "new/file").exists() and not any(link.iterdir()), "what is missing below a link is in the container")
    said = forebay("walk", link)
    expect(f"daos://{POOL}/{CONT} is {mount} here" in said, "a path that stands for a container is the container", said)
    forebay("delete", link, code=2)

    forebay("copy", place / "project", place / "project-again")
    expect(os.getxattr(place / "project-again/link", "user.daos").startswith(b"DAOS.POSIX"), "a link in a tree is kept as one")
    forebay("copy", mount, place / "out")
    expect("user.daos" not in os.listxattr(place / "out"), "a copy of a container does not stand for it")
    forebay("compare", mount, place / "out")

    os.setxattr(link, "user.daos", f"DAOS.HDF5://{POOL}/{CONT}".encode())
    expect("of type HDF5" in forebay("walk", link, code=6), "containers of another type are refused")
    os.setxattr(link, "user.daos", b"nonsense")
    expect("has no container: nonsense" in forebay("walk", link, code=2), "and what is no link")


def not_mounted(place):
    said = forebay("copy", place / "source", f"daos://{OTHER}/{CONT}", code=6)
    expect(f"dfuse --mountpoint DIR --pool {OTHER} --container {CONT}" in said, "the command that mounts it is told", said)
    for wrong in ("daos://tank", "daos://", f"daos://{POOL}/{CONT}/../x", "daos://ta nk/cont"):
        forebay("walk", wrong, code=2)


def preloaded(place, mount):
    library = place / "lib" / "libpil4dfs.so"
    library.parent.mkdir()
    subprocess.run(["cc", "-shared", "-o", library, "-x", "c", "/dev/null"], check=True)
    address = f"daos://{POOL}/{CONT}"
    said = forebay("walk", address, LD_LIBRARY_PATH=str(library.parent))
    expect(f"D_IL_COMPATIBLE=1 LD_PRELOAD={library}" in said, "how the kernel is bypassed is told", said)
    for place_of in (address, mount, mount / "new/file-that-is-not"):
        said = forebay("walk", place_of, code=6, LD_PRELOAD=str(library))
        expect("preloaded libpil4dfs.so" in said, "with hidden descriptors nothing is done", said)
    forebay("walk", address, LD_PRELOAD=str(library), D_IL_COMPATIBLE="1")
    forebay("walk", place / "source", LD_PRELOAD=str(library))


def of_pools(place):
    """dfuse may show all containers of one pool or of all pools below their UUIDs."""
    for number, below in enumerate((CONT, f"{POOL}/{CONT}")):
        top = place / f"pool-{number}"
        with machine.striped(top, 1 << 20, 2, RATE, f"daos./{below}={POOL}/{CONT}") as (directory, mount, _):
            (directory / below).mkdir(parents=True)
            forebay("copy", place / "source/d", f"daos://{POOL}/{CONT}/a", "--preserve", "none")
            expect((directory / below / "a/file").exists(), f"{below} is found", mount)
            forebay("walk", f"daos://{POOL}/{OTHER}", code=6)


def main():
    if os.geteuid() != 0 or not machine.STRIPED_FS.exists() or not Path("/dev/fuse").exists():
        machine.skip("needs root, libfuse3-dev and /dev/fuse, to mount a file system")
    if (machine.BUILD / "lib/libforebay_daos.so").exists():
        machine.skip("this build reaches containers by libdfs")
    with machine.scratch() as place:
        place = Path(place)
        with machine.striped(place / "one", 1 << 20, 2, RATE, f"daos./={POOL}/{OTHER}"), \
                machine.striped(place / "two", 1 << 20, 2, RATE, f"daos./={POOL}/{CONT}") as (_, mount, _):
            by_address(place, mount)
            by_label(place, mount)
            by_links(place, mount)
            preloaded(place, mount)
            not_mounted(place)
        of_pools(place)
        not_mounted(place)


if __name__ == "__main__":
    sys.exit(main())
