"""Goal: `forebay plan` takes inputs from runs, files, cases and options, each with its origin. Its output matches the
schema and the page of advice. Published runs are reproduced within 5 %, and a run with different settings is
recognised.

Method: made runs of known rates, the cases of bench/cases, and a file of each kind.
"""

import copy
import json
import pathlib
import sys
import tempfile

from forebay_test import BUILD, FOREBAY, expect, forebay, output_of, run

try:
    import jsonschema
except ImportError:
    print("skipped: the package jsonschema is missing")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMATS = ROOT / "docs" / "formats"
CASES = ("hacc", "vpic", "palm", "cm1")
OPTIONS = ("--nodes", 64, "--bytes-per-node", "2G", "--drain-rate", "100M:0.1", "--step-seconds", "5m")


def validator():
    schema = json.loads((FORMATS / "advice.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    page = (FORMATS / "advice.md").read_text()
    objects = [schema, *schema["$defs"].values(), schema["$defs"]["setting"]["items"]]
    names = {name for each in objects for name in each.get("properties", {})}
    expect(not [name for name in names if f"`{name}`" not in page], "the page names each member", names)
    return jsonschema.Draft202012Validator(schema), page


def plan(*arguments, code=0):
    return json.loads(forebay("plan", *arguments, "--json", code=code))


def measure(advice, name):
    return next(one for one in advice["measures"] if one["name"] == name)


def check_schema(scratch):
    valid, page = validator()
    example = json.loads((FORMATS / "examples" / "advice.json").read_text())
    advice = [example, plan(*OPTIONS, "--ends-in", "1h", "--local-restarts", 0.5, "--agent-cost", 0.01, "--targets", 8)]
    advice += [plan("--case", ROOT / "bench" / "cases" / f"plan-{name}.toml") for name in CASES]
    for one in advice:
        wrong = [f"{error.json_path}: {error.message}" for error in valid.iter_errors(one)]
        expect(not wrong, "as the schema says", wrong)
        unnamed = [each["name"] for each in one["measures"] if f"`{each['name']}`" not in page]
        expect(not unnamed, "the page lists each measure", unnamed)
    spoiled = copy.deepcopy(example)
    spoiled["measures"][0]["origin"] = "imagined"
    expect(not valid.is_valid(spoiled), "a wrong origin is found")
    # The example is real output: a plan that reads it gets its numbers with their origin.
    taken = plan("--preflight", FORMATS / "examples" / "advice.json", "--bytes-per-node", "1G", "--step-seconds", 60)
    rate = measure(taken, "drain_rate_bytes_per_second")
    expect((rate["value"], rate["cv"], rate["origin"]) == (1.2e9, 0.08, "measured"), "a preflight's rate", rate)
    expect("advice.json, 2026-11-23" in rate["from"], "its file and date", rate)
    expect(measure(taken, "nodes")["value"] == 64, "its nodes")
    wrong_kind = forebay("plan", "--bench", FORMATS / "examples" / "advice.json", code=2)
    expect("is of kind preflight, not bench" in wrong_kind, "a file of another kind is refused", wrong_kind)
    (scratch / "x.json").write_text("{}")
    forebay("plan", "--preflight", scratch / "x.json", code=4)
    forebay("plan", "--preflight", scratch / "none.json", code=3)


def check_cases():
    for name in CASES:
        advice = plan("--case", ROOT / "bench" / "cases" / f"plan-{name}.toml")
        compared = [row for row in advice["rows"] if row["setting"] and row["setting"][0]["name"] == "compared"]
        expect(compared, f"{name}: something was published")
        for row in compared:
            off = next(one["value"] for one in row["measures"] if one["name"] == "off_ratio")
            expect(abs(off) <= 0.05, f"{name}: {row['setting'][0]['value']} within 5 %", off)
    rows = {row["setting"][0]["value"]: row for row in plan("--case", ROOT / "bench/cases/plan-vpic.toml")["rows"]
            if row["setting"] and row["setting"][0]["name"] == "rendezvous"}
    expect("1" in rows, "VPIC with one rendezvous is a row", rows)


def check_files(scratch):
    path = scratch / "plan.json"
    forebay("plan", *OPTIONS, "--mtbf", "6h", "--out", path)
    again = plan("--plan", path)
    first = json.loads(path.read_text())
    expect([one for one in first["measures"] if one["origin"] == "predicted"] ==
           [one for one in again["measures"] if one["origin"] == "predicted"], "a plan of a plan is that plan")
    forebay("plan", *OPTIONS, "--out", path)
    other = scratch / "other.json"
    other.write_text("mine")
    forebay("plan", *OPTIONS, "--out", other, code=2)
    expect(other.read_text() == "mine", "a file that is no plan stays")
    forebay("plan", *OPTIONS, "--out", other, "--replace")
    expect(json.loads(other.read_text())["kind"] == "plan", "it is replaced on wish")


def check_runs(scratch):
    small, large, slow = scratch / "small", scratch / "large", scratch / "slow"
    for place, options in ((small, ["nodes=1"]), (large, ["nodes=8"]), (slow, ["nodes=8", "slow_node=3"])):
        run(BUILD / "tests" / "make_told_run", place, *options)
    advice = plan("--run", small, "--nodes", 8)
    expect(measure(advice, "drain_rate_bytes_per_second")["origin"] == "kept", "a run's rates are kept ones")
    expect(measure(advice, "nodes")["origin"] == "given", "an option goes before")
    text = forebay("plan", "--run", small, "--check", large)
    expect("drain_seconds" in text and "off by more" not in text, "one node tells what eight did", text)
    text = forebay("plan", "--run", small, "--check", slow, code=1)
    expect("off by more than 15 %" in text, "a run with a slow node is off", text)
    told = scratch / "for-large.json"
    forebay("plan", "--run", small, "--nodes", 8, "--mtbf", 0, "--out", told)
    forebay("plan", "--plan", told, "--check", large)
    forebay("plan", "--plan", told, "--check", slow, code=1)
    text = " ".join(forebay("plan", "--run", small, "--nodes", 65, code=1).split())
    expect("for a prediction, give --extrapolate" in text, "no extrapolation in silence", text)
    forebay("plan", "--run", small, "--nodes", 65, "--extrapolate")
    text = " ".join(forebay("plan", "--run", large, "--ends-in", "30m").split())
    expect("the last durable save begins within" in text, "the end of a job", text)
    forebay("plan", "--run", large, "--ends-in", 1, code=1)
    forebay("plan", "--run", scratch / "none", code=3)
    forebay("plan", "--run", large, "--stream", "none", code=3)


def check_inputs(scratch):
    """Output of another verb also comes from standard input, for each option that accepts it."""
    example = FORMATS / "examples" / "advice.json"
    words = ("--bytes-per-node", "1G", "--step-seconds", 60)
    piped = json.loads(forebay("plan", "--preflight", "-", *words, "--json", stdin=example.open()))
    rate = measure(piped, "drain_rate_bytes_per_second")
    expect(rate["from"].startswith("standard input, ") and rate["origin"] == "measured", "it is said where it comes from", rate)
    text = forebay("preflight", "--after", "-", "--out", scratch / "after", "--probe-bytes", 0, code=None, stdin=example.open())
    expect((scratch / "after" / "after.json").exists(), "preflight compares with what comes from there", text)
    text = forebay("preflight", "--after", example, "--out", scratch / "after", "--probe-bytes", 0, code=None)
    expect("exclude.nodes exists" not in text, "its own lists are replaced by the next", text)
    # An invalid file is reported by name, whatever it holds, without filling the memory.
    whole = json.loads(example.read_text())
    deep, huge = "[" * 10_000 + "]" * 10_000, "1" * 400
    wrong = {"cut": example.read_text()[:200], "deep": deep, "deeper": "[" * 60_000_000, "nul": "\0" * 100, "empty": "", "list": "[]",
             "number": json.dumps(whole | {"measures": [whole["measures"][0] | {"value": 0}]}).replace('"value": 0', f'"value": {huge}'),
             "type": json.dumps(whole | {"measures": {"nodes": 1}}), "text": json.dumps(whole | {"made_unix_ns": "now"}),
             "within": json.dumps(whole | {"key": [{"name": "x", "value": 7}]}), "large": " " * 100_000_000 + "{}"}
    for name, held in wrong.items():
        path = scratch / f"{name}.json"
        path.write_text(held)
        for option in ("--preflight", "--bench", "--profile", "--plan"):
            text = forebay("plan", option, path, *words, code=4)
            expect("Next: " in text and name in text, f"{option} of {name} says what to do", text)
        forebay("plan", "--preflight", "-", *words, code=4, stdin=path.open())
        text = forebay("preflight", "--after", path, "--out", scratch / "after", "--probe-bytes", 0, code=4)
        expect("Next: " in text, f"--after {name}", text)
        path.unlink()
    # Impossible numbers are refused or used. The program neither crashes nor hangs.
    for name in ("nodes", "node_bytes", "drain_rate_bytes_per_second", "step_seconds", "mtbf_seconds", "slow_node_ratio", "targets"):
        for number, cv in ((-1, 0), (0, 0), (1e-300, 0), (1e17, 0), (1e300, 0), (None, 0), (1e6, 1e300), (1e6, None)):
            one = whole["measures"][0] | {"name": name, "value": number, "cv": cv}
            path.write_text(json.dumps(whole | {"measures": [*whole["measures"], one]}))
            done = run(FOREBAY, "plan", "--preflight", path, *words, "--steps", 20, code=None, seconds_max=60)
            expect(done.returncode in (0, 1) or done.returncode == 2 and "Next: " in done.stderr, f"{name} {number} {cv}", done)
    path.write_text(json.dumps(whole | {"kind": "bench", "measures": []}))
    text = forebay("plan", "--bench", path, *words, code=2)
    expect("has no row for drains by forebay" in text and "Next: " in text, "a bench of other ways", text)
    path.write_text(json.dumps(whole | {"kind": "bench", "measures": [one | {"from": "row forebay, 4M"} for one in whole["measures"]]}))
    rate = measure(plan("--bench", path, *words), "drain_rate_bytes_per_second")
    expect(rate["from"].endswith(", row forebay, 4M"), "the row of a bench is named", rate)
    text = forebay("plan", "--bench", example, *words, code=2)
    expect("is of kind preflight, not bench" in text and "Next: " in text, "a file of another kind", text)


def check_end():
    text = " ".join(forebay("plan", *OPTIONS, "--ends-in", 0, code=1).split())
    expect("the job ends now: no further save" in text and "ends_in_seconds now" in text, "a job that ends now", text)


def check_next(scratch):
    """A wrong call gets advice."""
    for wrong, code in ((["--run", scratch / "norun"], 3), ([*OPTIONS, "--every", 0], 2), ([*OPTIONS, "--nodes", "1e9"], 2),
                        ([*OPTIONS, "--local-restarts", 0.9, "--target-losses", 0.9], 2), ([*OPTIONS, "--policy", "hope"], 2),
                        ([*OPTIONS, "--drain-rate", "1M:99"], 2), (["--case", scratch / "none.toml"], 3), ([*OPTIONS, "--local-restarts", 2], 2),
                        (["--preflight", scratch / "none.json"], 3), ([*OPTIONS, "--out", scratch / "none" / "x.json"], 3)):
        text = forebay("plan", *wrong, code=code)
        expect("Next: " in text, f"{wrong}", text)


def check_words():
    """Common spellings are accepted; otherwise the nearest word is suggested."""
    for good in (["--what-if", "slow-nodes=30%:0.5"], ["--slow-nodes", "30%:50%"], ["--policy", "newest_only"]):
        plan(*OPTIONS, *good)
    for wrong, told in ((["--what-if", "slow_node=0.3:0.5"], "--what-if slow_nodes=0.3:0.5"), (["--slots", 3], "1 or 2"),
                        (["--mtbf", "12hours"], "s, m, h or d"), (["--steps", 100000], "--every")):
        text = forebay("plan", *OPTIONS, *wrong, code=2)
        expect(told in text[text.find("Next: "):], f"{wrong}", text)


def check_refusals():
    for wrong in (["--drain-rate", "fast"], ["--mtbf", "1y"], ["--nodes", "-1"], ["--slow-nodes", "0.1"],
                  ["--slow-nodes", "2:0.5"], ["--policy", "hope"], ["--what-if", "nodes"], ["--what-if", "node=3"],
                  ["--what-if", "nodes=0"], ["--drain-rate", "1M:x"], ["--slots", "-1"]):
        forebay("plan", *OPTIONS, *wrong, code=2)
    lines = output_of(FOREBAY, "plan", *OPTIONS, "--what-if", "slow_nodes=0.02:0.3", "--slow-nodes", "0.02:0.3").splitlines()
    expect(max(map(len, lines)) <= 100, "at most 100 columns", max(lines, key=len))


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-plan-") as scratch:
        place = pathlib.Path(scratch).resolve()
        check_schema(place)
        check_cases()
        check_files(place)
        check_runs(place)
        check_inputs(place)
        check_end()
        check_next(place)
        check_words()
        check_refusals()
    print("plans are as they say")
    return 0


if __name__ == "__main__":
    sys.exit(main())
