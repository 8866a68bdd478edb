"""Goal: what a script says of a snapshot, by raise_flag() or by conditions over its results, has the consequences that
conditions of built-in analyses have: the snapshot is marked before the results are there, all ranks are told to save or to
end at one step, the log says it; on one node and several, also where the script fails afterwards, and by `forebay insitu`.

Method: sessions of one process, and of ranks of MPI on two nodes, whose scripts find something at a chosen step.
"""

import json
import math
import pathlib
import re
import subprocess
import sys
import time
import types

import pytest

import scripted
from forebay.insitu_worker import Making
from scripted import ENVIRONMENT, Saves, insitu, mpi, results, write_config

HERE = pathlib.Path(__file__).parent
SCRIPT = """
from forebay.insitu import raise_flag
@every(1, stream="fields", variables=["theta"])
def look(snapshot):
    theta = snapshot["theta"].array
    if snapshot.step == 2:
        {}
    return {{"max": theta.max(), "row": theta[0]}}
"""
STOP = "raise_flag('theta is odd', 1.5, ['mark', 'stop'])"


def marks(run):
    """{step: [(analysis, condition, result, value)]} of the marked snapshots of stream fields."""
    listed = subprocess.run(["forebay", "ls", "--json", f"{run}/fields"], env=ENVIRONMENT, check=True, capture_output=True, text=True)
    return {one["step"]: [tuple(mark.values()) for mark in one["marks"]] for one in json.loads(listed.stdout) if one.get("marks")}


def steps_of(run):
    """Of the snapshots that are there."""
    return sorted(int(path.name[5:]) for path in pathlib.Path(run, "fields").glob("step-*[0-9]"))


def three_steps(tmp_path, script, **options):
    """Saves three steps: what the application is given then, what the agent told, and the counters."""
    saves = Saves(tmp_path, write_config(tmp_path, script, **options))
    for step in (1, 2, 3):
        saves.save(step)
    jobs, ended = [], time.monotonic() + 0.3
    while time.monotonic() < ended:
        job = saves.session.job()
        jobs += [job] if job.condition else []
        time.sleep(0.01)
    return jobs, *saves.close()


@pytest.mark.parametrize("action, save, stop", [("mark", None, None), ("tell", False, False), ("save", True, False),
                                                ("stop", True, True), (["mark", "save"], True, False), (("stop", "mark"), True, True)])
def test_a_flag_does_what_its_actions_say(tmp_path, action, save, stop):
    jobs, told, counters = three_steps(tmp_path, SCRIPT.format(f"raise_flag('theta is odd', np.float32(1.5), {action!r})"))
    assert [(job.condition, job.value, job.condition_step, job.save, job.stop) for job in jobs] == (
        [] if action == "mark" else [("fields.look: theta is odd, at step 2", 1.5, 2, save, stop)])
    assert marks(tmp_path / "run") == ({2: [("look", "theta is odd", "", 1.5)]} if "mark" in action else {})
    said = ", ".join(word for word in ("mark", "save", "stop", "tell") if word in action)
    assert f"step 2 of stream 'fields' fulfils a condition: look: theta is odd, {said}\n" in told
    assert counters.scripts_missed == 0 and sorted(results(tmp_path / "run")) == [1, 2, 3]


def test_a_condition_over_what_a_script_returns(tmp_path):
    jobs, told, counters = three_steps(tmp_path, SCRIPT.format("pass"), condition=["row == 2", "max == 25", "min > 0"],
                                       action=["mark", "stop"])
    assert [(job.condition, job.value, job.stop) for job in jobs] == [
        ("fields.look: row == 2 (row is 2), at step 1", 2, True), ("fields.look: row == 2 (row is 2), at step 2", 2, True),
        ("fields.look: max == 25 (max is 25), at step 2", 25, True)]
    assert marks(tmp_path / "run")[1] == [("look", "row == 2", "row", 2)]
    assert sorted(marks(tmp_path / "run")[2]) == [("look", "max == 25", "max", 25), ("look", "row == 2", "row", 2)]
    assert told.count("analysis 'look': no result matches condition 'min > 0'") == 1
    assert counters.scripts_missed == 0


def test_a_snapshot_is_marked_before_its_results_are_there(tmp_path):
    _, told, _ = three_steps(tmp_path, SCRIPT.format(STOP), condition=["max == 25"])
    written = tmp_path / "run/fields.look/step-000002/manifest.json"
    assert written.exists(), told
    made = [path.stat().st_mtime_ns for path in tmp_path.glob("run/fields/step-000002/.marks/*.json")]
    assert len(made) == 2 and max(made) < written.stat().st_mtime_ns


@pytest.mark.parametrize("act", ["1 / 0", "return 5", "raise_flag('')"])
def test_a_flag_counts_though_its_function_fails_afterwards(tmp_path, act):
    jobs, _, counters = three_steps(tmp_path, SCRIPT.format(f"{STOP}; {act}"))
    assert [job.condition_step for job in jobs] == [2] and list(marks(tmp_path / "run")) == [2]
    assert counters.scripts_missed == 1 and sorted(results(tmp_path / "run")) == [1, 3]


REFUSED = [(r"{'max': 25, 'blob': bytes([255]) * 70_000}", "returned 'blob' with 70000 bytes an element, at most 65536"),
           (r"{'max': 25, 'bad\udcff': 1}", r"returned 'bad\udcff' as a name, which is not Unicode: it is left out")]


@pytest.mark.parametrize("value, said", REFUSED)
def test_a_result_that_is_refused_costs_no_flag_and_no_condition(tmp_path, value, said):
    script = SCRIPT.format(f"{STOP}; return {value}")
    jobs, told, counters = three_steps(tmp_path, script, condition=["max == 25"])
    assert [job.condition_step for job in jobs] == [2] and len(marks(tmp_path / "run")[2]) == 2
    assert told.count(said) == 1 and counters.scripts_missed == 0
    assert [sorted(one) for one in results(tmp_path / "run").values()] == [["max", "row"], ["max"], ["max", "row"]]
    done = insitu(tmp_path / "look.py", f"{tmp_path}/run/fields", "--python", sys.executable, "--again", "--to", tmp_path / "to", code=1)
    assert f"  fulfils look: theta is odd\n  analysis 'look': function 'look' {said}" in done.stdout and not done.stderr
    assert sorted(results(tmp_path / "to")[2]) == ["max"]


def test_flags_count_though_conditions_cannot_be_looked_at():
    acted = []
    def act(*given):
        acted.append((given[2], given[4]))
        if given[2]:
            raise scripted.forebay.Error("refused")
        return [], []
    making = Making(types.SimpleNamespace(say=print), types.SimpleNamespace(nodes=1, stream="fields", step=1),
                    types.SimpleNamespace(name="look", memory_limit_bytes=0, script="look.py"), 0)
    making.begin({"look.py": types.SimpleNamespace(due=lambda *_: [], has_looked=lambda *_: True, must_look=lambda _: None)})
    with making._flags.open():  # pylint: disable=protected-access
        scripted.raise_flag("odd", 1)
    making._found.add({"max": 25}, "look")  # pylint: disable=protected-access
    with pytest.raises(scripted.forebay.Error):
        making.end(types.SimpleNamespace(act=act))
    assert acted[-1] == ([], [("odd", 1.0, ["mark"])])


def test_flags_of_a_slot_that_a_save_has_taken_count_for_nothing(tmp_path):
    act = f"{STOP}; open({str(tmp_path / 'reads')!r}, 'w').close()\n" + f"""
        while not os.path.exists({str(tmp_path / 'go')!r}): time.sleep(0.01)"""
    config = write_config(tmp_path, SCRIPT.format(act))
    config.write_text(config.read_text().replace("slots = 2", "slots = 1"))
    saves = Saves(tmp_path, config)
    saves.save(2, waits=False)
    scripted.soon((tmp_path / "reads").exists)
    saves.save(3, waits=False)
    (tmp_path / "go").touch()
    scripted.soon(lambda: saves.stream.counters.scripts_missed == 2 or 3 in results(saves.run))
    assert saves.session.job().condition == ""
    saves.close()
    assert not marks(saves.run)


WRONG = [
    ("raise_flag(5)", "TypeError: raise_flag: text is a int, and must be a line of text"),
    ("raise_flag('')", "ValueError: raise_flag: text is '': a line of 1 to 512 bytes is expected, without control characters"),
    (r"raise_flag('so\nmade 7')", r"raise_flag: text is 'so\nmade 7': a line of 1 to 512"),
    (r"raise_flag('\x1b[2J')", "a line of 1 to 512"), (r"raise_flag('\ud800')", "a line of 1 to 512"),
    ("raise_flag('x' * 513)", "..: a line of 1 to 512"), ("raise_flag('ä' * 257)", "..: a line of 1 to 512"),
    ("raise_flag('a', 'high')", "TypeError: raise_flag: value is 'high', and must be a number"),
    ("raise_flag('a', 1j)", "value is 1j, and must be a number"), ("raise_flag('a', theta)", "and must be a number"),
    ("raise_flag('a', None)", "value is None, and must be a number"),
    ("raise_flag('a', action='halt')", "ValueError: raise_flag: action is 'halt', and must be mark, save, stop, tell, or a list of them"),
    ("raise_flag('a', action=['mark', 1])", "action is ['mark', 1], and must be mark, save"), ("raise_flag('a', action=[])", "action is [], and must be mark"),
    ("raise_flag('a', action='mark,stop')", "action is 'mark,stop', and must be mark"), ("raise_flag('a', action=None)", "action is None, and must be mark")]


@pytest.mark.parametrize("act, said", WRONG)
def test_a_flag_that_is_none_is_an_exception(tmp_path, act, said):
    jobs, told, counters = three_steps(tmp_path, SCRIPT.format(act))
    assert said in told, told
    assert not jobs and not marks(tmp_path / "run") and counters.scripts_missed == 1


def test_outside_of_a_function_there_is_nothing_to_flag(tmp_path):
    with pytest.raises(RuntimeError, match="raise_flag was called outside a function of a script, or in another process, so it has no snapshot"):
        scripted.raise_flag("odd")
    _, told, counters = three_steps(tmp_path, SCRIPT.format("pass") + "raise_flag('odd')\n")
    assert "RuntimeError: raise_flag was called outside a function of a script" in told and counters.scripts_missed == 3


@pytest.mark.parametrize("act", ["threading.Timer(0.1, late).start()", "if os.fork() == 0: late()"])
def test_a_flag_that_comes_late_or_from_another_process_is_none(tmp_path, act):
    late = f"""
def late():
    try: raise_flag("late")
    except RuntimeError as error: open({str(tmp_path / "said")!r}, "w").write(str(error))
    if os.getpid() != this: os._exit(0)
"""
    saves = Saves(tmp_path, write_config(tmp_path, "import threading\nthis = os.getpid()\n" + late + SCRIPT.format(act)))
    saves.save(2)
    scripted.soon(lambda: (tmp_path / "said").exists() and (tmp_path / "said").read_text())
    saves.close()
    assert "raise_flag was called outside a function of a script" in (tmp_path / "said").read_text() and not marks(saves.run)


def test_a_script_that_raises_in_a_loop_is_heard_to_a_point(tmp_path):
    act = """
        for i in range(100_000): raise_flag(f"flag {i}", i, "stop" if i == 99_999 else ("tell", "mark"))"""
    jobs, told, counters = three_steps(tmp_path, SCRIPT.format(act))
    values = [(job.value, job.stop) for job in jobs]  # the application may ask while the agent still hands them over
    assert values[0] == (7, True) and sorted(values[1:]) == [(i, False) for i in range(7)]
    assert len(marks(tmp_path / "run")[2]) == 8
    assert told.count("its script raises more than 8 flags of a snapshot: the last flag kept also gets the actions of the remaining flags") == 1
    assert re.findall("fulfils a condition: look: flag (.)", told) == list("70123456") and counters.scripts_missed == 0


def test_flags_of_one_text_are_one_of_the_first_value_and_all_actions(tmp_path):
    jobs, _, _ = three_steps(tmp_path, SCRIPT.format("raise_flag('odd'); raise_flag('odd', 3, 'tell'); raise_flag('odd', 4, 'stop')"))
    assert [(math.isnan(job.value), job.stop) for job in jobs] == [(True, True)]
    assert marks(tmp_path / "run") == {2: [("look", "odd", "", None)]}


def test_a_condition_over_a_function_that_does_not_look_at_the_step_is_no_mistake(tmp_path):
    script = SCRIPT.format("pass") + "@every(2, variables=['theta'])\ndef second(snapshot): return {'b': snapshot.step}\n"
    jobs, told, _ = three_steps(tmp_path, script, condition=["b == 2", "c > 0"], action=["stop"])
    assert [job.condition for job in jobs] == ["fields.look: b == 2 (b is 2), at step 2"]
    assert "condition 'b == 2'" not in told and told.count("no result matches condition 'c > 0'") == 1


def test_the_last_good_snapshot_stays_while_a_script_may_still_mark_the_newest(tmp_path):
    config = write_config(tmp_path, SCRIPT.format(f"time.sleep(0.5); {STOP}"))
    config.write_text(config.read_text().replace("keep = 0", "keep = 1"))
    saves = Saves(tmp_path, config)
    for step in (1, 2):
        saves.save(step)
    saves.close()
    assert steps_of(saves.run) == [1, 2] and list(marks(saves.run)) == [2]


FOUND = {  # how it is found on two nodes, and what the application is given
    "function": ("""
def bad(a, b): return {"bad": a["bad"] + b["bad"]}
@every(variables=["theta"], reduce=bad)
def look(snapshot):
    bad = sum(np.count_nonzero(~np.isfinite(block.data)) for block in snapshot["theta"].blocks)
    if bad: raise_flag("theta is not finite", bad, action=["mark", "stop"])
    return {"bad": bad}
""", "theta is not finite"),
    "finish": ("""
def bad(a, b): return {"bad": a["bad"] + b["bad"]}
def finish(all):
    if all["bad"]: raise_flag("theta is not finite", all["bad"], action=["mark", "stop"])
    return all
@every(variables=["theta"], reduce=bad, finish=finish)
def look(snapshot):
    return {"bad": np.count_nonzero(~np.isfinite(snapshot["theta"].array))}
""", "theta is not finite"),
    "finish that fails": ("""
def bad(a, b): return {"bad": a["bad"] + b["bad"]}
def finish(all):
    if all["bad"]:
        raise_flag("theta is not finite", all["bad"], action=["mark", "stop"])
        1 / 0
    return all
@every(variables=["theta"], reduce=bad, finish=finish)
def look(snapshot):
    return {"bad": np.count_nonzero(~np.isfinite(snapshot["theta"].array))}
""", "theta is not finite"),
    "gather": ("""
@every(gather=["theta"])
def look(snapshot):
    bad = np.count_nonzero(~np.isfinite(snapshot["theta"].array))
    if bad: raise_flag("theta is not finite", bad, action=["mark", "stop"])
    return {"bad": bad}
""", "theta is not finite"),
    "condition": ("""
@every(gather=["theta"])
def look(snapshot):
    return {"bad": np.count_nonzero(~np.isfinite(snapshot["theta"].array))}
""", "bad > 0 (bad is 1)")}


@pytest.mark.parametrize("how", FOUND)
def test_all_ranks_end_at_one_step_and_the_restart_passes_over_what_is_marked(tmp_path, how):
    script, text = FOUND[how]
    options = {"condition": ["bad > 0"], "action": ["mark", "stop"]} if how == "condition" else {}
    config = write_config(tmp_path, "from forebay.insitu import raise_flag\n" + script, nodes=2, **options)
    run = tmp_path / "run"
    first = json.loads(mpi(3, HERE / "stopped.py", config, run))
    ended, told = first[0][1:3]
    assert ended in (5, 6, 7) and first == [[0, ended, told, 1]] * 3
    assert told in [f"fields.look: {text}, at step {step}" for step in range(5, ended + 1)]
    assert steps_of(run) == list(range(1, ended + 1)) and sorted(marks(run)) == list(range(5, ended + 1))
    assert all(len(one) == 1 for one in marks(run).values())
    again = json.loads(mpi(3, HERE / "stopped.py", config, run))
    assert [one[:3] for one in again] == [[4, 5, ""]] * 3


def test_a_node_acts_before_its_part_lets_another_one_write_the_results():
    order = []
    place = types.SimpleNamespace(act=lambda *given: (order.append(("act", given[4])), ([], []))[1],
                                  join=lambda *_: order.append("join"), spool="")
    making = Making(types.SimpleNamespace(say=order.append), types.SimpleNamespace(nodes=2, stream="fields", step=1),
                    types.SimpleNamespace(name="look", memory_limit_bytes=0, script="look.py"), 0)
    making.begin({"look.py": types.SimpleNamespace(due=lambda *_: [], has_looked=lambda *_: True, must_look=lambda _: None,
                                                      source="")})
    with making._flags.open():  # pylint: disable=protected-access
        scripted.raise_flag("odd", 1)
    making._tasks.append(("look", b""))  # pylint: disable=protected-access
    assert making.end(place) == 0 and order[:2] == [("act", [("odd", 1.0, ["mark"])]), "join"] and ("act", []) in order[2:]


@pytest.fixture(name="drained")
def make_drained(tmp_path):
    """A run whose script has found nothing, and now finds something at step 2."""
    saves = Saves(tmp_path, write_config(tmp_path, SCRIPT.format("pass")))
    for step in (1, 2, 3):
        saves.save(step)
    saves.close()
    (tmp_path / "look.py").write_text(scripted.HEAD + SCRIPT.format(STOP))
    return tmp_path


def test_afterwards_snapshots_are_marked_and_it_is_said(drained):
    words = [drained / "look.py", f"{drained}/run/fields", "--python", sys.executable, "--to", drained / "to"]
    said = "fields@1  1 result, 0 pictures\nfields@2  1 result, 0 pictures\n  fulfils look: theta is odd\nfields@3  1 result, 0 pictures\n"
    report = said.replace("1 result, 0 pictures", "checked only").replace("odd\n", "odd\n  would be marked without --only-report\n")
    assert insitu(*words, "--only-report").stdout == report and not marks(drained / "run")
    told = json.loads(insitu(*words, "--only-report", "--again", "--json").stdout)
    assert [one["fulfilled"] for one in told] == [
        [], [{"analysis": "look", "condition": "theta is odd", "result": "", "value": 1.5}], []]
    assert insitu(*words, "--again").stdout == said and marks(drained / "run") == {2: [("look", "theta is odd", "", 1.5)]}


def test_afterwards_a_flag_counts_though_its_function_fails(drained):
    (drained / "look.py").write_text(scripted.HEAD + SCRIPT.format(STOP + "; 1 / 0"))
    done = insitu(drained / "look.py", f"{drained}/run/fields", "--python", sys.executable, "--to", drained / "to", code=1)
    assert "  fulfils look: theta is odd\n  analysis 'look': ZeroDivisionError" in done.stdout and list(marks(drained / "run")) == [2]


def test_afterwards_conditions_of_a_configuration_are_judged(drained):
    config = write_config(drained, SCRIPT.format("pass"), condition=["max == 26", "min > 0"])
    done = insitu(config, f"{drained}/run/fields@all", "--to", drained / "to", code=1)
    assert "fields@3  1 result, 0 pictures\n  fulfils look: max == 26 (max is 26)\n" in done.stdout
    assert "  analysis 'look': no result matches condition 'min > 0'\n" in done.stdout
    assert marks(drained / "run") == {3: [("look", "max == 26", "max", 26)]}


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
