"""Reports the storage targets that kept a job waiting, from the job's Darshan log. `forebay report --darshan LOG`
starts this file. It needs nothing of the package except the two files beside it."""

import argparse
import json
import re
import sys

from darshan_log import MISSING, UNSUPPORTED, USAGE, Failed, read_log  # pylint: disable=import-error
from darshan_rule import judge, median  # pylint: disable=import-error

TARGETS_SHOWN = 8  # beside the slow targets
SERVERS_BYTES_MAX = 16 << 20


def servers_in(text):
    """{target: address of its server} from the output of `lctl get_param osc.*.ost_conn_uuid` or `lctl dl -t`: the
    first OSTxxxx and the last word with an @ of each line."""
    servers = {}
    for line in text.splitlines():
        target, addresses = re.search(r"OST([0-9a-fA-F]{4})", line), re.findall(r"[^\s=]*@[^\s=]*", line)
        if target and addresses:
            servers[int(target[1], 16)] = addresses[-1]
    return servers


def by_server(mount, servers):
    """Servers, slow ones first. A server is slow if at least half of its targets are slow, and at least two."""
    groups = {}
    for target in mount["targets"]:
        groups.setdefault(servers.get(target["target"], ""), []).append(target)
    rows = []
    for name, targets in sorted(groups.items()):
        slow = sum(target["slow"] for target in targets)
        rows.append({"name": name, "targets": len(targets), "slow_targets": slow, "files": sum(one["files"] for one in targets),
                     "bytes": sum(one["bytes"] for one in targets), "seconds": max(one["seconds"] for one in targets),
                     "ratio": median([one["ratio"] for one in targets]),
                     "slow": bool(name) and slow >= 2 and 2 * slow >= len(targets)})
    return sorted(rows, key=lambda row: (not row["slow"], row["ratio"]))


def show_bytes(size):
    prefix = 0
    while size >= 999.95 and prefix < 5:
        size, prefix = size / 1000, prefix + 1
    digits = 0 if not prefix or size >= 99.95 else 1 if size >= 9.995 else 2
    return f"{size:.{digits}f} {('', 'k', 'M', 'G', 'T', 'P')[prefix]}B"


def show_seconds(seconds):
    """Seconds, never minutes, so that readers can compare them."""
    return f"{seconds:.{1 if seconds < 100 else 0}f} s"


def show(text):
    """A name without control characters for the terminal."""
    return "".join(letter if letter.isprintable() else "".join(f"\\x{byte:02x}" for byte in letter.encode(errors="replace"))
                   for letter in text)


def ost_name(target):
    """The name in Lustre's own messages."""
    return f"OST{target['target']:04x}"


def table(titles, rows, to_left):
    """Numbers are aligned right, words left."""
    rows = [titles, *([show(str(cell)) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width) if title in to_left else cell.rjust(width)
                        for cell, width, title in zip(row, widths, titles)).rstrip())


def print_mount(mount, servers):
    slow = [target for target in mount["targets"] if target["slow"]]
    print(f"\n{show(mount['mount']) or '(the mount is unknown)'}: {show_bytes(mount['bytes'])} in {mount['files']} files on "
          f"{len(mount['targets'])} targets, written in {show_seconds(mount['seconds'])}")
    if mount["small_files"]:
        print(f"{mount['small_files']} much smaller files are left out, as they tell nothing about targets.")
    if servers:
        table(("server", "targets", "slow", "files", "bytes", "writing", "of median", ""),
              [(row["name"] or "unknown", row["targets"], row["slow_targets"], row["files"], show_bytes(row["bytes"]),
                show_seconds(row["seconds"]), f"{row['ratio']:.3f}", "SLOW" if row["slow"] else "")
               for row in by_server(mount, servers)], ("server", ""))
    shown = mount["targets"][:len(slow) + TARGETS_SHOWN]
    table(("target", "name", "files", "bytes", "writing", "rate", "of median", "its files", "correlation", ""),
          [(one["target"], ost_name(one), one["files"], show_bytes(one["bytes"]), show_seconds(one["seconds"]),
            show_bytes(one["rate"]) + "/s", f"{one['ratio']:.3f}", f"{one['file_ratio']:.3f}", f"{one['correlation']:.2f}",
            "SLOW" if one["slow"] else "") for one in shown], ("name", ""))
    if len(shown) < len(mount["targets"]):
        print(f"and {len(mount['targets']) - len(shown)} faster targets. --json lists all.")
    if not mount["told_apart"]:
        print("Every file is on every target, so this log cannot show a slow target.")
        return
    if not slow:
        print("No target is slow.")
    for one in slow:
        print(f"Target {one['target']} ({ost_name(one)}) is slow: it took {show_seconds(one['seconds'])} for "
              f"{show_bytes(one['bytes'])}, {one['ratio']:.3f} of the median rate; its files were written at "
              f"{one['file_ratio']:.3f} of the\nmedian of all (correlation {one['correlation']:.2f} over {mount['files']} files).")
    them = "it" if len(slow) == 1 else "them"
    if "seconds_without" in mount:
        print(f"Without {them} the same bytes would have taken about {show_seconds(mount['seconds_without'])} instead of "
              f"{show_seconds(mount['seconds'])}: {mount['seconds'] / mount['seconds_without']:.1f} times as fast.")
        print(f"Exclude {them} for new files, and use all other targets:\n  {mount['setstripe']}")


def json_of(mount, servers):
    targets = [{"target": one["target"], "name": ost_name(one), "slow": one["slow"]}
               | ({"server": servers[one["target"]]} if one["target"] in servers else {})
               | {key: one[key] for key in ("files", "bytes", "seconds", "rate", "ratio", "file_ratio", "z", "correlation")}
               for one in mount["targets"]]
    head = {key: mount[key] for key in ("mount", "files", "small_files", "bytes", "seconds", "median_rate", "told_apart")}
    head["slow"] = [one["target"] for one in targets if one["slow"]]
    head |= {key: mount[key] for key in ("seconds_without", "setstripe") if key in mount}
    if servers:
        head["slow_servers"] = [row["name"] for row in by_server(mount, servers) if row["slow"]]
    return head | {"targets": targets}


def read_servers(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            servers = servers_in(file.read(SERVERS_BYTES_MAX))
    except OSError as error:
        raise Failed(MISSING, f"{path}: {error.strerror}", "") from error
    if not servers:
        raise Failed(USAGE, f"{path} has no server for any target",
                     "lctl get_param 'osc.*.ost_conn_uuid' > FILE, on a client")
    return servers


def report(given):
    servers = read_servers(given.servers) if given.servers else {}
    log = read_log(given.log)
    files, elsewhere, only_read, only_read_bytes = log.files()
    if not files:
        if only_read:
            raise Failed(UNSUPPORTED, f"{given.log}: the job has written nothing to Lustre, and has read "
                         f"{show_bytes(only_read_bytes)} from {only_read} file{'s' * (only_read != 1)} there: targets are judged "
                         "only by writes", "give the log of a job that writes there")
        raise Failed(UNSUPPORTED, f"{given.log} has no targets for the written files",
                     "use Lustre, and a Darshan with its Lustre module")
    mounts = judge(files)
    if given.json:
        print(json.dumps({"log": given.log, "reader": log.reader, "processes": log.processes, "seconds": log.seconds,
                          "partial": log.partial, "elsewhere": elsewhere, "only_read": only_read,
                          "only_read_bytes": only_read_bytes, "mounts": [json_of(mount, servers) for mount in mounts]}, indent=1))
        return
    print(f"{show(given.log)}  {log.processes} processes, {show_seconds(log.seconds)}, read by {show(log.reader)}")
    if log.partial:
        print("Darshan had no room for all files of this job. These figures cover a part of them.")
    if elsewhere:
        print(f"{elsewhere} written files are not on Lustre.")
    if only_read:
        print(f"{only_read} file{'s' * (only_read != 1)} on Lustre, {show_bytes(only_read_bytes)}, "
              f"{'was' if only_read == 1 else 'were'} only read: targets are judged only by writes.")
    for mount in mounts:
        print_mount(mount, servers)


def main(arguments=None):
    """Returns the program's exit code."""
    parser = argparse.ArgumentParser(prog="forebay report --darshan", description=__doc__.splitlines()[0])
    parser.add_argument("log")
    parser.add_argument("--servers", default="")
    parser.add_argument("--json", action="store_true")
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        report(parser.parse_args(arguments))
        sys.stdout.flush()
    except Failed as failed:
        code, what, following = failed.args
        print(f"forebay: {show(what)}." + (f"\n  Next: {following}" if following else ""), file=sys.stderr)
        return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
