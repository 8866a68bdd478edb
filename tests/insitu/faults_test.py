"""Goal: whatever a script does, the simulation saves on: no save is lost, what a script has missed is counted and told,
and the next snapshot is analysed again.

Method: sessions of one process with an agent that is a process, and scripts that fail in the second of four steps.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

import scripted
from scripted import ENVIRONMENT, Saves, printed, results, write_config

SCRIPT = """
@every(1, stream="fields", variables=["theta", "gas/x"])
def look(snapshot):
    theta = snapshot["theta"].array
    if snapshot.step == 2:
        {}
    return {{"max": theta.max(), "rows": len(snapshot["gas/x"].array)}}
"""
HOG = "kept = [np.ones(1 << 23) for _ in range(64)]"
WRITE = "ctypes.memset(theta.ctypes.data, 0, 8)"
ENDS = [  # what it does, what the agent says
    ("ctypes.string_at(0)", "was ended by signal 11"),
    (WRITE, "was ended by signal 11"),
    ("os._exit(3)", "ended with exit code 3"),
    ("sys.exit('enough')", "ended with exit code 1"),
    ("os.kill(os.getpid(), 9)", "was ended by signal 9"),
    ("os.kill(os.getpid(), 19)", "analysis 'look' did not return within its time_limit of 1 s and was killed"),
    ("while True: pass", "analysis 'look' did not return within its time_limit of 1 s and was killed"),
    (HOG, "its script has no more memory than its memory_limit_bytes, 200000000"),
]
RAISES = [
    ("1 / 0", "analysis 'look': ZeroDivisionError: division by zero"),
    ("theta[0, 0] = 1", "ValueError: assignment destination is read-only"),
    ("theta.flags.writeable = True", "cannot set WRITEABLE flag to True"),
    ("snapshot['u']", "KeyError: 'u'"),
    ("return 5", "function 'look' returned a int: a dict of numbers and arrays, a figure, the bytes of a PNG, or None"),
    ("return {'a/../b': 1}", "results of analysis 'look'"),
    ("return {1: 1}", "function 'look' returned 1 as a name"),
]


def four_steps(tmp_path, act, seconds_max=1.0, **options):
    """Saves four steps; what the agent told, the counters and the results."""
    saves = Saves(tmp_path, write_config(tmp_path, SCRIPT.format(act), time_limit_seconds=seconds_max,
                                         memory_limit_bytes=200_000_000, **options))
    for step in (1, 2, 3, 4):
        saves.save(step)
    told, counters = saves.close()
    verified = subprocess.run(["forebay", "verify", str(saves.run)], env=ENVIRONMENT, capture_output=True, text=True,
                              check=False)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert (counters.saves, counters.commits, counters.aborts, counters.skipped) == (4, 4, 0, 0)
    return told, counters, results(saves.run)


@pytest.mark.parametrize("act, said", ENDS)
def test_what_ends_the_worker_costs_the_snapshot_that_it_had(tmp_path, act, said):
    # On a busy machine, a script that ends by another cause may take longer than a second.
    told, counters, found = four_steps(tmp_path, act, seconds_max=1.0 if "time_limit" in said else 60.0)
    assert said in told, told
    assert "step 2 of stream 'fields' is not analysed by its scripts: " in told
    assert told.count("the program of the scripts has failed. The next snapshot gets a new program: ") == 1, told
    assert counters.scripts_missed == 1 and counters.not_analysed == 0
    assert {step: (float(one["max"]), int(one["rows"])) for step, one in found.items()} == {
        1: (24, 7), 3: (26, 7), 4: (27, 7)}


@pytest.mark.parametrize("act, said", RAISES)
def test_an_exception_costs_the_snapshot_and_no_worker(tmp_path, act, said):
    told, counters, found = four_steps(tmp_path, act)
    assert re.search(r"step 2 of stream 'fields' is not analysed by its scripts: .*" + re.escape(said), told), told
    assert "the program of the scripts has failed" not in told
    assert counters.scripts_missed == 1 and sorted(found) == [1, 3, 4]


@pytest.mark.parametrize("value, said", [
    ("'text'", "step 2 of stream 'fields': analysis 'look': function 'look' returned 'a' as a str, and not as a number"),
    ("None", "step 2 of stream 'fields': analysis 'look': function 'look' returned 'a' as a NoneType, and not as a number"),
    ("[]", "step 2 of stream 'fields': analysis 'look': its result 'a' has no element and is left out, here and at other steps")])
def test_a_value_that_is_no_result_costs_itself_alone(tmp_path, value, said):
    told, counters, found = four_steps(tmp_path, f"return {{'a': {value}, 'b': 5}}")
    assert told.count(said) == 1, told
    assert counters.scripts_missed == 0 and {step: sorted(one) for step, one in found.items()} == {
        step: ["b"] if step == 2 else ["max", "rows"] for step in (1, 2, 3, 4)}


def test_a_script_that_cannot_be_imported_is_printed_whole_once(tmp_path):
    saves = Saves(tmp_path, write_config(tmp_path, "undefined\n" + SCRIPT.format("pass")))
    for step in (1, 2, 3):
        saves.save(step)
    assert saves.close()[1].scripts_missed == 3
    lines = printed(saves.run).splitlines()
    error = "NameError: name 'undefined' is not defined"
    assert lines.count("step 1 fields.look: " + error) == 1 and "Traceback" in lines[0]
    assert [line for line in lines if "step 1 " not in line] == [f"step {step} fields.look: {error}, as before" for step in (2, 3)]


@pytest.mark.parametrize("act", ["print('made 7\\nseen')", "os.write(1, b'made 7\\n')", "os.close(1)", "sys.stdout = None",
                                 "os.remove(__file__)", "import shutil; shutil.rmtree(snapshot.directory)",
                                 "print('x' * 10_000_000)", "snapshot.keep = np.array(theta)"])
def test_what_a_script_may_do(tmp_path, act):
    told, counters, found = four_steps(tmp_path, act)
    assert counters.scripts_missed == 0 and sorted(found) == [1, 2, 3, 4], told


def test_what_is_printed_stands_in_the_log_of_the_run_with_its_step(tmp_path):
    four_steps(tmp_path, "print('so\\nmany', theta.max()); sys.stderr.write('!'); print('x' * 70_000); print('more')")
    lines = printed(tmp_path / "run").splitlines()
    assert lines[:2] == ["step 2 fields.look: so", "step 2 fields.look: many 25.0"]
    assert lines[2].startswith("step 2 fields.look: !xxx") and re.fullmatch(r"step 2 fields.look: \.\.\. \d+ bytes more", lines[3])
    assert sum(map(len, lines)) < 70_000 and len(lines) == 4


@pytest.mark.parametrize("act, said", [("1 / 0", "ZeroDivisionError"), ("ctypes.string_at(0)", "Segmentation fault")])
def test_where_it_failed_stands_there_too(tmp_path, act, said):
    four_steps(tmp_path, f"print('before'); {act}")
    text = printed(tmp_path / "run")
    assert text.startswith("step 2 fields.look: before\n") and said in text and "in look\n" in text, text


def test_a_script_that_ends_its_worker_five_times_is_switched_off_and_the_others_go_on(tmp_path):
    good = tmp_path / "good.py"
    good.write_text(scripted.HEAD + SCRIPT.format("pass"))
    more = f'[streams.fields.insitu.a]\nkind = "script"\nscript = "{good}"\npython = "{sys.executable}"\n'
    saves = Saves(tmp_path, write_config(tmp_path, SCRIPT.format("pass").replace("== 2", "> 0").replace("pass", "os._exit(3)"),
                                         more=more))
    for step in range(1, 9):
        saves.save(step)
    told, counters = saves.close()
    assert told.count("The next snapshot gets a new program: ") == 4
    assert ("analysis 'look' of stream 'fields' is switched off for this session, as its script has ended its process 5 times in a "
            "row: ") in told
    assert told.count("analysis 'look' is switched off") == 3
    assert counters.scripts_missed == 8 and counters.commits == 8
    assert set(results(saves.run, "fields.a")) >= {6, 7, 8}


def test_ends_that_are_not_in_a_row_switch_nothing_off(tmp_path):
    script = SCRIPT.format("pass").replace("== 2", "% 2 == 0").replace("pass", "os._exit(3)")
    saves = Saves(tmp_path, write_config(tmp_path, script))
    for step in range(1, 14):
        saves.save(step)
    told, counters = saves.close()
    assert "switched off" not in told and counters.scripts_missed == 6


def test_a_slow_script_keeps_one_slot_and_nobody_waits_for_it(tmp_path):
    means = '[streams.fields.insitu.means]\nkind = "statistics"\nvariables = ["theta"]\n'
    saves = Saves(tmp_path, write_config(tmp_path, SCRIPT.replace("== 2", "== 1").format("time.sleep(3)"), more=means))
    begun = time.monotonic()
    for step in range(1, 9):
        saves.save(step, waits=False)
        # The lease of the built-in analyses ends with their last word, and a save takes a slot without one first.
        scripted.soon(lambda step=step: any(f"step {step} of stream 'fields' is analysed:" in log.read_text()
                                            for log in saves.memory.glob("*/*/agent.log")))
    assert time.monotonic() - begun < 3 and saves.stream.counters.scripts_missed == 7
    scripted.soon(lambda: 1 in results(saves.run))
    saves.save(9, waits=False)
    scripted.soon(lambda: 9 in results(saves.run))
    told, counters = saves.close()
    assert "step 5 of stream 'fields' is not analysed by its scripts: its scripts are at work on step 1 of stream 'fields'" in told
    assert sorted(results(saves.run)) == [1, 9] and counters.not_analysed == 0
    assert float(results(saves.run)[1]["max"]) == 24


def test_what_is_damaged_in_the_slot_is_not_shown_to_a_script(tmp_path):
    script = f"""
@every(1, variables=["theta"])
def first(snapshot):
    open({str(tmp_path / "reads")!r}, "w").close()
    while not os.path.exists({str(tmp_path / "go")!r}): time.sleep(0.01)
@every(1, variables=["gas/x"])
def second(snapshot):
    return {{"x": snapshot["gas/x"].array}}
"""
    saves = Saves(tmp_path, write_config(tmp_path, script))
    saves.save(1, waits=False)
    scripted.soon((tmp_path / "reads").exists)
    (slot,) = [path for path in saves.memory.glob("*/*/fields.*.h5") if saves.x.tobytes() in path.read_bytes()]
    with open(slot, "r+b") as file:
        file.seek(file.read().rindex(saves.x.tobytes()) + 8)  # zeros and theta look the same
        file.write(b"\1")
    (tmp_path / "go").touch()
    scripted.soon(lambda: saves.stream.counters.scripts_missed == 1)
    saves.save(2)
    told, _ = saves.close()
    assert re.search("step 1 of stream 'fields' is not analysed by its scripts: analysis 'look': variable \"gas/x\" of rank 0 .* differs", told), told
    assert sorted(results(saves.run)) == [2]


@pytest.mark.parametrize("script, said", [
    ("import nothing_such\n", "No module named 'nothing_such'"), ("def (\n", "SyntaxError"),
    ("os._exit(4)\n", "ended with exit code 4"), ("x = 1\n", "has no function with @every"),
    ("@every(1, stream='other', variables=['theta'])\ndef f(s): pass\n", "has no function of stream 'fields': .* are of other"),
    ("@every(1, variables='theta')\ndef f(s): pass\n", "variables and gather must be lists of names"),
    ("@every(1)\ndef f(s): pass\n", "takes variables=.* of each node, or gather="),
    ("@every(1, variables=['u'])\ndef f(s): pass\n", "stream 'fields' has no variable 'u'")])
def test_a_script_that_cannot_be_used_is_told(tmp_path, script, said):
    saves = Saves(tmp_path, write_config(tmp_path, script))
    for step in (1, 2):
        saves.save(step)
    told, counters = saves.close()
    assert re.search(r"step 2 of stream 'fields' is not analysed by its scripts: .*" + said, told), told
    assert counters.scripts_missed == 2 and counters.commits == 2


def test_a_script_that_is_not_there_is_told_when_the_session_opens(tmp_path):
    config = write_config(tmp_path, "")
    os.remove(tmp_path / "look.py")
    with pytest.raises(scripted.forebay.MissingError, match=r"insitu.look.script is .*look.py, which .* cannot read"):
        Saves(tmp_path, config)


def test_an_interpreter_that_is_not_there_costs_the_scripts_alone(tmp_path):
    config = write_config(tmp_path, SCRIPT.format("pass"))
    config.write_text(config.read_text().replace(sys.executable, "/no/such/python"))
    saves = Saves(tmp_path, config)
    for step in range(1, 8):
        saves.save(step)
    told, counters = saves.close()
    assert "no more scripts in this session, as their program has failed 5 times in a row: " in told
    assert "is not analysed by its scripts: there are no more scripts in this session" in told
    assert (counters.scripts_missed, counters.commits) == (7, 7)


HELD_UP = """
@every(1, stream="fields", variables=["theta"])
def look(snapshot):
    top = snapshot["theta"].array.max()
    open({reads!r}, "w").close()
    while not os.path.exists({go!r}): time.sleep(0.01)
    return {{"top": top}}
"""


def dies_while_its_script_looks(folder, *, and_its_agent):
    """The configuration of an application that is gone, all it has saved committed, while its script is held up."""
    reads, go = folder / "reads", folder / "go"
    config = write_config(folder, HELD_UP.format(reads=str(reads), go=str(go)))
    application = "import os, sys, pathlib, scripted\nsaves = scripted.Saves(pathlib.Path(sys.argv[1]), sys.argv[2])\n" \
        "saves.save(1, waits=False)\nscripted.soon(pathlib.Path(sys.argv[1], 'reads').exists)\nos._exit(0)\n"
    subprocess.run([sys.executable, "-c", application, folder, config], check=True, cwd=pathlib.Path(__file__).parent)
    (log,) = folder.glob("memory/*/*/agent.log")
    agent = int(re.search(r"agent (\d+) serves", log.read_text())[1])
    if and_its_agent:
        os.kill(agent, signal.SIGKILL)
        scripted.soon(lambda: not pathlib.Path(f"/proc/{agent}").exists())
    return config, log.parent, agent


def test_a_session_does_not_wait_for_the_scripts_of_the_one_before(tmp_path):
    config, _, agent = dies_while_its_script_looks(tmp_path, and_its_agent=False)
    config.write_text("close_wait_seconds = 20\n" + config.read_text())  # one that waited would fail
    saves = Saves(tmp_path, config)
    scripted.soon(lambda: not pathlib.Path(f"/proc/{agent}").exists(), seconds=10)
    (tmp_path / "go").touch()
    scripted.soon(lambda: results(saves.run) == {1: {"top": 24}})
    _, counters = saves.close()
    assert counters.scripts_missed == 0


def test_what_is_drained_into_another_run_has_its_results_there(tmp_path):
    _, directory, _ = dies_while_its_script_looks(tmp_path, and_its_agent=True)
    (tmp_path / "run").rename(tmp_path / "lost")
    (tmp_path / "go").touch()
    done = subprocess.run(["forebay", "drain", directory, "--into", tmp_path / "other"], env=ENVIRONMENT,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert results(tmp_path / "other") == {1: {"top": 24}}
    assert not directory.exists() and not (tmp_path / "run").exists()


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
