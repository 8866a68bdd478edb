"""Goal: `forebay insitu` over drained snapshots goes on after whatever a script does to its process, names the step and the
function, looks at conditions of what was made before, and makes and marks nothing where only a report is wanted.

Method: a run of four steps of one process, and scripts and configurations that are written for each case.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

import scripted
from scripted import ENVIRONMENT, insitu, results

HEAD = scripted.HEAD + "from forebay.insitu import raise_flag\n"
SCRIPT = """
@every(variables=["theta"])
def look(snapshot):
    theta = snapshot["theta"].array
    if snapshot.step == 2:
        {}
    return {{"max": theta.max()}}
"""
STATISTICS = '[streams.fields.insitu.numbers]\nvariables = ["theta"]\n'


@pytest.fixture(name="run", scope="module")
def make_run(tmp_path_factory):
    """Steps 1 to 4, without analyses."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "memory").mkdir()
    config = folder / "forebay.toml"
    config.write_text(f'staging = "{folder}/memory"\n[agent]\nmode = "thread"\n')
    theta = scripted.np.arange(24.0).reshape(4, 6)
    with scripted.forebay.Session(folder / "run", config=config) as session:
        stream = session.stream("fields", keep=0, view=False)
        stream.array("theta", theta)
        for step in (1, 2, 3, 4):
            theta += 1
            stream.save(step)
    return folder / "run"


@pytest.fixture(name="look")
def make_look(run, tmp_path):
    """Looks at all steps by a script of this text."""
    def look(script, *words, code=0):
        path = tmp_path / "look.py"
        path.write_text(HEAD + script)
        return insitu(path, run, "--python", sys.executable, "--to", tmp_path / "to", *words, code=code)
    return look


def marks(run):
    """The steps of the run that are marked, and what has marked them."""
    listed = subprocess.run(["forebay", "ls", "--json", f"{run}/fields"], env=ENVIRONMENT, check=True, capture_output=True, text=True)
    return {one["step"]: [mark["condition"] for mark in one["marks"]] for one in json.loads(listed.stdout) if one.get("marks")}


@pytest.mark.parametrize("act, said", [
    ("sys.exit()", r"SystemExit \(function 'look', line 10\)"),
    ("sys.exit('enough')", r"SystemExit: enough \(function 'look', line 10\)"),
    ("raise KeyboardInterrupt", r"KeyboardInterrupt \(function 'look', line 10\)"),
    ("1 / 0", r"ZeroDivisionError: division by zero \(function 'look', line 10\)"),
    ("snapshot['u']", r"KeyError: 'u' \(function 'look', line 10\)"),
    ("ctypes.string_at(0)", "its script has ended its process, by signal 11, in function 'look'"),
    ("os._exit(0)", "its script has ended its process, with exit code 0, in function 'look'"),
    ("os.kill(os.getpid(), 2)", "its script has ended its process, by signal 2, in function 'look'"),
    ("os.closerange(3, 100); os._exit(9)", "its script has ended its process, with exit code 9, in function 'look'"),
])
@pytest.mark.parametrize("jobs", [1, 3])
def test_whatever_ends_a_function_costs_that_step_alone(look, tmp_path, act, said, jobs):
    done = look(SCRIPT.format(act), "--jobs", jobs, code=1)
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        f"fields@{step}  {0 if step == 2 else 1} result{'s' if step == 2 else ''}, 0 pictures" for step in (1, 2, 3, 4)]
    assert re.fullmatch(f"  analysis 'look': {said}", lines[2]), lines
    assert sorted(results(tmp_path / "to")) == [1, 3, 4]
    if "signal 11" in said:
        assert "step 2 fields.look: Fatal Python error: Segmentation fault" in done.stderr and "line 10 in look" in done.stderr


@pytest.mark.parametrize("act", ["while True: pass", "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)); time.sleep(1000)",
                                 "os.kill(os.getpid(), 19)"])
def test_a_call_that_does_not_return_ends_by_its_time_limit(look, tmp_path, act):
    done = look("import signal\n" + SCRIPT.format(act), "--time-limit", 2, code=1)
    assert "analysis 'look': its script did not return within its time limit of 2 s and was killed, in function 'look'" in done.stdout
    assert sorted(results(tmp_path / "to")) == [1, 3, 4]
    if "while" in act:
        assert "step 2 fields.look:   File" in done.stderr and "line 11 in look" in done.stderr, done.stderr


def test_the_start_of_an_interpreter_does_not_count_as_time_of_the_script(look, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("import time\ntime.sleep(3)\n")
    monkeypatch.setitem(ENVIRONMENT, "PYTHONPATH", f"{tmp_path}:{ENVIRONMENT.get('PYTHONPATH', '')}")
    look(SCRIPT.format("pass"), "--time-limit", 2)
    assert sorted(results(tmp_path / "to")) == [1, 2, 3, 4]


def test_the_time_limit_of_a_configuration_holds(run, tmp_path):
    config = scripted.write_config(tmp_path, SCRIPT.format("time.sleep(1000)"), time_limit_seconds=1.5)
    done = insitu(config, f"{run}/fields@all", "--to", tmp_path / "to", code=1)
    assert "its time limit of 1.5 s and was killed" in done.stdout and sorted(results(tmp_path / "to")) == [1, 3, 4]


def test_ctrl_c_ends_the_command_and_its_processes(run, tmp_path):
    path = tmp_path / "look.py"
    path.write_text(HEAD + SCRIPT.format(f"open('{tmp_path}/pid', 'w').write(str(os.getpid())); time.sleep(1000)"))
    with subprocess.Popen(["forebay", "insitu", path, run, "--python", sys.executable, "--to", tmp_path / "to"], env=ENVIRONMENT,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        scripted.soon((tmp_path / "pid").exists)
        time.sleep(0.2)
        command.send_signal(signal.SIGINT)  # the command alone: it ends its processes
        assert command.wait(30) == -signal.SIGINT and "Traceback" not in command.stderr.read()
    process = pathlib.Path("/proc", (tmp_path / "pid").read_text())
    scripted.soon(lambda: not process.exists())


def test_processes_end_with_a_command_that_is_killed(run, tmp_path):
    path = tmp_path / "look.py"
    path.write_text(HEAD + SCRIPT.format(f"open('{tmp_path}/pid', 'w').write(str(os.getpid()))\n        while True: pass"))
    with subprocess.Popen(["forebay", "insitu", path, run, "--python", sys.executable, "--to", tmp_path / "to"], env=ENVIRONMENT,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as command:
        scripted.soon(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
        command.kill()
    process = pathlib.Path("/proc", (tmp_path / "pid").read_text())
    scripted.soon(lambda: not process.exists() or "Z" in (process / "stat").read_text().split(")")[1])


@pytest.mark.parametrize("script, said", [
    ("undefined", "NameError: name 'undefined' is not defined"), ("def (", "SyntaxError"), ("sys.exit(0)", "SystemExit: 0"),
    ("@every\ndef f(s): pass", "@every needs parentheses"), ("import nothing_of_this_name", "ModuleNotFoundError")])
def test_a_script_that_cannot_be_loaded_is_told_once_and_nothing_is_made(look, tmp_path, script, said):
    done = look(script, code=2)
    assert done.stderr.count("cannot be loaded: ") == 1 and said in done.stderr.split("cannot be loaded: ")[1], done.stderr
    assert done.stderr.count("Traceback") <= 1 and not done.stdout and not (tmp_path / "to").exists()


def test_a_script_that_is_not_there_is_told_once(run, tmp_path):
    done = insitu(tmp_path / "none.py", run, "--python", sys.executable, code=2)
    assert done.stderr == f"forebay: the script {tmp_path}/none.py cannot be read: No such file or directory\n"


@pytest.mark.parametrize("value, kind", [("'warm'", "str"), ("None", "NoneType"), ("[[1], [1, 2]]", "list"), ("{}", "dict")])
def test_a_value_that_is_no_number_costs_itself_alone(look, tmp_path, value, kind):
    done = look(f"""
@every(variables=["theta"])
def first(snapshot):
    return {{"good": 1, "bad": {value} if snapshot.step == 2 else 5}}

@every(variables=["theta"])
def second(snapshot):
    return {{"yes": snapshot["theta"].array.max() > 25}}
""", code=1)
    assert f"  analysis 'look': function 'first' returned 'bad' as a {kind}, and not as a number" in done.stdout
    assert {step: sorted(one) for step, one in results(tmp_path / "to").items()} == {
        step: ["bad", "good", "yes"] if step != 2 else ["good", "yes"] for step in (1, 2, 3, 4)}
    assert [int(one["yes"]) for one in results(tmp_path / "to").values()] == [0, 0, 1, 1]


def test_an_empty_array_is_left_out_and_told_once_and_fulfils_no_condition(run, tmp_path):
    config = scripted.write_config(tmp_path, """
@every(variables=["theta"])
def look(snapshot):
    return {"hot": [row for row in snapshot["theta"].array[:, 0] if row > 20], "max": snapshot["theta"].array.max()}
""", condition=["hot > 20"], action=["tell"])
    done = insitu(config, f"{run}/fields@all", "--to", tmp_path / "to")
    assert done.stdout.count("look: hot has no element and is left out") == 1 and done.stdout.count("fulfils look: hot > 20") == 2
    assert {step: sorted(one) for step, one in results(tmp_path / "to").items()} == {
        1: ["max"], 2: ["max"], 3: ["hot", "max"], 4: ["hot", "max"]}


def test_a_closed_output_ends_it_quietly(run, tmp_path):
    path = tmp_path / "look.py"
    path.write_text(HEAD + SCRIPT.format("pass"))
    done = subprocess.run(f"forebay insitu {path} {run} --python {sys.executable} --to {tmp_path}/to --json | true; "
                          "echo ${PIPESTATUS[0]}", shell=True, executable="/bin/bash", env=ENVIRONMENT, capture_output=True,
                          text=True, check=True)
    assert not done.stderr and int(done.stdout) == 128 + signal.SIGPIPE


@pytest.mark.parametrize("kind", ["numbers", "look"])
def test_conditions_are_over_what_was_made_before_and_a_report_makes_nothing(run, tmp_path, kind):
    def write(condition):
        config = scripted.write_config(tmp_path, SCRIPT.format("pass"), **({"condition": condition} if kind == "look" else {}))
        if kind == "numbers":
            lines = config.read_text().split("[streams.fields.insitu.look]")[0]
            config.write_text(lines + STATISTICS + f"condition = {condition}\n")
        return config
    name = "theta/max" if kind == "numbers" else "max"
    own = tmp_path / "run"
    subprocess.run(["cp", "-a", run, own], check=True)
    words = [f"{own}/fields@all", "--to", tmp_path / "to"]
    fulfilled = f"  fulfils {kind}: {name} >= 26 ({name} is 26)\n"
    told = insitu(write([f"{name} >= 26"]), *words, "--only-report").stdout
    assert f"fields@2  checked only\nfields@3  checked only\n{fulfilled}  would be marked without --only-report\n" in told
    assert not (tmp_path / "to").exists() and not marks(own)
    config = write([])
    assert insitu(config, *words).stdout.count("1 result, ") == 4
    config = write([f"{name} >= 26"])
    told = insitu(config, *words, "--only-report").stdout
    assert f"fields@2  exists already\nfields@3  exists already\n{fulfilled}  would be marked without --only-report\n" in told
    told = json.loads(insitu(config, *words, "--only-report", "--again", "--json").stdout)
    assert [one["would_be_marked"] for one in told] == [False, False, True, True]
    assert all(one["made"] == [] and one["pictures"] == 0 for one in told) and not marks(own)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "to").rglob("*")}
    assert f"fields@3  exists already; --again makes it again\n{fulfilled}fields@4  exists already" in insitu(config, *words).stdout
    assert marks(own) == {step: [f"{name} >= 26"] for step in (3, 4)}
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "to").rglob("*")}
    assert insitu(config, *words, "--only-report", "--pictures", tmp_path / "no", code=2) and not (tmp_path / "no").exists()


def test_a_result_that_is_refused_and_a_snapshot_that_goes_meanwhile_cost_their_steps(run, look, tmp_path):
    done = look(SCRIPT.format("return {'plots//m': 1.0}"), code=1)
    assert re.search(r"fields@2  0 results, 0 pictures\n  analysis 'look': .*plots//m.*\nfields@3  1 result", done.stdout), done.stdout
    assert sorted(results(tmp_path / "to")) == [1, 3, 4] and not done.stderr
    own, path = tmp_path / "run", tmp_path / "look.py"
    subprocess.run(["cp", "-a", run, own], check=True)
    path.write_text(HEAD + "import shutil\n" + SCRIPT.format(f"shutil.rmtree('{own}/fields/step-000002'); raise_flag('odd')").replace(
        "step == 2:", f"step == 2:\n        shutil.rmtree('{own}/fields/step-000003')"))
    done = insitu(path, f"{own}/fields", "--python", sys.executable, "--to", tmp_path / "others", "--jobs", 1, code=1)
    assert re.findall(r"^fields@\d  \d result", done.stdout, re.M) == [
        f"fields@{step}  {int(step in (1, 4))} result" for step in (1, 2, 3, 4)]
    assert len(re.findall("^  analysis 'look': .*step-00000[23]", done.stdout, re.M)) == 2 and not done.stderr, done.stdout
    assert sorted(results(tmp_path / "others")) == [1, 4]


@pytest.mark.parametrize("of_script", [False, True])
def test_again_replaces_the_results_of_the_same_saves(run, tmp_path, of_script):
    """Results in the run of their snapshots have the line and the number of the snapshot, so only their ids differ."""
    own, config, script = tmp_path / "run", tmp_path / "forebay.toml", tmp_path / "look.py"
    subprocess.run(["cp", "-a", run, own], check=True)
    config.write_text(STATISTICS)
    script.write_text(HEAD + SCRIPT.format("pass"))
    words = [script, f"{own}/fields", "--python", sys.executable] if of_script else [config, f"{own}/fields@all"]
    manifests = f"fields.{'look' if of_script else 'numbers'}/step-*/manifest.json"
    insitu(*words)
    for _ in range(3):
        before = {path: path.read_text() for path in own.glob(manifests)}
        insitu(*words, "--again")
        after = {path: path.read_text() for path in own.glob(manifests)}
        assert before.keys() == after.keys() and len(after) == 4 and not set(before.values()) & set(after.values())


def test_what_was_made_of_a_save_is_not_written_over_a_later_one_of_the_step(run, tmp_path):
    """Its manifest is replaced by that of another save while the function looks."""
    own, path = tmp_path / "run", tmp_path / "look.py"
    subprocess.run(["cp", "-a", run, own], check=True)
    path.write_text(HEAD + "import pathlib, re\n" + SCRIPT.format(
        f"of = pathlib.Path('{own}/fields/step-000002/manifest.json'); raise_flag('odd'); "
        "of.write_text(re.sub('\"snapshot_id\":\"[0-9a-f]{16}\"', '\"snapshot_id\":\"' + '1' * 16 + '\"', of.read_text()))"))
    done = insitu(path, f"{own}/fields", "--python", sys.executable, "--to", tmp_path / "others", "--jobs", 1, code=1)
    assert re.search(r"^fields@2  0 results.*\n  analysis 'look': .*/fields/step-000002 was saved again during the analysis", done.stdout, re.M), done.stdout
    assert sorted(results(tmp_path / "others")) == [1, 3, 4] and not list(own.glob("fields/*/.marks"))


PRINTS = """sys.stdout.writelines(["one\\n", "two\\n"]); sys.stdout.buffer.write(b"three\\n"); sys.stdout.flush()
        print(sys.stdout.writable(), sys.stdout.encoding, file=sys.stdout)
        import subprocess, io
        try: subprocess.run(["true"], stdout=sys.stdout)
        except io.UnsupportedOperation as error: print("no", error)
        sys.stdout.close(); print("still open")"""
PRINTED = "".join(f"step 2 fields.look: {line}\n" for line in ("one", "two", "three", "True utf-8", "no fileno", "still open"))


def test_standard_output_is_a_text_file_to_scripts(look, tmp_path):
    assert look(SCRIPT.format(PRINTS)).stderr == PRINTED
    saves = scripted.Saves(tmp_path, scripted.write_config(tmp_path, SCRIPT.format(PRINTS)))
    for step in (1, 2):
        saves.save(step)
    saves.close()
    assert scripted.printed(saves.run) == PRINTED


HELPED = """
import pickle
import parts.words
from helper import NAME
from forebay.insitu import every
class Own: pass
@every(variables=["theta"])
def look(snapshot):
    import late
    pickle.dumps(Own())
    return {NAME: 1, late.NAME: 1, parts.words.NAME: 1}
"""


@pytest.mark.parametrize("is_in_situ", [False, True])
def test_modules_beside_two_scripts_of_one_stem_are_their_own(run, tmp_path, is_in_situ):
    for folder in ("A", "B"):
        (tmp_path / folder / "parts").mkdir(parents=True)
        for name in ("helper", "late", "parts/words"):
            (tmp_path / folder / f"{name}.py").write_text(f'NAME = "{folder}{name[-1]}"\n')
        (tmp_path / folder / "parts/__init__.py").touch()
        (tmp_path / folder / "look.py").write_text(HELPED)
    more = "".join(f'[streams.fields.insitu.{folder}]\nkind = "script"\nscript = "{tmp_path}/{folder}/look.py"\n'
                   f'python = "{sys.executable}"\n' for folder in ("A", "B"))
    config = scripted.write_config(tmp_path, SCRIPT.format("pass"), more=more)
    if is_in_situ:
        saves = scripted.Saves(tmp_path, config)
        for step in (1, 2):
            saves.save(step)
        to, (told, _) = tmp_path / "run", saves.close()
    else:
        to, told = tmp_path / "to", insitu(config, f"{run}/fields@1-2", "--to", tmp_path / "to", "--jobs", 1).stdout
    for folder in ("A", "B"):
        assert {step: sorted(one) for step, one in results(to, f"fields.{folder}").items()} == {
            step: [f"{folder}{end}" for end in "ers"] for step in (1, 2)}, told


def test_of_both_kinds_it_is_said_which_is_which(run, tmp_path):
    config = scripted.write_config(tmp_path, SCRIPT.format("pass"), more=STATISTICS)
    lines = insitu(config, f"{run}/fields@1", "--to", tmp_path / "to").stdout.splitlines()
    assert lines == ["by built-in analyses: numbers", "fields@1  1 result, 0 pictures", "by scripts: look", "fields@1  1 result, 0 pictures"]


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
