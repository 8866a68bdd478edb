"""Goal: whatever is killed in mid-copy to S3 or from it, and whatever a server does wrong, nothing half copied has a key, what
passes is tried again, what does not is said, and the second run goes on and leaves nothing of its own.

Method: forebay and the server are killed while parts of large objects go; the server of these tests answers wrong things on
wish, holds parts back, and loses its bucket. The same against versitygw where it is installed, as far as that can be told
to fail.
"""

import json
import os
import pathlib
import signal
import time

import judge
import s3_server
from forebay_test import expect
from s3_support import MIB, ROOT, noise, on_each_server, small_tree

LARGE = 100 * MIB  # parts of 16 MiB: seven


def check_restart(server, place):
    """The server is killed in mid-upload and comes back; then it does not, and the second run goes on."""
    noise(place / "restart/big", LARGE)
    target = f"{ROOT}/restart"
    process = server.begin("copy", place / "restart", target, "--threads", 2, "--json", "--rate", "40M")
    time.sleep(0.9)
    server.kill()
    time.sleep(0.5)
    server.start()
    told = json.loads(server.end(process))
    expect(told["copied"] == 1, "a server that comes back is waited for", str(told))
    server.forebay("compare", place / "restart", target)
    server.forebay("delete", target)

    process = server.begin("copy", place / "restart", target, "--threads", 2, "--rate", "40M", AWS_MAX_ATTEMPTS="3")
    time.sleep(0.9)
    server.kill()
    server.end(process, code=5)
    said = server.said[-1]
    expect("big  failed" in said and "3 times" in said, "a server that stays away is an error of the file", said)
    server.start()
    expect(server.keys_with(b"big<") == 0, "half an upload has no key")
    told = server.told("copy", place / "restart", target)
    expect(told["copied"] == 1, "the second run goes on", str(told))
    server.forebay("compare", place / "restart", target)
    expect(server.uploads() == 0 and server.keys_with(b".fb-") == 0, "nothing is left of an upload")
    server.forebay("delete", target)


def check_kill(server, place):
    source, target = place / "kill", f"{ROOT}/kill"
    noise(source / "big", LARGE)
    noise(source / "gone", LARGE)
    noise(source / "small", 100)
    process = server.begin("copy", source, target, "--threads", 2, "--rate", "40M")
    time.sleep(2.2)
    process.kill()
    server.end(process, code=None)
    expect(server.keys_with(b"big<") == 0 and server.keys_with(b"gone<") == 0, "a killed copy left nothing half under a key")
    left = server.uploads()
    expect(left >= 1, "it left uploads")
    (source / "gone").unlink()
    server.forebay("copy", source, target)
    expect(server.uploads() == 0 and server.keys_with(b".fb-") == 0, f"of {left} uploads none is left")
    server.forebay("compare", source, target)


def check_rate(server, place):
    """What a killed copy has sent is not paid for again, in whatever order its parts went: each run gets further."""
    if not server.fails_on_wish:
        return
    source, target = noise(place / "slow/big", LARGE).parent, f"{ROOT}/slow"

    def sent():
        return sum("partNumber=" in one for one in server.done() if one.startswith("PUT"))

    for _ in range(2):
        before = sent()
        process = server.begin("copy", source, target, "--threads", 2, "--rate", "30M")
        while sent() < before + 2 and process.poll() is None:
            time.sleep(0.02)
        process.kill()
        server.end(process, code=None)
    told = server.told("copy", source, target, "--threads", 2)
    expect(told["resumed_bytes"] > 3 * 16 * MIB and told["resumed_bytes"] + told["bytes"] == LARGE, "four parts were there, of which one may be short", str(told))
    server.forebay("compare", source, target)
    server.forebay("delete", target)


def check_faults(server, place):
    """Of the test server alone: what passes is tried again, and what does not is said."""
    source, target = small_tree(place / "faults"), f"{ROOT}/faults"
    noise(source / "big", LARGE)
    server.faults({"match": "PUT .*file-1", "times": 3, "status": 503, "code": "SlowDown"}, {"match": "PUT .*file-2", "times": 2, "reset": True},
                  {"match": "PUT .*file-3", "status": 400, "code": "BadDigest"},
                  {"match": "PUT .*partNumber=2", "status": 500, "code": "InternalError"},
                  {"match": "POST .*uploadId", "body": "<Error><Code>InternalError</Code><Message>again</Message></Error>"},
                  {"match": "HEAD ", "times": 2, "reset": True})
    server.forebay("copy", source, target)
    server.forebay("compare", source, target)
    server.faults({"match": "GET ", "times": 3, "reset": True}, {"match": "GET .*big", "times": 2, "status": 503, "code": "SlowDown"})
    server.forebay("copy", target, place / "faults-back")
    expect(judge.judge(source, place / "faults-back").equal, "faults that pass leave no trace")
    server.faults({"match": "", "times": 99, "status": 403, "code": "RequestTimeTooSkewed", "message": "too large"})
    expect("clock" in server.forebay("walk", target, code=2), "a wrong clock is named")
    server.faults({"match": "", "times": 99, "status": 301, "code": "PermanentRedirect", "headers": {"x-amz-bucket-region": "eu-west-9"}})
    expect("eu-west-9" in server.forebay("walk", target, code=2), "the right region is named")
    server.faults({"match": "PUT .*file-1", "times": 99, "status": 403, "code": "AccessDenied"})
    (source / "d1/file-1").write_bytes(b"new")
    said = server.forebay("sync", source, target, "--delete", code=1)
    expect("file-1  failed" in said and "AccessDenied" in said, "a refusal names its entry", said)
    for verb, match in (("GET", "(GET|HEAD) .*d1/file-1"), ("PUT", "PUT .*d1/file-1")):
        server.faults({"match": match, "times": 99, "body": "<html>log in first</html>"})
        away = place / "page" if verb == "GET" else f"{ROOT}/page"
        said = server.forebay("copy", target if verb == "GET" else source, away, code=1)
        expect("is not an S3 server" in said and "file-1" in said, f"{verb}: a page to log in is no object", said)
        expect(verb == "PUT" or not (away / "d1/file-1").exists(), "and has no final name")
    server.faults({"no_crc32c": True, "match": "no request", "times": 0})
    server.forebay("copy", source, f"{ROOT}/md5")
    server.faults()
    server.forebay("compare", source, f"{ROOT}/md5")


def check_resumed(server, place):
    """By a fault that holds one part back: what had come is not sent again."""
    source, target = noise(place / "resumed/big", LARGE).parent, f"{ROOT}/resumed"
    server.faults({"match": "partNumber=6", "times": 9, "stall": 60})
    process = server.begin("copy", source, target, "--threads", 2, "--verify")
    server.wait_for(server.requests, "resumed/big?partNumber=6")
    server.wait_for(server.done, *(f"resumed/big?partNumber={number}&" for number in (1, 2, 3, 4)))
    command = pathlib.Path(f"/proc/{process.pid}/cmdline").read_bytes()
    expect(s3_server.SECRET.encode() not in command, "the command line has no secret")
    process.kill()
    server.end(process, code=None)
    server.faults()
    before = len(server.requests())
    told = server.told("copy", source, target, "--verify")
    expect(told["resumed_bytes"] >= 32 * MIB, "a second run goes on with what is there", str(told))
    sent = [one for one in server.requests()[before:] if "partNumber=" in one]
    expect(1 <= len(sent) <= 5, f"parts that came are not sent again, but {sent}")
    server.forebay("compare", source, target)
    expect(server.uploads() == 0 and server.keys_with(b".fb-") == 0, "nothing is left of the upload")


def check_other_version(server, place):
    """An object is replaced while it is read: what arrives is the new one, whole."""
    source, target = noise(place / "versions/big", LARGE).parent, place / "versions-back"
    server.forebay("copy", source, f"{ROOT}/versions")
    process = server.begin("copy", f"{ROOT}/versions", target, "--threads", 2, "--rate", "30M")
    time.sleep(1)
    process.send_signal(signal.SIGSTOP)  # a machine that is busy takes longer to put than the copy lasts
    other = os.urandom(MIB) * 90
    expect(server.request("PUT", "versions/big", body=other)[0] == 200, "another version is put")
    process.send_signal(signal.SIGCONT)
    server.end(process)
    expect((target / "big").read_bytes() == other, "the version that is there in the end has come, whole")


def check_vanished(server, place):
    source = noise(place / "vanished/big", LARGE).parent
    for number in range(50):
        noise(source / f"small-{number}", 100)
    server.faults({"match": "partNumber=", "times": 99, "stall": 0.3})
    process = server.begin("copy", source, f"{ROOT}/vanished", "--threads", 2)
    server.wait_for(server.requests, "vanished/big?partNumber=")
    server.faults({"match": "", "times": 10**6, "status": 404, "code": "NoSuchBucket", "message": "The bucket does not exist"})
    said = server.end(process, code=1)
    expect("NoSuchBucket" in said, "a bucket that vanishes is named", said)
    server.faults()
    server.forebay("copy", source, f"{ROOT}/vanished")
    server.forebay("compare", source, f"{ROOT}/vanished")


def check(server, place):
    check_restart(server, place)
    check_kill(server, place)
    check_rate(server, place)
    if server.fails_on_wish:
        for part in (check_faults, check_resumed, check_other_version, check_vanished):
            part(server, place)


if __name__ == "__main__":
    on_each_server(check)
