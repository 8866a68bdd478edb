"""Goal: a server that is lost in the middle is told by exit code 5, by each verb and by several processes; a scheme that the
server does not speak is named at once; a program that gives keys ends with forebay.

Method: requests of one entry that the server of these tests cuts off; a server of TLS; a program that never answers. Under
versitygw the last two alone.
"""

import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time

from forebay_test import expect
from s3_support import ROOT, on_each_server, small_tree

LOST = {"AWS_MAX_ATTEMPTS": "2"}
LEFT = "are left over, as the server did not answer"


def check_lost(server, place):
    """What is left over failed by the server alone: 5. Where something else failed by itself, or differs: 1."""
    source, target, back = small_tree(place / "lost"), f"{ROOT}/lost", place / "lost-back"
    server.forebay("copy", source, target)
    cut = {"match": "(GET|HEAD|PUT) .*/d2/file-2$|POST .*delete", "times": 10**6, "reset": True}
    for verb in (("copy", source, f"{ROOT}/lost-new"), ("copy", target, back), ("sync", target, back, "--delete"), ("compare", source, target),
                 ("walk", target, "--checksums", place / "sums"), ("delete", target)):
        for hosts in ((), ("--hosts", "localhost")):
            server.faults(cut)
            said = server.forebay(*verb, *hosts, code=5, **LOST)
            expect(LEFT in said and "when the server is back" in said, f"{verb[0]} {hosts}: says why", said)
            server.faults()
    expect(" failed: " in server.said[-1] and "given up" in server.said[-1], "and the entries", server.said[-1])
    server.faults(cut | {"match": "PUT .*/d2/file-2$"}, {"match": "PUT .*/link$", "times": 99, "status": 403, "code": "AccessDenied"})
    server.forebay("copy", source, f"{ROOT}/lost-both", "--threads", 1, "--include", "link", "--include", "file-2", code=1, **LOST)
    server.faults()
    server.forebay("copy", source, target)
    server.forebay("copy", target, back)
    (back / "more").touch()
    server.faults(cut | {"match": "(GET|HEAD) .*/d2/file-2$"})
    server.forebay("compare", target, back, "--threads", 1, code=1, **LOST)
    many = place / "lost-many"
    many.mkdir()
    for number in range(60):
        (many / f"file-{number}").touch()
    server.faults(cut | {"match": "PUT .*/file-"})
    server.forebay("copy", many, f"{ROOT}/lost-many", code=5, **LOST)
    said = server.said[-1]
    lines = [line for line in said.splitlines() if "given up" in line and "  failed: " in line]
    expect(len(lines) < 5 and any(f" more  failed: at the target: PUT {ROOT}/lost-many/*: " in line for line in lines), "one line has all of a cause", said)
    server.faults()


class TlsServer:
    """Takes connections by TLS, and hangs up."""

    def __init__(self, place):
        self.key = place / "tls.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", self.key,
                        "-out", place / "tls.crt"], check=True, capture_output=True)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(place / "tls.crt", self.key)
        self.socket = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                one, _ = self.socket.accept()
            except OSError:
                return
            try:
                self.context.wrap_socket(one, server_side=True).close()
            except OSError:
                one.close()


def check_scheme(server, place):
    begin = time.monotonic()
    said = server.forebay("walk", f"{ROOT}/x", code=2, AWS_ENDPOINT_URL=f"https://127.0.0.1:{server.port}")
    expect("speaks http, but the request used https://" in said and f"AWS_ENDPOINT_URL=http://127.0.0.1:{server.port}" in said, "https, where http is spoken", said)
    if shutil.which("openssl"):
        tls = TlsServer(place)
        port = tls.socket.getsockname()[1]
        said = server.forebay("walk", f"{ROOT}/x", code=2, AWS_ENDPOINT_URL_S3=f"http://127.0.0.1:{port}/below")
        expect("speaks https, but the request used http://" in said and f"AWS_ENDPOINT_URL_S3=https://127.0.0.1:{port}/below" in said, "http, where https is spoken", said)
        said = server.forebay("walk", f"{ROOT}/x", code=2, AWS_ENDPOINT_URL=f"https://127.0.0.1:{port}")
        expect("AWS_CA_BUNDLE" in said, "a certificate that does not count", said)
        tls.socket.close()
    else:
        print("no program openssl: nothing speaks https")
    expect(time.monotonic() - begin < 10, "it is said at once, not after ten attempts")


def gone(pid):
    """Not there, or a zombie that nobody has collected yet."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def check_program(server, place):
    """It has a child of its own, and both end with forebay, whatever ends that."""
    settings, pids = place / "config", place / "pids"
    settings.write_text(f"[default]\ncredential_process = sh -c 'sleep 100 & echo $$ $! > {pids}.new; mv {pids}.new {pids}; wait'\n")
    for ending in (signal.SIGTERM, signal.SIGKILL):
        process = server.begin("walk", f"{ROOT}/x", AWS_CONFIG_FILE=str(settings), AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")
        while not pids.exists():
            expect(process.poll() is None, "it waits for the program")
            time.sleep(0.01)
        both = pids.read_text().split()
        process.send_signal(ending)
        server.end(process, code=-ending)
        for _ in range(500):
            if all(gone(pid) for pid in both):
                break
            time.sleep(0.02)
        expect(all(gone(pid) for pid in both), f"{ending.name}: the program ends, and what it has started", str(both))
        os.remove(pids)


def check(server, place):
    if server.fails_on_wish:
        check_lost(server, place)
    check_scheme(server, place)
    check_program(server, place)


if __name__ == "__main__":
    on_each_server(check)
