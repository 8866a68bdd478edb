"""Goal: what comes from a bucket is what its server keeps, or it is named and gets no name; and one odd key costs no others.

Method: the server of these tests answers with a byte that is another one, once or for good, or without saying how long its
answer is, or with another range, listing or word than was asked for; and a bucket has keys that are no names of entries.
"""

import os
import re
import shutil

from forebay_test import expect
from s3_support import MIB, ROOT, lines, noise, on_each_server, small_tree

FOREVER = 1000


def check_rot(server, place):
    """Small objects have their checksum with them, of large ones it is asked for; what came wrong once is read again."""
    source, target = place / "source", f"{ROOT}/rot"
    noise(source / "small", 1000)
    noise(source / "large", 70 * MIB)  # three pieces of a large file, and more than one range
    with (source / "holes").open("wb") as file:
        file.truncate(40 * MIB)
        file.seek(11 * MIB)
        file.write(os.urandom(3 * MIB))
    server.forebay("copy", source, target)
    before = len(server.requests())
    server.forebay("copy", target, place / "whole")
    asked = [one for one in server.requests()[before:] if "/small" in one]
    expect(len(asked) == 1, "a small object costs one request", str(asked))
    server.forebay("compare", source, place / "whole")

    for name, verify in (("small", ()), ("large", ()), ("holes", ()), ("small", ("--verify",)), ("large", ("--verify",))):
        back, report = place / "back", place / "rot.jsonl"
        server.faults({"match": f"GET .*rot/{name}", "rot": True, "times": FOREVER})
        server.forebay("copy", target, back, "--report", report, *verify, code=1)
        server.faults()
        found = [(line["kind"], line["path"]) for line in lines(report)]
        expect(found == [("failed", name)] and re.search("checksum|differs", lines(report)[0]["why"]), f"{name} came wrong, {verify}", report.read_text())
        expect(not (back / name).exists() and len(list(back.iterdir())) == 2, "it has no name, and the others have theirs")
        shutil.rmtree(back)
    server.faults({"match": "GET .*rot/small", "rot": True})
    server.forebay("copy", target, place / "once")
    server.forebay("compare", source, place / "once")

    shutil.copytree(place / "whole", place / "wrong")
    data = bytearray((source / "large").read_bytes())
    data[-1] ^= 1
    (place / "wrong/large").write_bytes(data)
    shutil.copystat(source / "large", place / "wrong/large")
    server.faults({"match": "GET .*rot/large", "rot": True, "times": FOREVER})
    server.forebay("compare", target, place / "wrong", code=1)
    server.faults()


def check_unsized(server, place):
    """Of an object that is unpacked on its way nobody knows how long it is: it is not taken for an empty one."""
    source = small_tree(place / "unsized")
    server.forebay("copy", source, f"{ROOT}/unsized")
    server.faults({"match": "(GET|HEAD) .*unsized/d3/file-3$", "unsized": True, "times": FOREVER})
    report = place / "unsized.jsonl"
    server.forebay("copy", f"{ROOT}/unsized", place / "unsized-back", "--report", report, code=1)
    found = lines(report)
    expect([line["path"] for line in found] == ["d3/file-3"] and "Content-Encoding" in found[0]["why"], "it is named", str(found))
    expect(not (place / "unsized-back/d3/file-3").exists(), "and has no name")
    server.faults()


def check_other_range(server, place):
    """Where no checksum tells, the answer's own word is taken for what came."""
    noise(place / "ranges/file", 3 * MIB)
    server.forebay("copy", place / "ranges", f"{ROOT}/ranges")
    server.faults({"match": "GET .*ranges/file", "shifted": True, "times": FOREVER}, {"match": "$^", "no_crc32c": True})
    report = place / "ranges.jsonl"
    server.forebay("copy", f"{ROOT}/ranges", place / "ranges-back", "--report", report, code=1)
    server.faults()
    expect("the request was for bytes" in lines(report)[0]["why"] and not (place / "ranges-back/file").exists(), "it is named", report.read_text())


def check_listings(server, place):
    """What no listing of this prefix can be ends the copy: keys of others, and a page that comes again under another token."""
    server.request("PUT", "listed/a", body=b"12345")
    server.forebay("copy", f"{ROOT}/listed", place / "listed")

    def listing(key, token):
        return (f"<ListBucketResult><Contents><Key>{key}</Key><Size>3</Size></Contents><IsTruncated>{str(bool(token)).lower()}"
                f"</IsTruncated><NextContinuationToken>{token}</NextContinuationToken></ListBucketResult>")

    asked = {"match": "GET .*prefix=listed%2F(&|$)", "times": 1}
    for bodies, why in (([listing("x", "")] * FOREVER, "has the key"),
                        ([listing("listed/a", f"t{number}") for number in range(FOREVER)], "repeats a page")):
        for verb in (("copy", f"{ROOT}/listed", place / "never"), ("delete", f"{ROOT}/listed")):
            server.faults(*({**asked, "body": body} for body in bodies))
            before = len(server.requests())
            process = server.begin(*verb)
            server.end(process, None)
            server.faults()
            expect(process.returncode in (1, 4) and why in server.said[-1], f"{verb[0]} ends with {process.returncode}: {why}", server.said[-1])
            expect(len(server.requests()) - before < 50, "it ends soon")


def check_one_directory_on_pages(server, place):
    """A server that looks at a portion of keys for each page may give one directory on several of them: that is one."""
    source = small_tree(place / "paged")
    server.forebay("copy", source, f"{ROOT}/paged")
    whole = server.request("GET", query="delimiter=%2F&list-type=2&prefix=paged%2F")[1].decode()

    def page(token, prefixes):
        listed = "".join(f"<CommonPrefixes><Prefix>paged/{one}/</Prefix></CommonPrefixes>" for one in prefixes)
        return (f"<ListBucketResult>{listed}<IsTruncated>true</IsTruncated><NextContinuationToken>{token}"
                "</NextContinuationToken></ListBucketResult>")

    many = [page(f"m{number}", [f"d{number}"]) for number in range(1001)]
    server.faults(*({"match": "GET .*max-keys=1000.*prefix=paged%2F(&|$)", "times": 1, "body": body} for body in (*many, whole)))
    server.forebay("walk", f"{ROOT}/paged", code=1)  # most of these are not there
    expect("goes back" not in server.said[-1] and "997 vanished" in server.said[-1], "any number of directories", server.said[-1])
    bodies = [page("t1", ["d0"]), page("t2", ["d0"]), page("t3", ["d0", "d1"]), page("t4", ["d0", "d2"]), whole]
    server.faults(*({"match": "GET .*max-keys=1000.*prefix=paged%2F(&|$)", "times": 1, "body": body} for body in bodies))
    server.forebay("copy", f"{ROOT}/paged", place / "paged-back")
    server.faults()
    server.forebay("compare", source, place / "paged-back")


def check_refused_removal(server, place):
    """A refusal of no key is one of all that were asked for."""
    source = small_tree(place / "refused")
    server.forebay("copy", source, f"{ROOT}/refused")
    keys = server.keys("refused")
    server.faults({"match": "POST .*delete", "times": FOREVER,
                   "body": "<DeleteResult><Error><Code>AccessDenied</Code><Message>no</Message></Error></DeleteResult>"})
    told = server.told("delete", f"{ROOT}/refused", code=1)
    server.faults()
    expect(told["removed"] == 0 and server.keys("refused") == keys, "none is told to be removed", str(told))


def check_one_object(server, place):
    for key in ("single/a", "single/b"):
        server.request("PUT", key, body=b"12345")
    told = server.told("delete", f"{ROOT}/single/a", "--dry-run")
    expect(told["would_remove"] == {"entries": 1, "bytes": 5} and len(server.keys("single")) == 2, "a dry run tells it", str(told))
    told = server.told("delete", f"{ROOT}/single/a")
    expect(told["removed"] == 1 and len(server.keys("single")) == 1, "one object is removed alone", str(server.keys("single")))
    server.forebay("delete", f"{ROOT}/single/a", code=3)


def check_odd_keys(server, place):
    """An empty part of a key, or an object with others below it: each such key is named, and all others are copied."""
    for number in range(40):
        server.request("PUT", f"odd/f-{number:02}", body=b"12345")
    odd = {"odd//x": "/x", "odd//y/z": "/y/z", "odd/f-07/below": "f-07/below", "odd/f-07/more/below": "f-07/more/below",
           "odd/..": "..", "odd/in/x\x01": "in/x\x01"}
    for key in odd:
        server.request("PUT", key, body=b"1")
    report = place / "odd.jsonl"
    server.forebay("copy", f"{ROOT}/odd", place / "odd", "--report", report, code=1)
    named = {line["path"] for line in lines(report) if line["kind"] == "not_kept"}
    expect(named == set(odd.values()), "each key is named", str(named))
    there = {path.name for path in (place / "odd").iterdir()}
    expect({f"f-{number:02}" for number in range(40)} <= there, "all others are there", str(sorted(there)))
    server.forebay("copy", f"{ROOT}/odd", place / "odd-few", "--threads", 1, code=1)
    expect(len(list((place / "odd-few").iterdir())) == len(there), "by one thread, too")
    for words, kind in ((("walk", f"{ROOT}/odd"), "failed"), (("compare", f"{ROOT}/odd", place / "odd"), "failed"),
                        (("sync", f"{ROOT}/odd", place / "odd", "--delete"), "not_kept")):
        told = server.told(*words, code=1)
        expect({one["path"] for one in told["first"] if one["kind"] == kind} >= set(odd.values()), f"{words[0]} names them", str(told))
        expect(told["entries"] >= 40 and told.get("removed", 0) == 0, f"{words[0]} looks at all others", str(told))
    server.forebay("delete", f"{ROOT}/odd", "--report", report, code=1)
    expect({line["path"] for line in lines(report)} >= {f"odd/{path}" for path in odd.values()}, "a removal names them", report.read_text())


def check_no_times(server, place):
    """Directories of keys that others made have no times, so that none differ."""
    for key in ("plain/a", "plain/b/c"):
        server.request("PUT", key, body=b"12345")
    server.forebay("copy", f"{ROOT}/plain", place / "plain")
    server.forebay("compare", f"{ROOT}/plain", place / "plain")


def check(server, place):
    if server.fails_on_wish:
        for part in (check_rot, check_unsized, check_other_range, check_listings, check_one_directory_on_pages, check_refused_removal,
                     check_one_object, check_odd_keys, check_no_times):
            part(server, place)


if __name__ == "__main__":
    on_each_server(check)
