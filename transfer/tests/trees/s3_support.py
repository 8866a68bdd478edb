"""Servers of S3 for tests, how forebay reaches them, and requests that tests make themselves.

`Own` is transfer/tests/trees/s3_server.py, which fails on wish; `Gateway` is versitygw, where that is installed.
"""

import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import urllib.parse

import conformance
import s3_server
from forebay_test import BUILD, FOREBAY, SECONDS_MAX, expect

BUCKET = "forebay-test"
ROOT = f"s3://{BUCKET}"
MIB = 1 << 20
HERE = pathlib.Path(__file__).resolve().parent
VERSITYGW = shutil.which("versitygw") or shutil.which(HERE.parents[2] / "build/go/versitygw")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    """A server on a port of its own, which it has again after kill() and start(). `said` has all that forebay printed."""

    def __init__(self, place):
        self.place = pathlib.Path(place)
        self.port = free_port()
        self.process = None
        self.said = []
        self.home = self.place / "home"
        self.home.mkdir(parents=True)
        self.make_bucket()
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def start(self):
        self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        ended = time.monotonic() + SECONDS_MAX
        while self.process.poll() is None and time.monotonic() < ended:
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError(f"{self.command()} does not listen")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(SECONDS_MAX)

    def environment(self, **more):
        """No proxy and no role of this machine, and nobody's own files."""
        plain = {name: value for name, value in os.environ.items()
                 if not name.startswith("AWS_") and not name.lower().endswith("_proxy")}
        return plain | {"HOME": str(self.home), "AWS_EC2_METADATA_DISABLED": "true", "AWS_REGION": "us-east-1",
                        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}", "AWS_ACCESS_KEY_ID": s3_server.ACCESS,
                        "AWS_SECRET_ACCESS_KEY": s3_server.SECRET} | more

    def begin(self, *words, **more):
        return subprocess.Popen([str(FOREBAY), *map(str, words)], env=self.environment(**more), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")

    def end(self, process, code=0):
        out, err = process.communicate(timeout=SECONDS_MAX)
        self.said.append(out + err)
        expect(code is None or process.returncode == code, f"{process.args[1:]} ends with {code}, not {process.returncode}",
               out[-3000:] + err[-3000:])
        return out if code in (0, 1) else err

    def forebay(self, *words, code=0, **more):
        return self.end(self.begin(*words, **more), code)

    def told(self, *words, code=0, **more):
        return json.loads(self.forebay(*words, "--json", code=code, **more))

    def request(self, method, key="", query="", body=b"", headers=()):
        """One signed by this file's own few lines; the answer's status and body."""
        path = "/" + urllib.parse.quote(BUCKET + ("/" + key if key else ""), safe="/~")
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        scope = [stamp[:8], "us-east-1", "s3", "aws4_request"]
        payload = hashlib.sha256(body).hexdigest()
        headers = {"host": f"127.0.0.1:{self.port}", "x-amz-date": stamp, "x-amz-content-sha256": payload, **dict(headers)}
        signed = sorted(headers)
        signature = s3_server.signature_of(method, path, query, headers, signed, scope, stamp, payload)
        headers["Authorization"] = (f"AWS4-HMAC-SHA256 Credential={s3_server.ACCESS}/{'/'.join(scope)},SignedHeaders={';'.join(signed)},"
                                    f"Signature={signature}")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path + ("?" + query if query else ""), body, headers)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text

    def uploads(self):
        status, text = self.request("GET", query="uploads=")
        expect(status == 200, "uploads can be listed", str(status))
        return text.count(b"<UploadId>")

    def keys(self, prefix=""):
        """Not more than the first 1,000."""
        status, listed = self.request("GET", query=f"list-type=2&prefix={urllib.parse.quote(prefix, safe='')}")
        expect(status == 200, "keys can be listed", str(status))
        return [urllib.parse.unquote_plus(key.decode()) for key in re.findall(b"<Key>([^<]*)</Key>", listed)]

    def keys_with(self, text):
        status, listed = self.request("GET", query="list-type=2")
        expect(status == 200, "keys can be listed", str(status))
        return listed.count(b"<Key>" + text) + listed.count(b"/" + text)


class Own(Server):
    name = "the server of the tests"
    names_max = 10**6
    fails_on_wish = True

    def make_bucket(self):
        (self.place / "kept" / f"b-{BUCKET}").mkdir(parents=True)

    def command(self):
        return [sys.executable, HERE / "s3_server.py", self.place / "kept", "--port", str(self.port)]

    def control(self, name, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("POST" if body is not None else "GET", f"/-/{name}", json.dumps(body) if body is not None else None)
        text = connection.getresponse().read()
        connection.close()
        return json.loads(text or b"null")

    def faults(self, *faults):
        self.control("faults", list(faults))

    def expire(self, *tokens):
        self.control("expired", list(tokens))

    def requests(self):
        return self.control("requests")

    def done(self):
        return self.control("done")

    @staticmethod
    def wait_for(listed, *texts, seconds=60):
        """Until each text is in a request that listed() gives."""
        for _ in range(seconds * 50):
            if all(any(text in one for one in listed()) for text in texts):
                return
            time.sleep(0.02)
        raise AssertionError(f"no such requests: {texts} in {listed()[-20:]}")


class Gateway(Server):
    name = "versitygw"
    names_max = 255  # bytes of a part of a key: it keeps objects as files
    fails_on_wish = False

    @staticmethod
    def is_there():
        return VERSITYGW is not None

    def make_bucket(self):
        (self.place / "kept" / BUCKET).mkdir(parents=True)

    def command(self):
        return [VERSITYGW, "--port", f"127.0.0.1:{self.port}", "--access", s3_server.ACCESS, "--secret", s3_server.SECRET,
                "--quiet", "posix", self.place / "kept"]


def write_keys(path, token):
    """A file of keys, at once."""
    new = path.with_suffix(".new")
    new.write_text(f"[default]\naws_access_key_id={s3_server.ACCESS}\naws_secret_access_key={s3_server.SECRET}\n"
                   f"aws_session_token={token}\n")
    new.rename(path)


def lines(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def noise(path, size):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(os.urandom(MIB) * (size // MIB) + os.urandom(size % MIB))
    return path


def small_tree(top):
    for number in range(40):
        noise(top / f"d{number % 4}" / f"file-{number}", 1000 + number)
    (top / "empty").touch()
    (top / "link").symlink_to("d0/file-0")
    os.mkfifo(top / "fifo")
    os.setxattr(top / "d1/file-1", "user.some", b"value")
    return top


def check_no_secrets(server, place):
    for said in server.said:
        expect(s3_server.SECRET not in said and "Signature=" not in said, "nothing that was printed has a secret", said)
    for top, _, names in os.walk(os.fsencode(place)):
        for path in (os.path.join(top, name) for name in names):
            found = os.lstat(path)
            if stat.S_ISREG(found.st_mode) and found.st_size < MIB:
                with open(path, "rb") as file:
                    expect(s3_server.SECRET.encode() not in file.read(), f"{path} has no secret")


def on_each_server(check):
    """Calls check(server, an empty directory) for each that there is here. Ends with 77 where forebay has no S3."""
    if not (BUILD / "lib/libforebay_s3.so").exists():
        print("forebay was built without S3")
        sys.exit(77)
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="forebay-s3-", dir=memory) as top:
        top = pathlib.Path(top)
        try:
            for kind in (Own, Gateway):
                if kind is Gateway and not Gateway.is_there():
                    print("versitygw is not installed: left out")
                    continue
                begin = time.monotonic()
                with kind(top / kind.__name__) as server:
                    place = top / kind.__name__ / "place"
                    place.mkdir()
                    check(server, place)
                    check_no_secrets(server, place)
                print(f"{kind.name}: good, in {time.monotonic() - begin:.1f} s")
        finally:
            conformance.removed(top)
            top.mkdir()
