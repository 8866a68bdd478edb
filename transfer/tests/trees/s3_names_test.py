"""Goal: an object of somebody's own is what it is, whatever it is called: none is taken for a mark of forebay's, none is
replaced by nothing, and none makes a directory unreadable or a removal look done.

Method: objects and files with names that forebay uses itself; marks that speak of others' uploads; objects with bytes under
keys of directories; records that lead elsewhere.
"""

import os
import re

from forebay_test import expect
from s3_support import ROOT, lines, on_each_server

TEMPORARY = ".fb-00000000-0123456789abcdef"
MARK = "forebay upload 1\n{}\n{}\n0123456789abcdef\n"
ELSEWHERE = b"forebay directory 1\ncontents=elsewhere\nat=other/\nname=\nnext=\nturn=00f30000c0ffee9a\n"
BYTES = b"fifteen bytes!!"


def put(server, key, body):
    expect(server.request("PUT", key, body=body)[0] == 200, f"{key} is put")


def begun(server, key):
    """An upload under way, by its id."""
    _, text = server.request("POST", key, query="uploads=")
    return re.search(rb"<UploadId>([^<]*)", text)[1].decode()


def check_own(server, place):
    source, target = place / "own", f"{ROOT}/own"
    names = (TEMPORARY, ".fb-11111111-0123456789abcdef.parts", ".fb-22222222-0123456789abcdef.parts")
    for folder in (source, source / ".fb-33333333-0123456789abcdef"):
        folder.mkdir()
        for name in names[:2]:
            (folder / name).write_text(f"my own {name}")
    (source / names[2]).write_bytes(os.urandom(2 << 20))
    server.forebay("copy", source, target)
    wanted = sorted(os.path.relpath(os.path.join(top, name), source) for top, _, found in os.walk(source) for name in found)
    expect(sorted(key.removeprefix("own/") for key in server.keys("own/") if not key.endswith("/")) == wanted, "all files are objects")
    told = server.told("sync", source, target)
    expect((told["copied"], told["equal"]) == (0, 5), "which are equal, and no more than the files", str(told))
    server.forebay("copy", target, place / "own-back")
    server.forebay("compare", source, place / "own-back")
    server.forebay("compare", target, place / "own-back")
    for name in names:
        (source / name).unlink()
    server.forebay("sync", source, target, "--delete")
    expect([key for key in server.keys("own/.fb-") if key.count("/") == 1] == [], "what is gone is removed", str(server.keys("own/")))
    server.forebay("delete", target)
    expect(server.keys("own/") == [], "a removal leaves none", str(server.keys("own/")))


def check_marks(server, _):
    """Of another directory's upload, also below, a mark is an object like any; of its own it is one."""
    put(server, "marks/a", b"a")
    uploads = {key: begun(server, key) for key in ("precious/file", "marks/below/file", "marks/file")}
    for number, (key, upload) in enumerate(uploads.items()):
        put(server, f"marks/.fb-0000000{number}-0123456789abcdef.parts", MARK.format(key, upload).encode())
    told = server.told("walk", f"{ROOT}/marks")
    expect(told["file"] == 1 + 3 + 1, "one of three is a mark, and has its upload beside it", str(told))
    server.forebay("delete", f"{ROOT}/marks")
    expect(server.keys("marks/") == [] and server.uploads() == 2, f"uploads of others go on: {server.uploads()}")
    for key in ("precious/file", "marks/below/file"):
        server.request("DELETE", key, query=f"uploadId={uploads[key]}")


def check_bytes_of_folder(server, place):
    """Named by each verb, and there afterwards."""
    put(server, "full/dir/", BYTES)
    put(server, "full/dir/f", b"x")
    report, back = place / "full.jsonl", place / "full"
    for verb in (("copy", f"{ROOT}/full", back), ("compare", f"{ROOT}/full", back), ("sync", back, f"{ROOT}/full"), ("copy", back, f"{ROOT}/full")):
        server.forebay(*verb, "--report", report, code=1)
        named = [line for line in lines(report) if line["path"] == "dir"]
        expect(named and "15 bytes" in named[0]["why"], f"{verb[0]} names it", report.read_text())
        expect(server.request("GET", "full/dir/")[1] == BYTES, f"{verb[0]} leaves it as it is")
        expect((back / "dir/f").read_text() == "x", "what is in it is copied")
    put(server, "top/", BYTES)
    server.forebay("copy", back, f"{ROOT}/top", code=6)
    expect(server.request("GET", "top/")[1] == BYTES, "nor is that of the root replaced")


def check_record_name(server, place):
    source, target, report = place / "record", f"{ROOT}/record", place / "record.jsonl"
    (source / "d/.forebay-directory").mkdir(parents=True)
    (source / "d/data").write_text("data")
    (source / ".forebay-directory").write_text("notes of mine")
    for words in ((), ("--cannot-keep", "drop")):
        server.forebay("copy", source, target, "--report", report, *words, code=1)
        named = {(line["kind"], line["path"]) for line in lines(report)}
        expect(named == {("not_kept", ".forebay-directory"), ("not_kept", "d/.forebay-directory")}, "the name is not kept", str(named))
    server.forebay("copy", target, place / "record-back")
    expect((place / "record-back/d/data").read_text() == "data", "and what is beside it is read")


def check_elsewhere(server, _):
    put(server, "led/a", b"a")
    put(server, "led/.forebay-directory", ELSEWHERE)
    for words in ((), ("--dry-run",)):
        said = server.forebay("delete", f"{ROOT}/led", *words, code=3)
        expect("is only a name here" in said and ".forebay-directory" in said, "a removal of nothing is an error", said)
    expect("led/a" in server.keys("led/"), "and removes nothing")


def check_no_keys(server, place):
    """What everybody may read is read without keys, and what needs keys says so."""
    put(server, "public/a", b"a")
    put(server, "private/a", b"a")
    without = {"AWS_NO_SIGN_REQUEST": "true", "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
    server.forebay("copy", f"{ROOT}/public", place / "public", **without)
    expect((place / "public/a").read_text() == "a", "is copied without keys")
    said = server.forebay("walk", f"{ROOT}/private", code=2, **without)
    expect("AWS_NO_SIGN_REQUEST" in said, "what needs keys says how to give some", said)


def check_services(server, place):
    """The endpoint of a section of services, and a role, which is refused."""
    put(server, "served/a", b"a")
    config = place / "config"
    config.write_text(f"[default]\nservices = here\n[services here]\ns3 =\n  endpoint_url = http://127.0.0.1:{server.port}\n"
                      "[profile role]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = default\n")
    own = {"AWS_ENDPOINT_URL": "", "AWS_CONFIG_FILE": str(config)}
    expect(server.told("walk", f"{ROOT}/served", **own)["file"] == 1, "the server of the section is asked")
    said = server.forebay("walk", f"{ROOT}/served", code=2, **own, AWS_PROFILE="role")
    expect("role_arn" in said and "credential_process" in said, "a role is refused by its name", said)


def check(server, place):
    check_record_name(server, place)
    if server.fails_on_wish:  # others do not keep such keys, or not as they are
        for part in (check_own, check_marks, check_bytes_of_folder, check_elsewhere, check_no_keys, check_services):
            part(server, place)


if __name__ == "__main__":
    on_each_server(check)
