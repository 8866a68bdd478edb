"""Goal: the verbs of trees take s3://BUCKET/PREFIX as they take directories: faithful, unchanged where nothing changed, with
honest errors, and without credentials in anything that is written.

Method: a server of these tests, which checks signatures and checksums and fails on wish, and versitygw where it is
installed. Trees go there and come back, and the judge, which has no code of ours, compares; what a bucket cannot hold must
be in the manifest, all of it and nothing else.
"""

import os
import shutil
import subprocess

import judge
import make_tree
import s3_server
from forebay_test import expect
from s3_support import MIB, ROOT, lines, noise, on_each_server, small_tree, write_keys


def there_and_back(server, place, tree):
    """What the judge says, and the manifest."""
    source, back, manifest = place / tree, place / f"{tree}-back", place / f"{tree}.jsonl"
    make_tree.make(tree, source, 0.1 if tree == "TS" else 1)
    for name in left_out(server, source):
        os.unlink(os.path.join(os.fsencode(source), name))
    server.forebay("copy", source, f"{ROOT}/{tree}", "--cannot-keep", "manifest", "--manifest", manifest)
    server.forebay("copy", f"{ROOT}/{tree}", back)
    verdict = judge.judge(source, back)
    return verdict, lines(manifest)


def left_out(server, source):
    """A hole that would be sent as 5 GiB of zeros, and what is too long where the server keeps objects as files."""
    return [name for name in os.listdir(os.fsencode(source))
            if name == b"hole-5-gib" or len(name) + 2 * sum(byte >= 0x80 for byte in name) > server.names_max]


def check_trees(server, place):
    verdict, manifest = there_and_back(server, place, "TS")
    expect(verdict.failed() == ["hard links"], f"of TS hard links alone are lost, not {verdict.failed()}", judge.text(verdict))
    links = [line for line in manifest if line["part"].startswith("hard link to ")]
    names = sum(group.stat.st_nlink for group in one_of_each_inode(place / "TS")) - len(one_of_each_inode(place / "TS"))
    expect(len(links) == len(manifest) == names, f"the manifest has {names} further names, not {len(links)} of {len(manifest)}")

    verdict, manifest = there_and_back(server, place, "special")
    expect(set(verdict.failed()) <= {"hard links", "xattr"}, f"hard links and large attributes are lost, not {verdict.failed()}",
           judge.text(verdict))
    parts = {line["part"].split(" ")[0] for line in manifest}
    expect({"hard", "attribute"} <= parts, f"the manifest has what does not fit into metadata, not {parts}")


def one_of_each_inode(top):
    found = {}
    for entry in walk(top):
        if not entry.is_dir(follow_symlinks=False) and entry.stat.st_nlink > 1:
            found[entry.stat.st_ino] = entry
    return list(found.values())


class Entry:
    def __init__(self, entry):
        self.entry, self.stat = entry, entry.stat(follow_symlinks=False)

    def is_dir(self, **options):
        return self.entry.is_dir(**options)


def walk(top):
    for entry in os.scandir(top):
        yield Entry(entry)
        if entry.is_dir(follow_symlinks=False):
            yield from walk(entry.path)


def check_adopted(server, place):
    """Objects that another tool has put get their attributes where their bytes are equal, and no bytes."""
    source, target = small_tree(place / "adopted"), f"{ROOT}/adopted"
    server.told("copy", source, target, "--preserve", "none")
    for path in sorted(source.rglob("*"), reverse=True):
        os.utime(path, (1_000_000_000, 1_000_000_000), follow_symlinks=False)
    told = server.told("sync", source, target, "--checksum")
    expect((told["bytes"], told["copied"]) == (0, 0) and told["adjusted"] > 30, "no bytes are sent", str(told))
    told = server.told("sync", source, target)
    expect((told["copied"], told["adjusted"]) == (0, 0), "then all is equal", str(told))
    server.forebay("compare", source, target)


def check_sync(server, place):
    source, target = small_tree(place / "small"), f"{ROOT}/small"
    before = len(server.requests()) if server.fails_on_wish else 0
    told = server.told("copy", source, target)
    expect((told["copied"], told["folders"]) == (43, 4), "all is copied", str(told))
    # An entry costs one request, and a folder one. The rest is about the root, and whether it or a directory above is a run.
    if server.fails_on_wish:
        verbs = [one.split(" ")[0] for one in server.requests()[before:]]
        expect(verbs.count("PUT") == 43 + 5 and len(verbs) <= 43 + 5 + 12, f"one request an entry, not {len(verbs)}", str(verbs))
        before = len(server.requests())
    told = server.told("sync", source, target, "--delete")
    expect((told["copied"], told["adjusted"], told["equal"], told["removed"]) == (0, 0, 43, 0), "an unchanged tree is equal", str(told))
    if server.fails_on_wish:
        verbs = [one.split(" ")[0] for one in server.requests()[before:]]
        expect(set(verbs) == {"GET", "HEAD"}, f"an unchanged tree changes nothing, by {set(verbs)}")
    server.forebay("compare", source, target)
    server.forebay("compare", target, source)

    (source / "d0/file-0").write_bytes(b"other")
    os.chmod(source / "d1/file-1", 0o600)
    os.utime(source / "d2", ns=(10**18, 10**18 + 7))
    (source / "d3/file-3").unlink()
    shutil.rmtree(source / "d3")
    (source / "link").unlink()
    (source / "link").symlink_to("elsewhere")
    told = server.told("sync", source, target, "--delete", "--dry-run")
    expect(told["remarks"]["would_remove"] == 11, "a dry run says what it would remove", str(told))
    told = server.told("sync", source, target, "--delete")
    expect((told["copied"], told["adjusted"], told["removed"]) == (2, 1, 11), "what changed is copied, adjusted and removed", str(told))
    server.forebay("compare", source, target)
    walked = server.told("walk", target)
    expect((walked["file"], walked["folder"], walked["link"], walked["fifo"]) == (31, 4, 1, 1), "a walk counts", str(walked))
    server.forebay("delete", target)
    server.forebay("walk", target, code=3)


def damage(top):
    """What compare must find: path to what is done to it."""
    def same_size(path):
        found = path.stat()
        path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:])
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))

    same_size(top / "d0/file-4")
    os.truncate(top / "d1/file-5", 10)
    os.chmod(top / "d2/file-2", 0o604)
    os.utime(top / "d2/file-6", ns=(5, 5))
    (top / "d3/file-7").unlink()
    (top / "d3/more").touch()
    (top / "link").unlink()
    (top / "link").symlink_to("elsewhere")
    (top / "fifo").unlink()
    (top / "fifo").touch()
    os.setxattr(top / "d1/file-1", "user.some", b"other")
    os.chmod(top / "d1", 0o700)
    return {"d0/file-4", "d1/file-5", "d2/file-2", "d2/file-6", "d3/file-7", "d3/more", "link", "fifo", "d1/file-1", "d1", "d3", "."}


def check_compare(server, place):
    source, damaged = small_tree(place / "whole"), place / "damaged"
    subprocess.run(["cp", "-a", source, damaged], check=True)
    wanted = damage(damaged)
    server.forebay("copy", damaged, f"{ROOT}/damaged")
    report = place / "differences"
    server.forebay("compare", source, f"{ROOT}/damaged", "--report", report, code=1)
    found = {line["path"] for line in lines(report)}
    expect(found == wanted, f"compare finds each damage: {found ^ wanted}")
    server.forebay("sync", source, f"{ROOT}/damaged", "--delete", "--checksum")
    server.forebay("compare", source, f"{ROOT}/damaged")
    server.forebay("copy", f"{ROOT}/damaged", f"{ROOT}/again")
    server.forebay("compare", f"{ROOT}/damaged", f"{ROOT}/again")
    server.forebay("copy", f"{ROOT}/damaged", f"{ROOT}/damaged/below", code=2)


def check_errors(server, place):
    source = small_tree(place / "for-errors")
    said = server.forebay("copy", source, f"{ROOT}/x", code=2, AWS_SECRET_ACCESS_KEY="wrong")
    expect("SignatureDoesNotMatch" in said and "AWS_SECRET_ACCESS_KEY" in said, "a wrong key is named", said)
    said = server.forebay("copy", source, f"{ROOT}/x", code=2, AWS_ACCESS_KEY_ID="nobody")
    expect("AWS_ACCESS_KEY_ID" in said, "an unknown key is named", said)
    said = server.forebay("copy", source, f"{ROOT}/x", code=2, AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")
    expect("no credentials" in said, "no keys at all is an error", said)
    said = server.forebay("walk", "s3://no-such-bucket/x", code=3)
    expect(f"the bucket no-such-bucket does not exist at http://127.0.0.1:{server.port} " in said, "a missing bucket is named", said)
    said = server.forebay("walk", f"{ROOT}/x", code=2, AWS_ENDPOINT_URL="myhost:9000")
    expect("AWS_ENDPOINT_URL=https://myhost:9000" in said, "an endpoint without a scheme is said to be none", said)
    for address in ("s3://", "s3://ab", "s3:///x", f"{ROOT}/a//b", f"{ROOT}/../b"):
        server.forebay("walk", address, code=2)
    said = server.forebay("copy", source, f"{ROOT}/x", code=None, AWS_ENDPOINT_URL="http://127.0.0.1:1", AWS_MAX_ATTEMPTS="2")
    expect("127.0.0.1:1" in said and "2 times" in said, "a server that is not there is named", said)
    (server.home / ".aws").mkdir()
    (server.home / ".aws/credentials").write_text(
        f"[default]\naws_access_key_id=no\naws_secret_access_key=no\n[mine]\naws_access_key_id = {s3_server.ACCESS}\n"
        f"aws_secret_access_key = {s3_server.SECRET}\n")
    server.forebay("copy", source, f"{ROOT}/profile", AWS_PROFILE="mine", AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")
    server.forebay("copy", source, f"{ROOT}/profile", AWS_PROFILE="none", code=2)
    server.forebay("delete", f"{ROOT}/profile")
    shutil.rmtree(server.home / ".aws")


def check_expired(server, place):
    """In the middle of a copy; tokens that stay expired are no loop."""
    keys = place / "keys"
    environment = {"AWS_SHARED_CREDENTIALS_FILE": str(keys), "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}
    source = noise(place / "large/file", 40 * MIB).parent
    noise(source / "other", 1000)
    write_keys(keys, "first")
    process = server.begin("copy", source, f"{ROOT}/expired", "--rate", "20M", **environment)
    server.wait_for(server.done, "partNumber=1")
    write_keys(keys, "second")
    server.expire("first")
    server.end(process)
    server.forebay("compare", source, f"{ROOT}/expired", **environment)
    server.expire("first", "second")
    before = len(server.requests())
    said = server.forebay("copy", source, f"{ROOT}/again", code=None, **environment)
    expect("ExpiredToken" in said, "tokens that stay expired are named", said)
    expect(len(server.requests()) - before < 20, "and not tried again and again", str(server.requests()[before:]))
    server.expire()
    keys.unlink()


def check_kept_names(server, place):
    """Keys that others made: each is a name, or is said not to be one."""
    for key in ("foreign/plain", "foreign/with blank+plus", "foreign/%41", "foreign/%", "foreign/ä/ü", "foreign/a%20b"):
        expect(server.request("PUT", key, body=b"12345")[0] == 200, f"{key} is put")
    server.forebay("copy", f"{ROOT}/foreign", place / "foreign")
    found = {os.path.relpath(os.path.join(top, name), place / "foreign") for top, _, names in os.walk(place / "foreign") for name in names}
    wanted = {"plain", "with blank+plus", "%41", "%", "ä/ü", "a%20b"}
    expect(found == wanted, f"keys of others are names: {found ^ wanted}")
    server.forebay("sync", place / "foreign", f"{ROOT}/foreign")
    server.forebay("compare", f"{ROOT}/foreign", place / "foreign")
    server.forebay("delete", f"{ROOT}/foreign")


def check_single_files(server, place):
    """A file becomes an object and comes back, with all that it has."""
    file, back = place / "single", place / "single-back"
    file.write_bytes(os.urandom(100_000))
    file.chmod(0o640)
    os.setxattr(file, "user.some", b"value")
    os.utime(file, ns=(10**18, 10**18 + 7))
    large = place / "single-large"
    large.write_bytes(os.urandom(1 << 20) * 18)
    for one, key in ((file, "alone/deep/object"), (large, "large-object")):
        told = server.told("copy", one, f"{ROOT}/{key}")
        expect((told["copied"], told["bytes"]) == (1, one.stat().st_size), f"{one.name} becomes an object", str(told))
        expect(server.told("sync", one, f"{ROOT}/{key}")["equal"] == 1, "which is equal then")
        server.forebay("compare", one, f"{ROOT}/{key}")
        server.forebay("copy", f"{ROOT}/{key}", back)
        expect(back.read_bytes() == one.read_bytes() and back.stat().st_mtime_ns == one.stat().st_mtime_ns, f"{one.name} comes back")
        server.forebay("compare", f"{ROOT}/{key}", back)
        back.write_bytes(b"other")
        server.forebay("compare", f"{ROOT}/{key}", back, code=1)
    expect(os.getxattr(file, "user.some") == b"value" and server.keys_with(b".fb-") == 0, "and no other object is left")
    for target in (ROOT, f"{ROOT}/alone", f"{ROOT}/alone/"):
        said = server.forebay("copy", file, target, code=2)
        expect(f"{target.rstrip('/')}/single" in said, "the error says how a file is named", said)
    server.forebay("copy", f"{ROOT}/alone/none", back, code=3)
    server.forebay("delete", f"{ROOT}/alone")


def check_dry(server, place):
    """Names of one inode become one object, whichever is met first; nothing is sent."""
    source = place / "for-dry"
    (source / "below").mkdir(parents=True)
    (source / "file").write_bytes(b"12345")
    for name in ("again", "below/again", "below/more"):
        os.link(source / "file", source / name)
    before = len(server.requests()) if server.fails_on_wish else 0
    dry = server.told("copy", source, f"{ROOT}/dry", "--dry-run", code=1)
    if server.fails_on_wish:
        verbs = {one.split(" ")[0] for one in server.requests()[before:]}
        expect(verbs <= {"GET", "HEAD"}, f"a dry run changes nothing, by {verbs}")
    done = server.told("copy", source, f"{ROOT}/dry", code=1)
    expect(dry["remarks"]["not_kept"] == done["remarks"]["not_kept"] == 3, "further names are foreseen", str((dry, done)))
    expect(dry["would_copy"] == {"entries": 2, "bytes": 5}, "a file and a folder would be sent", str(dry))


def check_listing_that_goes_back(server, _):
    """A server that gives the same next page for ever."""
    if not server.fails_on_wish:
        return
    page = ("<?xml version='1.0'?><ListBucketResult><Contents><Key>back/a</Key><Size>1</Size></Contents><IsTruncated>true</IsTruncated>"
            "<NextContinuationToken>{}</NextContinuationToken></ListBucketResult>")
    for tokens in ("a", "ab"):
        server.faults(*[{"match": "GET .*prefix=back", "body": page.format(token)} for _ in range(50) for token in tokens])
        said = server.end(server.begin("walk", f"{ROOT}/back"), code=1)
        expect("repeats a page" in said, "a listing without an end is an error", said)
        server.faults()


def check(server, place):
    for part in (check_trees, check_adopted, check_sync, check_compare, check_kept_names, check_single_files, check_dry, check_listing_that_goes_back,
                 check_errors):
        part(server, place)
    if server.fails_on_wish:
        check_expired(server, place)


if __name__ == "__main__":
    on_each_server(check)
