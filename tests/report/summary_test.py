"""Goal: summary.json is what its schema and its page say, whatever a run holds.

Method: summaries of made runs, hostile and empty ones among them, are validated by jsonschema; the example of
docs/formats/summary.md is what the program prints of the run that it was made of; a schema that lacks a member, or a
summary with a wrong one, would be found.
"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile

from forebay_test import BUILD, FOREBAY, expect, output_of, run

try:
    import jsonschema
except ImportError:
    print("skipped: the package jsonschema is missing")
    sys.exit(77)

FORMATS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "formats"
RUNS = (["targets=3"], ["nodes=1", "snapshots=1"], ["mixed=1"], ["mixed=1", "hostile=1", "targets=4"],
        ["nodes=12", "slow_node=3", "targets=24", "slow_target=5", "slow_target_ratio=0.1"])


def members(schema, page):
    """Every member of the schema that the page does not name."""
    objects = [schema, *schema["$defs"].values(), schema["properties"]["slowdown"]["oneOf"][1]]
    names = {name for each in objects for name in each["properties"]}
    return sorted(name for name in names - {"forebay", "version"} if f"`{name}`" not in page)


def main():
    schema = json.loads((FORMATS / "summary.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    expect(not members(schema, (FORMATS / "summary.md").read_text()), "the page names each member",
           members(schema, (FORMATS / "summary.md").read_text()))
    with tempfile.TemporaryDirectory(prefix="forebay-report-") as scratch:
        for number, options in enumerate(RUNS):
            made = pathlib.Path(scratch, f"run{number}")
            run(BUILD / "tests" / "make_told_run", made, *options)
            text = subprocess.run([FOREBAY, "report", made, "--json"], check=True, capture_output=True).stdout
            expect(all(byte == 10 or 32 <= byte < 127 for byte in text), f"{options}: ASCII alone")
            summary = json.loads(text)
            wrong = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(summary)]
            expect(not wrong, f"{options}: as the schema says", wrong)
            extra = sorted(set(summary) - set(schema["properties"]))
            expect(not extra, f"{options}: members that the schema has", extra)
            spoiled = copy.deepcopy(summary)
            spoiled["snapshot_rows"][0]["drain_seconds"] = -1
            expect(not validator.is_valid(spoiled), "a wrong number is found")
        both = json.loads(output_of(FOREBAY, "report", pathlib.Path(scratch, "run0"), pathlib.Path(scratch, "run1"), "--json"))
        expect([each["snapshots"] for each in both] == [10, 1], "two runs are an array of two summaries")
        example = pathlib.Path(scratch, "example").resolve()
        run(BUILD / "tests" / "make_told_run", example, "nodes=2", "snapshots=2", "targets=2", "node_bytes=67108864")
        printed = output_of(FOREBAY, "report", example, "--json").replace(json.dumps(str(example)), '"/scratch/me/run7"')
        expect(printed == (FORMATS / "examples" / "summary.json").read_text(), "the example is what the program prints")
    print(f"{len(RUNS)} runs and the example are as the schema says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
