"""Goal: a timeline is what Perfetto and Chrome's viewer read, holds every timing of the run once, and its slices nest.

Method: runs made by make_timings, one as agents leave it, one with hostile names and clocks that jump. `forebay trace`
writes both formats; Perfetto's own classes (the package perfetto) parse all packets, json the other one. Slices are put
together again from beginnings and ends, and counted against what the run's maker has told.
"""

import collections
import json
import pathlib
import sys
import tempfile

import forebay_test
from forebay_test import BUILD, expect, forebay, output_of

try:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

# A slice of any format. `of`: the names of its process and its track; `within`: how deep it lies.
Slice = collections.namedtuple("Slice", "of name category start end within arguments")
PHASES = ("wait", "plan", "copy", "agree")
BYTES_A_SLICE_MAX = 130  # with its share of points of counters, two for each write
NODES_SHOWN = 32


def make(directory, *arguments):
    return [json.loads(line) for line in output_of(BUILD / "tests" / "make_timings", directory, *arguments).splitlines()]


class PerfettoFile:
    """The slices and counters of a file of TrackEvents."""

    def __init__(self, path):
        self.slices, self.counters, self.tracks, self.processes = [], collections.defaultdict(list), {}, {}
        self.names = {"event_categories": {}, "event_names": {}, "debug_annotation_names": {},
                      "debug_annotation_string_values": {}}
        open_slices = collections.defaultdict(list)
        trace = perfetto.Trace()
        trace.ParseFromString(path.read_bytes())
        expect(not trace.packet[0].HasField("track_event"), "the first packet says which clock is meant")
        clocks = {clock.clock_id: clock.timestamp for clock in trace.packet[0].clock_snapshot.clocks}
        expect(len(clocks) == 2 and len(set(clocks.values())) == 1, "the clock of packets is the time of day", clocks)
        self.origin = next(iter(clocks.values()))
        for packet in trace.packet:
            expect(packet.trusted_packet_sequence_id == 1, "one sequence")
            if packet.HasField("track_descriptor"):
                self.describe(packet.track_descriptor)
            for table, known in self.names.items():
                for entry in getattr(packet.interned_data, table):
                    text = entry.name if hasattr(entry, "name") else entry.str
                    known[entry.iid] = text if isinstance(text, str) else text.decode()
            if packet.HasField("track_event"):
                expect(packet.sequence_flags == 2, "an event needs the names before it")
                self.take(packet.timestamp, packet.track_event, open_slices[packet.track_event.track_uuid])
        expect(not any(open_slices.values()), "every slice has an end")

    def describe(self, track):
        expect(track.uuid not in self.tracks and track.uuid not in self.processes, "a track has a number of its own")
        if track.HasField("process"):
            expect(track.process.pid not in (one[1] for one in self.processes.values()), "and a process")
            self.processes[track.uuid] = (track.process.process_name, track.process.pid)
        else:
            self.tracks[track.uuid] = (self.processes[track.parent_uuid][0], track.name)

    def take(self, time, event, open_slices):
        track = self.tracks[event.track_uuid]
        if event.type == perfetto.TrackEvent.TYPE_COUNTER:
            self.counters[track].append((time, event.double_counter_value))
        elif event.type == perfetto.TrackEvent.TYPE_SLICE_BEGIN:
            expect(not open_slices or time >= open_slices[-1][1], "beginnings of a track rise")
            open_slices.append((event, time))
        else:
            begin, start = open_slices.pop()
            expect(time >= start, "an end lies behind its beginning")
            self.slices.append(Slice(track, begin.name or self.names["event_names"][begin.name_iid],
                                     self.names["event_categories"][begin.category_iids[0]], start, time,
                                     len(open_slices), dict(map(self.argument, begin.debug_annotations))))

    def argument(self, value):
        name = self.names["debug_annotation_names"][value.name_iid]
        if value.HasField("string_value_iid"):
            return name, self.names["debug_annotation_string_values"][value.string_value_iid]
        return name, getattr(value, value.WhichOneof("value"))


class ChromeFile:
    """The slices of a file for Chrome's viewer."""

    def __init__(self, path):
        trace = json.loads(path.read_text(encoding="utf-8"))
        self.origin = int(trace["otherData"]["origin_unix_ns"])
        names, processes, found = {}, {}, collections.defaultdict(list)
        self.points = 0
        for event in trace["traceEvents"]:
            if event["ph"] == "M":
                place = names if event["name"] == "thread_name" else processes if event["name"] == "process_name" else {}
                place[(event["pid"], event.get("tid"))] = event["args"]["name"] if "name" in event["args"] else None
            elif event["ph"] == "X":
                found[(event["pid"], event["tid"])].append(event)
            else:
                self.points += 1
        self.slices = []
        for (process, track), events in found.items():
            open_ends = []
            for event in events:
                start = self.origin + round(event["ts"] * 1000)
                end = start + round(event["dur"] * 1000)
                while open_ends and (open_ends[-1] < end or open_ends[-1] <= start < end):
                    expect(open_ends.pop() <= start, "slices of a track do not overlap", event)
                self.slices.append(Slice((processes[(process, None)], names[(process, track)]), event["name"], event["cat"],
                                         start, end, len(open_ends), event["args"]))
                open_ends.append(end)


def check_no_overlap(slices):
    """Of a track: siblings one after the other, children within what holds them."""
    tracks = collections.defaultdict(list)
    for one in slices:
        tracks[one.of].append(one)
    for of, those in tracks.items():
        for depth in {one.within for one in those}:
            level = sorted((one for one in those if one.within == depth), key=lambda one: (one.start, one.end))
            for before, after in zip(level, level[1:]):
                expect(before.end <= after.start, f"slices of {of} do not overlap", (before, after))


def check_plain(directory, made):
    run, out = directory / "run7", directory / "run7.pftrace"
    told = json.loads(forebay("trace", run, "--json", "--out", out, cwd=directory))
    trace = PerfettoFile(out)
    check_no_overlap(trace.slices)
    expect(told["slices"] == len(trace.slices) and told["bytes"] == out.stat().st_size, "the verb tells what it wrote", told)
    expect(told["points"] == sum(map(len, trace.counters.values())) and told["left_out"] == 0, "and points", told)
    found = collections.Counter((one.of[0], one.name) for one in trace.slices if one.category != "snapshot")
    expected = {(f"nid{10000 + node['node']}", kind): count for node in made for kind, count in node["kinds"].items()}
    expect(found == expected, "every timing is a slice", (found, expected))
    snapshots = [one for one in trace.slices if one.category == "snapshot"]
    expect(len(snapshots) == sum(node["batches"] for node in made), "and every snapshot")
    expect({one.arguments["outcome"] for one in snapshots} == {"committed", "found_committed"}, "with its outcome")
    for one in trace.slices:
        expect(one.arguments["stream"] == "restart" and one.arguments["step"] % 100 == 0, "a slice names its snapshot", one)
        expect((one.name in PHASES or one.name == "sync") == (one.within == 1), "phases lie within their saves", one)
    writes = [one for one in trace.slices if one.name == "write"]
    expect({one.of[1] for one in writes} == {f"writer {lane}" for lane in (1, 2, 3, 4)}, "4 write at once",
           {one.of for one in writes})
    expect({one.arguments["target"] for one in writes} == {f"OST000{target}" for target in range(6)}, "to six targets")
    expect(sum(one.arguments["bytes"] for one in writes) == sum(node["kib_written"] for node in made) * 1024, "all bytes")
    check_counters(trace, made)
    size = out.stat().st_size / len(trace.slices)
    print(f"{len(trace.slices)} slices, {size:.1f} bytes each with {told['points']} points of counters")
    expect(size < BYTES_A_SLICE_MAX, "a slice is small", size)
    return trace


def check_counters(trace, made):
    for node in made:
        points = trace.counters[(f"nid{10000 + node['node']}", "drained")]
        moved = sum(value * (after - time) / 1e9 for (time, value), (after, _) in zip(points, points[1:]))
        expect(abs(moved / (node["kib_written"] * 1024) - 1) < 1e-6, "the rate times its time is what was written", moved)
        expect(points[-1][1] == 0, "and ends at nothing", points[-1])
        backlog = trace.counters[(f"nid{10000 + node['node']}", "backlog")]
        expect([value for _, value in backlog] == [128 << 20, 0] * 5, "what waits is a snapshot at a time", backlog)


def check_formats_alike(directory, run, trace):
    out = directory / "alike.json"
    forebay("trace", run, "--format", "json", "--out", out, "--replace")
    chrome = ChromeFile(out)
    check_no_overlap(chrome.slices)
    expect(chrome.origin == trace.origin, "both begin with the first slice")

    def plain(one):
        arguments = {key: value[-1] if isinstance(value, list) else value for key, value in one.arguments.items()}
        return (one.of, one.start, -one.end, one.within, one.name, one.category, sorted(map(str, arguments.items())))

    both = [sorted(map(plain, slices)) for slices in (trace.slices, chrome.slices)]
    wrong = [pair for pair in zip(*both) if pair[0] != pair[1]]
    expect(len(both[0]) == len(both[1]) and not wrong, "both formats have the same slices", wrong[:3])
    expect(chrome.points == sum(map(len, trace.counters.values())), "and points of counters")


def check_parts(directory):
    run, out = directory / "run7", directory / "part.pftrace"
    forebay("trace", run, "--steps", "200:300", "--out", out)
    expect({one.arguments["step"] for one in PerfettoFile(out).slices} == {200, 300}, "--steps takes a part")
    before = out.read_bytes()
    expect("exists" in forebay("trace", run, "--out", out, code=2), "a file is not replaced unasked")
    expect(out.read_bytes() == before, "and stays as it was")
    forebay("trace", run, "--steps", ":100", "--out", out, "--replace")
    expect({one.arguments["step"] for one in PerfettoFile(out).slices} == {100}, "--replace replaces it")
    expect("no timings of that session" in forebay("trace", run, "--session", 9, "--out", directory / "no", code=3),
           "of a session that is none")
    expect("--steps is FIRST:LAST" in forebay("trace", run, "--steps", "9:x", code=2), "--steps that are none")
    expect("after the last step" in forebay("trace", run, "--steps", "9:3", code=2), "nor backwards")
    expect("pftrace or json" in forebay("trace", run, "--format", "svg", code=2), "a format that is none")
    told = forebay("trace", run, cwd=directory)
    expect((directory / "run7.pftrace").exists() and "run7.pftrace" in told, "the name follows from the run's", told)
    expect(not [path for path in directory.iterdir() if path.name.startswith(".")], "nothing else is left behind")


def check_many(directory):
    """The slowest nodes and some by chance, the same ones each time."""
    run = directory / "many"
    make(run, "plain", 40)
    told = [json.loads(forebay("trace", run, "--json", "--out", directory / f"many{time}")) for time in (1, 2)]
    expect(told[0]["slowest"] == told[1]["slowest"] and told[0]["others"] == told[1]["others"], "twice the same", told)
    expect(told[0]["slowest"][0] == "nid10001" and len(told[0]["slowest"]) == 16, "the slowest node is the first", told)
    shown = {one.of[0] for one in PerfettoFile(directory / "many1").slices}
    expect(shown == set(told[0]["slowest"] + told[0]["others"]) and len(shown) == NODES_SHOWN, "and shown", shown)
    forebay("trace", run, "--all", "--out", directory / "all")
    expect(len({one.of[0] for one in PerfettoFile(directory / "all").slices}) == 40, "--all shows every node")


def check_hostile(directory):
    run, out = directory / "hostile", directory / "hostile.pftrace"
    made = make(run, "hostile")
    told = forebay("trace", run, "--out", out)
    expect("\x1b" not in told, "the terminal is not commanded", told)
    trace = PerfettoFile(out)
    check_no_overlap(trace.slices)
    for one in trace.slices:
        text = f"{one}"
        expect("\x1b" not in text and "\\x1b[" in f"{one.of[0]}", "names are spelled out", text)
    timings = sum(sum(node["kinds"].values()) for node in made)
    left_out = json.loads(forebay("trace", run, "--json", "--out", out, "--replace"))["left_out"]
    shown = sum(one.category != "snapshot" for one in trace.slices)
    # If the clock jumps past the end of a snapshot, the snapshot has no slice. Impossible times give no slice either.
    jumped = sum(node["batches"] for node in made) - sum(one.category == "snapshot" for one in trace.slices)
    expect(timings == shown + left_out - jumped and left_out > 0, "a timing is a slice or told as left out",
           (timings, shown, left_out, jumped))
    check_formats_alike(directory, run, trace)
    damaged = run / "forebay" / "timings-host1-0.bin"
    damaged.write_bytes(damaged.read_bytes()[:-500])
    text = forebay("trace", run, "--out", out, "--replace", code=1)
    expect("damaged" in text, "damage is told, and the rest shown", text)


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-trace-") as scratch:
        directory = pathlib.Path(scratch).resolve()
        made = make(directory / "run7", "plain")
        trace = check_plain(directory, made)
        check_formats_alike(directory, directory / "run7", trace)
        (directory / "run7.pftrace").unlink()
        check_parts(directory)
        check_many(directory)
        check_hostile(directory)


if __name__ == "__main__":
    main()
