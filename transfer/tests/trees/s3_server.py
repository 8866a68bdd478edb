#!/usr/bin/env python3
"""A small server of S3 for tests: it keeps buckets in a directory, checks every signature and checksum, and fails on wish.

    transfer/tests/trees/s3_server.py DIRECTORY [--port N]

prints its port. A bucket NAME is a folder b-NAME in DIRECTORY, which is made before: none is made by a request. The keys are
forebaytestkey (AWS_ACCESS_KEY_ID) and forebay+secret/never+shown (AWS_SECRET_ACCESS_KEY).

A POST of JSON to /-/faults says what it is to do wrong: objects with "match" (a
pattern for "METHOD path?query"), "times", and "status" with "code", "reset" (the connection is cut off), "stall" (seconds), "body"
(XML in place of the answer), "rot" (the last byte is another one), "shifted" (a range that begins at 0) or "unsized" (no length is told); "no_crc32c", "no_conditions"
(forgotten as by older servers), "region" (another one's bucket). A POST of a list to /-/expired says which session tokens have
expired. GET of /-/requests gives all requests, /-/done those that were answered well. No code of ours is in it.
"""

import argparse
import base64
import calendar
import ctypes
import ctypes.util
import email.utils
import hashlib
import hmac
import http.server
import json
import pathlib
import re
import socket
import sys
import threading
import time
import urllib.parse
import xml.etree.ElementTree
from xml.sax.saxutils import escape

ACCESS, SECRET = "forebaytestkey", "forebay+secret/never+shown"
LIBISAL = ctypes.CDLL(ctypes.util.find_library("isal") or "libisal.so.2")
LIBISAL.crc32_iscsi.argtypes, LIBISAL.crc32_iscsi.restype = [ctypes.c_char_p, ctypes.c_int, ctypes.c_uint], ctypes.c_uint
SKEW_SECONDS = 900


def crc32c(data):
    crc = LIBISAL.crc32_iscsi(data, len(data), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return base64.b64encode(crc.to_bytes(4, "big")).decode()


def quoted_md5(data):
    return f'"{hashlib.md5(data).hexdigest()}"'


class Problem(Exception):
    def __init__(self, status, code, message="", headers=()):
        super().__init__(code)
        self.status, self.code, self.message, self.headers = status, code, message, dict(headers)


def check_version(entry, wanted):
    """Of an object, or of {} where there is none; None wants none."""
    if entry.get("etag") != wanted:
        raise Problem(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")


class Kept:
    """Objects and uploads as pairs of files, NAME.json and NAME.bytes: a server that is killed has them again."""

    def __init__(self, top):
        self.top = pathlib.Path(top)
        self.lock = threading.RLock()
        self.objects, self.uploads = {}, {}  # (bucket, key); id
        for path in self.top.glob("*/*.json"):
            entry = json.loads(path.read_text())
            if path.parent.name == "uploads":
                self.uploads[entry["id"]] = entry
            else:
                self.objects[entry["bucket"], entry["key"]] = entry

    def check_bucket(self, bucket):
        if not (self.top / f"b-{bucket}").is_dir():
            raise Problem(404, "NoSuchBucket", "The specified bucket does not exist")

    def path(self, folder, name):
        return self.top / folder / hashlib.sha256(name.encode()).hexdigest()

    def write(self, path, entry, data=None):
        path.parent.mkdir(exist_ok=True)
        for ending, content in ((".bytes", data), (".json", json.dumps(entry).encode())):
            if content is not None:
                path.with_suffix(".new").write_bytes(content)
                path.with_suffix(".new").rename(path.with_suffix(ending))

    def put(self, bucket, key, data, headers, etag=None, condition=None):
        """`condition`: ("if-none-match", "*") or ("if-match", a version)."""
        entry = {"bucket": bucket, "key": key, "bytes": len(data), "etag": etag or quoted_md5(data), "time": time.time(),
                 "headers": headers, "crc32c": crc32c(data)}
        with self.lock:
            self.check_bucket(bucket)
            if condition and condition[0] == "if-match":
                check_version(self.find(bucket, key), condition[1])
            elif condition:
                check_version(self.objects.get((bucket, key), {}), None)
            self.write(self.path(f"b-{bucket}", key), entry, data)
            self.objects[bucket, key] = entry
        return entry

    def data(self, entry, begin=0, end=-1):
        with self.path(f"b-{entry['bucket']}", entry["key"]).with_suffix(".bytes").open("rb") as file:
            file.seek(begin)
            return file.read(end - begin if end >= 0 else -1)

    def find(self, bucket, key):
        self.check_bucket(bucket)
        entry = self.objects.get((bucket, key))
        if entry is None:
            raise Problem(404, "NoSuchKey", "The specified key does not exist.")
        return entry

    def remove(self, bucket, key):
        with self.lock:
            if self.objects.pop((bucket, key), None):
                for ending in (".json", ".bytes"):
                    self.path(f"b-{bucket}", key).with_suffix(ending).unlink(missing_ok=True)

    def upload(self, given, bucket, key):
        entry = self.uploads.get(given)
        if entry is None or (entry["bucket"], entry["key"]) != (bucket, key):
            raise Problem(404, "NoSuchUpload", "The specified upload does not exist.")
        return entry

    def part_path(self, entry, number):
        return self.top / "uploads" / f"{entry['id']}.{number}"

    def add_part(self, entry, number, data):
        with self.lock:
            self.part_path(entry, number).write_bytes(data)
            entry["parts"][str(number)] = {"bytes": len(data), "etag": quoted_md5(data), "crc32c": crc32c(data)}
            self.write(self.path("uploads", entry["id"]), entry)

    def drop_upload(self, entry):
        with self.lock:
            self.uploads.pop(entry["id"], None)
            for path in [*self.top.glob(f"uploads/{entry['id']}.*"), self.path("uploads", entry["id"]).with_suffix(".json")]:
                path.unlink(missing_ok=True)


def signature_of(method, path, query, headers, signed, scope, stamp, payload):
    text = "\n".join([method, path, "&".join(sorted(query.split("&"))) if query else "",
                      *(f"{name}:{' '.join(headers.get(name, '').split())}" for name in signed), "", ";".join(signed), payload])
    to_sign = "\n".join(["AWS4-HMAC-SHA256", stamp, "/".join(scope), hashlib.sha256(text.encode()).hexdigest()])
    key = ("AWS4" + SECRET).encode()
    for part in scope:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    kept, wrong, faults, requests, done, expired, lock = None, {}, [], [], [], [], threading.Lock()
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers=()):
        body = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        if self.wrong.get("rot"):
            body = body[:-1] + bytes([body[-1] ^ 1])
        self.close_connection |= self.wrong.get("unsized", False)
        for name, value in ({"Content-Length": str(len(body))} | dict(headers)).items():
            if name != "Content-Length" or not self.wrong.get("unsized"):
                self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def fault(self):
        """The first one that fits; it has happened once more."""
        with self.lock:
            for one in self.faults:
                if one.get("times", 1) > 0 and re.search(one["match"], f"{self.command} {self.path}"):
                    one["times"] = one.get("times", 1) - 1
                    return one
        return {}

    def forgets(self, what):
        return any(one.get("no_" + what) for one in self.faults)

    def check_signature(self, path, query):
        match = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(.*),\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]+)",
                             self.headers.get("authorization", ""))
        is_public = self.command in ("GET", "HEAD") and (re.match("/[^/]+/public/", path) or "prefix=public" in query)
        if is_public and "authorization" not in self.headers:
            return
        if not match:
            raise Problem(403, "AccessDenied", "Access Denied")
        access, scope, signed, signature = match.groups()
        if self.headers.get("x-amz-security-token") in self.expired:
            raise Problem(400, "ExpiredToken", "The provided token has expired.")
        if access != ACCESS:
            raise Problem(403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.")
        stamp = self.headers["x-amz-date"]
        then = calendar.timegm(time.strptime(stamp, "%Y%m%dT%H%M%SZ"))
        if abs(time.time() - then) > SKEW_SECONDS:
            raise Problem(403, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large.")
        must = [name.lower() for name in self.headers if name.lower().startswith("x-amz-")] + ["host"]
        if not set(must) <= set(signed.split(";")):
            raise Problem(403, "AccessDenied", "There were headers present in the request which were not signed")
        expected = signature_of(self.command, path, query, {name.lower(): value for name, value in self.headers.items()},
                                signed.split(";"), scope.split("/"), stamp, self.headers["x-amz-content-sha256"])
        if not hmac.compare_digest(expected, signature):
            raise Problem(403, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided.")

    def handle_one(self):
        path, _, query = self.path.partition("?")
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        if path.startswith("/-/"):
            return self.control(path, data)
        with self.lock:
            self.requests.append(f"{self.command} {self.path}")
        self.wrong = fault = self.fault()
        time.sleep(fault.get("stall", 0))
        if fault.get("reset"):
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return None
        if "body" in fault:
            return self.answer(200, fault["body"])
        if "status" in fault:
            raise Problem(fault["status"], fault.get("code", ""), fault.get("message", ""), fault.get("headers", ()))
        self.check_signature(path, query)
        bucket, _, key = path[1:].partition("/")
        given = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.check_body(data)
        getattr(self, "on_" + self.command.lower())(bucket, urllib.parse.unquote(key), given, data)
        with self.lock:
            self.done.append(f"{self.command} {self.path}")
        return None

    def control(self, path, data):
        with self.lock:
            if path in ("/-/requests", "/-/done"):
                return self.answer(200, json.dumps(getattr(self, path[3:])))
            (self.expired if path == "/-/expired" else self.faults)[:] = json.loads(data)
        return self.answer(200)

    def check_body(self, data):
        for name, checksum in {"content-md5": base64.b64encode(hashlib.md5(data).digest()).decode(), **self.told(data)}.items():
            if self.headers.get(name, checksum) != checksum:
                raise Problem(400, "BadDigest", f"The {name} you specified did not match what we received.")

    def dispatch(self):
        try:
            self.handle_one()
        except Problem as problem:
            body = f"<Error><Code>{escape(problem.code)}</Code><Message>{escape(problem.message)}</Message></Error>"
            self.answer(problem.status, body, {"Content-Type": "application/xml", **problem.headers})
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = dispatch

    def object_headers(self, entry):
        headers = {"ETag": entry["etag"], "Last-Modified": email.utils.formatdate(entry["time"], usegmt=True), **entry["headers"]}
        if self.headers.get("x-amz-checksum-mode") == "ENABLED" and not self.forgets("crc32c"):
            headers |= {"x-amz-checksum-crc32c": entry["crc32c"], "x-amz-checksum-type": "FULL_OBJECT"}
        return headers

    def own_headers(self):
        headers = {name.lower(): value for name, value in self.headers.items()
                   if name.lower().startswith("x-amz-meta-") or name.lower() == "content-type"}
        if sum(len(name) - 11 + len(value) for name, value in headers.items() if name.startswith("x-amz-meta-")) > 2048:
            raise Problem(400, "MetadataTooLarge", "Your metadata headers exceed the maximum allowed metadata size")
        return headers

    def on_head(self, bucket, key, _given, _data):
        entry = self.kept.find(bucket, key)
        self.answer(200, headers={**self.object_headers(entry), "Content-Length": str(entry["bytes"])})

    def on_get(self, bucket, key, given, _data):
        if "list-type" in given:
            return self.on_list(bucket, given)
        if "uploads" in given:
            return self.on_uploads(bucket, given.get("prefix", ""))
        if "uploadId" in given:
            return self.on_parts(self.kept.upload(given["uploadId"], bucket, key), given)
        span = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("range", ""))
        with self.kept.lock:
            entry = self.kept.find(bucket, key)
            check_version(entry, self.headers.get("if-match", entry["etag"]))
            begin, end = (int(span[1]), min(int(span[2]) + 1, entry["bytes"])) if span else (0, entry["bytes"])
            if span and begin >= entry["bytes"]:
                raise Problem(416, "InvalidRange", "The requested range is not satisfiable")
            begin, end = (0, end - begin) if self.wrong.get("shifted") else (begin, end)
            data = self.kept.data(entry, begin, end)
        headers = self.object_headers(entry) | ({"Content-Range": f"bytes {begin}-{end - 1}/{entry['bytes']}"} if span else {})
        return self.answer(206 if span else 200, data, headers)

    def on_list(self, bucket, given):
        self.kept.check_bucket(bucket)
        prefix, delimiter, most = given.get("prefix", ""), given.get("delimiter", ""), int(given.get("max-keys", 1000))
        after = base64.b64decode(given.get("continuation-token", "")).decode()
        with self.kept.lock:
            keys = sorted(key for at, key in self.kept.objects if at == bucket and key.startswith(prefix))
        rows = {}
        for key in keys:
            rest = key[len(prefix):]
            cut = prefix + rest.split(delimiter)[0] + delimiter if delimiter and delimiter in rest else None
            rows.setdefault(cut or key, cut is None)
        rows = [(name, is_key) for name, is_key in sorted(rows.items()) if name > after]
        body = "".join(
            f"<Contents><Key>{urllib.parse.quote_plus(name, safe='/')}</Key><Size>{self.kept.objects[bucket, name]['bytes']}</Size></Contents>"
            if is_key else f"<CommonPrefixes><Prefix>{urllib.parse.quote_plus(name, safe='/')}</Prefix></CommonPrefixes>"
            for name, is_key in rows[:most] if not is_key or (bucket, name) in self.kept.objects)
        more = len(rows) > most
        token = base64.b64encode(rows[most - 1][0].encode()).decode() if more else ""
        return self.answer(200, f"<?xml version='1.0'?><ListBucketResult><EncodingType>url</EncodingType>{body}"
                                f"<IsTruncated>{str(more).lower()}</IsTruncated>"
                                f"<NextContinuationToken>{token}</NextContinuationToken></ListBucketResult>")

    def on_uploads(self, bucket, prefix):
        rows = "".join(f"<Upload><Key>{escape(one['key'])}</Key><UploadId>{one['id']}</UploadId></Upload>"
                       for one in self.kept.uploads.values() if one["bucket"] == bucket and one["key"].startswith(prefix))
        self.answer(200, f"<ListMultipartUploadsResult>{rows}</ListMultipartUploadsResult>")

    def on_parts(self, entry, given):
        after = int(given.get("part-number-marker", 0))
        most = min(int(given.get("max-parts", 1000)), 3)  # pages are short, so that each test has several
        numbers = [number for number in sorted(map(int, entry["parts"])) if number > after]
        rows = "".join(f"<Part><PartNumber>{number}</PartNumber><Size>{part['bytes']}</Size><ETag>{escape(part['etag'])}</ETag>"
                       f"<ChecksumCRC32C>{part['crc32c']}</ChecksumCRC32C></Part>"
                       for number in numbers[:most] for part in [entry["parts"][str(number)]])
        more = len(numbers) > most
        self.answer(200, f"<ListPartsResult>{rows}<IsTruncated>{str(more).lower()}</IsTruncated>"
                         f"<NextPartNumberMarker>{numbers[most - 1] if more else 0}</NextPartNumberMarker></ListPartsResult>")

    def told(self, data):
        return {} if self.forgets("crc32c") else {"x-amz-checksum-crc32c": crc32c(data)}

    def on_put(self, bucket, key, given, data):
        source = self.headers.get("x-amz-copy-source")
        if source:
            from_bucket, _, from_key = urllib.parse.unquote(source).lstrip("/").partition("/")
            entry = self.kept.find(from_bucket, from_key)
            check_version(entry, self.headers.get("x-amz-copy-source-if-match", entry["etag"]))
            data = self.kept.data(entry)
        if "uploadId" in given:
            entry = self.kept.upload(given["uploadId"], bucket, key)
            self.kept.add_part(entry, int(given["partNumber"]), data)
            return self.answer(200, headers={"ETag": quoted_md5(data), **self.told(data)})
        conditions = [] if self.forgets("conditions") else [
            (name, self.headers[name]) for name in ("if-none-match", "if-match") if name in self.headers]
        entry = self.kept.put(bucket, key, data, self.own_headers(), condition=next(iter(conditions), None))
        if source:
            return self.answer(200, f"<CopyObjectResult><ETag>{escape(entry['etag'])}</ETag></CopyObjectResult>")
        return self.answer(200, headers={"ETag": entry["etag"], **self.told(data)})

    def on_post(self, bucket, key, given, data):
        if "delete" in given:
            for node in xml.etree.ElementTree.fromstring(data).iter():
                if node.tag.endswith("Key"):
                    self.kept.remove(bucket, node.text)
            return self.answer(200, "<DeleteResult></DeleteResult>")
        if "uploads" in given:
            self.kept.check_bucket(bucket)
            entry = {"id": hashlib.sha256(f"{key} {time.time_ns()}".encode()).hexdigest()[:32], "bucket": bucket, "key": key,
                     "headers": self.own_headers(), "parts": {}}
            with self.kept.lock:
                self.kept.uploads[entry["id"]] = entry
                self.kept.write(self.kept.path("uploads", entry["id"]), entry)
            return self.answer(200, f"<InitiateMultipartUploadResult><UploadId>{entry['id']}</UploadId></InitiateMultipartUploadResult>")
        entry = self.kept.upload(given["uploadId"], bucket, key)
        numbers = [int(node.text) for node in xml.etree.ElementTree.fromstring(data).iter() if node.tag.endswith("PartNumber")]
        if not numbers or any(str(number) not in entry["parts"] for number in numbers) or numbers != sorted(numbers):
            raise Problem(400, "InvalidPart", "One or more of the specified parts could not be found.")
        if any(entry["parts"][str(number)]["bytes"] < 5 << 20 for number in numbers[:-1]):
            raise Problem(400, "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed size")
        whole = b"".join(self.kept.part_path(entry, number).read_bytes() for number in numbers)
        put = self.kept.put(bucket, key, whole, entry["headers"], f'"{hashlib.md5(whole).hexdigest()}-{len(numbers)}"')
        self.kept.drop_upload(entry)
        return self.answer(200, f"<CompleteMultipartUploadResult><ETag>{escape(put['etag'])}</ETag></CompleteMultipartUploadResult>")

    def on_delete(self, bucket, key, given, _data):
        if "uploadId" in given:
            self.kept.drop_upload(self.kept.upload(given["uploadId"], bucket, key))
        else:
            self.kept.remove(bucket, key)
        self.answer(204)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args()
    Handler.kept = Kept(given.directory)
    with Server(("127.0.0.1", given.port), Handler) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
