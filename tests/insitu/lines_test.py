"""Goal: results stand for the snapshot whose step they have. What is made of one that a later save replaces, or that the run
goes back behind, never takes the name of what is there now.

Method: sessions of one process; the second goes back, with and without analyses; a script that is held up.
"""

import json
import pathlib
import subprocess
import sys

import pytest

import scripted
from scripted import ENVIRONMENT, Saves, insitu, results, write_config

NUMBERS = '[streams.fields.insitu.num]\nkind = "statistics"\nvariables = ["theta"]\n'


def without_scripts(folder, more):
    """The configuration of scripted.py with other analyses."""
    config = write_config(folder, "")
    head = config.read_text().partition("[streams.fields.insitu.look]")[0]
    config.write_text(head + more)
    return config


def session(folder, more, steps, add, below=None):
    """Saves these steps; behind `below` it goes on from what is there."""
    saves = Saves(folder, without_scripts(folder, more))
    if below is not None:
        assert saves.stream.newest(below=below).read() is None
    for step in steps:
        saves.theta[:] = step + add - 1
        saves.save(step, waits=False)
        if more:
            scripted.soon((saves.run / f"fields.num/step-{step:06d}/manifest.json").exists)
    saves.close()


def means(run):
    """{step: mean} of those that have the name of their step."""
    return {step: found["theta/mean"] for step, found in results(run, "fields.num").items()}


def standing(run):
    """{step: state} as `forebay ls` has them, of the living first."""
    listed = subprocess.run(["forebay", "ls", "--json", f"{run}/fields.num"], env=ENVIRONMENT, check=True, capture_output=True, text=True)
    return sorted((one["step"], one["state"]) for one in json.loads(listed.stdout))


def test_what_the_run_has_gone_back_behind_is_abandoned_with_its_results(tmp_path):
    run = tmp_path / "run"
    session(tmp_path, NUMBERS, [1, 2, 3, 4, 5], 100)
    assert means(run) == {step: step + 100 for step in (1, 2, 3, 4, 5)}
    session(tmp_path, "", [3, 4], 200, below=3)
    assert means(run) == {1: 101, 2: 102}
    assert standing(run) == [(1, "committed"), (2, "committed"), (3, "abandoned"), (4, "abandoned"), (5, "abandoned")]
    config = without_scripts(tmp_path, NUMBERS)
    insitu(config, f"{run}/fields@all")
    assert means(run) == {1: 101, 2: 102, 3: 203, 4: 204}
    (left,) = pathlib.Path(run, "fields").glob("line-*.step-000004")
    refused = insitu(config, left, "--again", code=2)
    assert "a later save has replaced it" in refused.stdout + refused.stderr
    # Of the line that is left there may be a step that the run has not got to again.
    (left,) = pathlib.Path(run, "fields").glob("line-*.step-000005")
    refused = insitu(config, left, "--again", code=2)
    assert "the run has gone back behind it" in refused.stdout + refused.stderr
    assert means(run) == {1: 101, 2: 102, 3: 203, 4: 204}
    insitu(config, left, "--to", tmp_path / "elsewhere")
    assert means(tmp_path / "elsewhere") == {5: 105}


def test_what_is_made_of_a_save_that_was_replaced_meanwhile_is_not_kept(tmp_path):
    reads, go = tmp_path / "reads", tmp_path / "go"
    config = write_config(tmp_path, f"""
@every(1, stream="fields", variables=["theta"])
def look(snapshot):
    top = snapshot["theta"].array.max()
    open({str(reads)!r}, "w").close()
    while not os.path.exists({str(go)!r}): time.sleep(0.01)
    return {{"top": top}}
""")
    saves = Saves(tmp_path, config)
    saves.save(5, waits=False)
    scripted.soon(reads.exists)
    saves.save(5, waits=False)
    go.touch()
    scripted.soon(lambda: saves.stream.counters.scripts_missed == 2 or results(saves.run))
    told, _ = saves.close()
    assert not results(saves.run)
    assert "a later save has replaced it" in told


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
