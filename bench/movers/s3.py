#!/usr/bin/env python3
"""forebay copy and sync to and from S3 beside s5cmd, rclone and curl, against versitygw on this machine.

    bench/movers/s3.py [--json] [--repeats 5] [--mib 1024] [--files 2000] [--memory DIR] [--csv FILE]

Method: the server keeps its objects in memory. In each turn every program does its work once, one after the other, each with
a prefix of its own that never was there before; what is removed is removed outside of the time. forebay keeps owners,
permissions and times, and so does rclone (--metadata); s5cmd and curl keep none. curl sends parts of 64 MiB, four at once,
that dd cuts. A ratio is our seconds over those of the other, the median of all turns; its quartiles are those of the turns.
Programs that are missing are left out. scripts/bootstrap bench brings rclone and versitygw.
"""

import argparse
import csv
import datetime
import json
import os
import pathlib
import platform
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOREBAY = pathlib.Path(os.environ.get("FOREBAY_BINARY_DIR", ROOT / "build")) / "bin/forebay"
ACCESS, SECRET, BUCKET = "benchkey", "benchsecret", "bench"
SMALL_BYTES = 8 << 10
SERVER_SECONDS = 10


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Gateway:
    def __init__(self, place):
        self.objects = place / "objects"
        (self.objects / BUCKET).mkdir(parents=True)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        program = shutil.which("versitygw") or shutil.which(ROOT / "build/go/versitygw")
        if not program:
            raise SystemExit("bench/movers/s3: versitygw is missing: scripts/bootstrap bench")
        self.process = subprocess.Popen([program, "--port", f"127.0.0.1:{self.port}", "--access", ACCESS, "--secret", SECRET, "--quiet",
                                         "posix", self.objects], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + SERVER_SECONDS
        while time.monotonic() < until:
            with socket.socket() as one:
                if one.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise SystemExit("bench/movers/s3: versitygw does not listen")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def curl_upload(place, url, source):
    """A script: begin, parts, end. libcurl wants the hash of the body named, and an equals sign behind "uploads"."""
    (place / "curlrc").write_text(f'silent\nfail\nuser = "{ACCESS}:{SECRET}"\naws-sigv4 = "aws:amz:us-east-1:s3"\n'
                                  'header = "x-amz-content-sha256: UNSIGNED-PAYLOAD"\nheader = "Expect:"\n')
    size = (source / "big").stat().st_size
    parts = size // (64 << 20)
    script = place / "curl-parts"
    script.write_text(f"""set -eo pipefail
url=$1; work=$(mktemp -d {place}/parts.XXXX)
id=$(curl -K {place}/curlrc -X POST "$url?uploads=" | sed -n 's/.*<UploadId>\\(.*\\)<\\/UploadId>.*/\\1/p')
part() {{
    dd if={source}/big bs=64M skip=$(($1 - 1)) count=1 status=none of="$work/$1"
    curl -K {place}/curlrc -T "$work/$1" -D "$work/head.$1" -o /dev/null "$url?partNumber=$1&uploadId=$id"
    rm "$work/$1"
}}
export -f part; export url work id
seq {parts} | xargs -P 4 -I N bash -c 'part N'
{{
    echo "<CompleteMultipartUpload>"
    for number in $(seq {parts}); do
        echo "<Part><PartNumber>$number</PartNumber><ETag>$(sed -n 's/^[Ee][Tt]ag: *\\([^\\r]*\\).*/\\1/p' "$work/head.$number" | tr -d '\\r')</ETag></Part>"
    done
    echo "</CompleteMultipartUpload>"
}} > "$work/end"
curl -K {place}/curlrc -X POST --data-binary "@$work/end" -o /dev/null "$url?uploadId=$id"
rm -r "$work"
""")
    return ["bash", script, url]


class Bench:
    def __init__(self, place, gateway, given):
        self.place, self.gateway, self.repeats = place, gateway, given.repeats
        self.samples = {}
        self.count = 0
        plain = {name: value for name, value in os.environ.items() if not name.startswith("AWS_") and not name.lower().endswith("_proxy")}
        self.environment = plain | {"AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1",
                                    "AWS_ENDPOINT_URL": gateway.url, "RCLONE_CONFIG": str(place / "rclone.conf")}
        (place / "rclone.conf").write_text(f"[gw]\ntype = s3\nprovider = Other\nenv_auth = true\nendpoint = {gateway.url}\n"
                                           "force_path_style = true\n")
        self.one, self.small = place / "one", place / "small"
        self.one.mkdir()
        self.small.mkdir()
        noise = os.urandom(1 << 20)
        with (self.one / "big").open("wb") as file:
            for number in range(given.mib):
                file.write(noise[number:] + noise[:number])
        for number in range(given.files):
            (self.small / f"file-{number}").write_bytes(noise[number:number + SMALL_BYTES])

    def programs(self):
        return ["forebay", *[name for name in ("s5cmd", "rclone", "curl") if shutil.which(name)]]

    def run(self, operation, name, command):
        begin = time.perf_counter()
        done = subprocess.run([str(word) for word in command], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        seconds = time.perf_counter() - begin
        if done.returncode:
            raise SystemExit(f"bench/movers/s3: {name} exits with {done.returncode}: {command}\n{(done.stdout + done.stderr)[-1000:]}")
        self.samples.setdefault(operation, {}).setdefault(name, []).append(seconds)

    def put(self, operation, name, source, prefix):
        address = f"s3://{BUCKET}/{prefix}"
        if name == "curl" and source == self.one:
            self.run(operation, name, curl_upload(self.place, f"{self.gateway.url}/{BUCKET}/{prefix}/big", source))
        elif name == "forebay":
            self.run(operation, name, [FOREBAY, "copy", source, address])
        elif name == "s5cmd":
            self.run(operation, name, ["s5cmd", "--endpoint-url", self.gateway.url, "cp", f"{source}/", f"{address}/"])
        elif name == "rclone":
            self.run(operation, name, ["rclone", "copy", "--metadata", "--transfers", "16", source, f"gw:{BUCKET}/{prefix}"])

    def get(self, operation, name, source, prefix):
        address, target = f"s3://{BUCKET}/{prefix}", self.place / "got"
        if name == "curl" and source == self.one:
            self.run(operation, name, ["curl", "-K", self.place / "curlrc", "-o", target, f"{self.gateway.url}/{BUCKET}/{prefix}/big"])
        elif name == "forebay":
            self.run(operation, name, [FOREBAY, "copy", address, target])
        elif name == "s5cmd":
            self.run(operation, name, ["s5cmd", "--endpoint-url", self.gateway.url, "cp", f"{address}/*", f"{target}/"])
        elif name == "rclone":
            self.run(operation, name, ["rclone", "copy", "--metadata", "--transfers", "16", f"gw:{BUCKET}/{prefix}", target])
        subprocess.run(["rm", "-rf", target], check=True)

    def again(self, operation, name, source, prefix):
        address = f"s3://{BUCKET}/{prefix}"
        if name == "forebay":
            self.run(operation, name, [FOREBAY, "sync", source, address])
        elif name == "s5cmd":
            self.run(operation, name, ["s5cmd", "--endpoint-url", self.gateway.url, "sync", f"{source}/", f"{address}/"])
        elif name == "rclone":
            self.run(operation, name, ["rclone", "sync", "--metadata", "--transfers", "16", source, f"gw:{BUCKET}/{prefix}"])

    def turn(self):
        for what, source in (("1 file", self.one), ("small files", self.small)):
            for name in self.programs():
                self.count += 1
                prefix = f"p{self.count}"
                self.put(f"put {what}", name, source, prefix)
                if not (self.gateway.objects / BUCKET / prefix).exists():
                    continue
                self.get(f"get {what}", name, source, prefix)
                if source == self.small:
                    self.again("sync small files, unchanged", name, source, prefix)
                subprocess.run(["rm", "-rf", self.gateway.objects / BUCKET / prefix], check=True)

    def rows(self):
        for operation, of_names in self.samples.items():
            ours = of_names["forebay"]
            for name, seconds in of_names.items():
                ratios = sorted(one / other for one, other in zip(ours, seconds))
                quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
                yield {"operation": operation, "program": name, "seconds": round(statistics.median(seconds), 3),
                       "ratio": round(statistics.median(ratios), 3), "quartiles": f"{quartiles[0]:.2f} to {quartiles[2]:.2f}"}


def processor():
    lines = [line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return lines[0].split(":", 1)[1].strip() if lines else platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--mib", type=int, default=1024, help="of the large file, a multiple of 64")
    parser.add_argument("--files", type=int, default=2000, help="small files of 8 KiB")
    parser.add_argument("--memory", default="/dev/shm")
    parser.add_argument("--csv")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the server ends with it
    with tempfile.TemporaryDirectory(prefix="forebay-s3-bench-", dir=given.memory) as top:
        place = pathlib.Path(top)
        with Gateway(place) as gateway:
            bench = Bench(place, gateway, given)
            for _ in range(given.repeats):
                bench.turn()
            rows = list(bench.rows())
    about = {"date": datetime.date.today().isoformat(), "processor": f"{os.cpu_count()} x {processor()}",
             "load_before": round(load, 2), "repeats": given.repeats, "mib": given.mib, "files": given.files}
    if given.csv:
        with open(given.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, [*rows[0], *about])
            writer.writeheader()
            writer.writerows(row | about for row in rows)
    if given.json:
        print(json.dumps(about | {"rows": rows}))
        return
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    for row in rows:
        print(f"{row['operation']:28} {row['program']:8} {row['seconds']:7.2f} s   ours/its {row['ratio']:5.2f} ({row['quartiles']})")


if __name__ == "__main__":
    sys.exit(main())
