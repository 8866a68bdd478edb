"""Goal: threads, signals and the end of the interpreter neither crash nor hang a Python session, and cause no leak
message. Masked arrays are refused. `python -m forebay` is the program.

Method: scripts in processes of their own, since some would end the process. A stopped agent, or a claim of another
host, makes a call wait. No test measures how long.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys

BUILD = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"])
if not list((BUILD / "python/forebay").glob("_forebay.*so")):
    print("skipped: the Python package is not built (it needs nanobind in build/venv)")
    sys.exit(77)
sys.path.insert(0, str(BUILD / "python"))

import numpy as np  # pylint: disable=wrong-import-position
import pytest  # pylint: disable=wrong-import-position

import forebay  # pylint: disable=wrong-import-position

ENVIRONMENT = os.environ | {"PYTHONPATH": str(BUILD / "python")}
BEGIN = """
import os, signal, sys, threading
import numpy as np
import forebay
def agents():
    "The processes that serve what is staged here."
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = open(f"/proc/{process}/cmdline").read().split(chr(0))
        except OSError:
            continue
        if line[1:3] == ["agent", "--session"] and line[3].startswith(os.getcwd()):
            yield int(process)
def opened(**options):
    session = forebay.Session("run", config="config.toml", **options)
    stream = session.stream("restart", view=False)
    stream.array("u", u)
    return session, stream
u = np.zeros(100_000)
"""


@pytest.fixture(name="place")
def make_place(tmp_path):
    """A directory with a configuration whose agent is a thread and stages there."""
    (tmp_path / "memory").mkdir()
    (tmp_path / "config.toml").write_text(f'staging = "{tmp_path}/memory"\n[agent]\nmode = "thread"\n')
    return tmp_path


def run(place, script):
    """The output of the script, after a clean end without leaks."""
    done = subprocess.run([sys.executable, "-c", BEGIN + script], env=ENVIRONMENT, cwd=place, capture_output=True, text=True,
                          check=False, timeout=120)
    assert done.returncode == 0 and "leaked" not in done.stderr, (done.returncode, done.stdout, done.stderr)
    return done.stdout


@pytest.mark.parametrize("other", ["stream.save(1000 + i)", "session.stream('other', view=False).save(i)", "session.job()",
                                   "stream.newest()", "stream.wait_committed(60)", "stream.counters; stream.notes",
                                   "stream.replicated(f'x{i}', np.zeros(3)); stream.forget(f'x{i}')",
                                   "stream.rebind('u', np.full(u.shape, 1.0 * i))"])
def test_calls_of_two_threads_come_one_after_the_other(place, other):
    script = """
session, stream = opened()
problems = []
def first():
    for i in range(12): stream.save(i)
def second():
    for i in range(12):
        OTHER
def guarded(work):
    try: work()
    except Exception as error: problems.append(repr(error))
threads = [threading.Thread(target=guarded, args=(work,)) for work in (first, second)]
for thread in threads: thread.start()
for thread in threads: thread.join()
session.close()
print(problems)
"""
    assert run(place, script.replace("OTHER", other)) == "[]\n"
    assert forebay.open(place / "run")["restart"].newest.step in (11, 1011)


def test_close_waits_for_the_save_of_another_thread(place):
    script = """
session, stream = opened()
begun = threading.Event()
answers = []
def save():
    begun.set()
    try:
        for i in range(1000): stream.save(i)
    except forebay.RefusedError as error: answers.append("closed" in str(error))
thread = threading.Thread(target=save)
thread.start()
begun.wait()
session.close()
thread.join()
print(answers)
"""
    assert run(place, script) == "[True]\n"


def test_the_function_that_hears_the_log_may_not_call_the_session(place):
    script = """
told = []
def log(line):
    try: stream.save(77)
    except forebay.RefusedError as error: told.append(str(error))
    except NameError: pass  # it is being opened
session, stream = opened(log=log)
for step in (1, 2): stream.save(step)
session.job()
session.close()
print(len(told) > 0, all("the log function" in text for text in told))
"""
    assert run(place, script) == "True True\n"
    assert [snapshot.step for snapshot in forebay.open(place / "run")["restart"]] == [1, 2]


@pytest.mark.parametrize("script", [
    "session, stream = opened(log=lambda line: session)\nstream.save(1)\n",
    "session, stream = opened()\nstream.save(1)\nstream.restore()\n",
    "def main():\n    session, stream = opened(log=lambda line: stream)\n    stream.save(1)\n    sys.exit(0)\nmain()\n",
    "import types\nholder = types.SimpleNamespace()\nholder.all = opened(log=lambda line: holder)\nsys.holder = holder\n",
    # When the process ends, a daemon thread is in a call or in Python code.
    "session, stream = opened()\ndef save():\n    for i in range(10**9): stream.save(i)\n"
    "threading.Thread(target=save, daemon=True).start()\nimport time; time.sleep(0.3)\n",
    "session, stream = opened()\ndef sleep(held):\n    import time; time.sleep(1000)\n"
    "threading.Thread(target=sleep, args=(session,), daemon=True).start()\n",
])
def test_an_interpreter_that_ends_with_an_open_session(place, script):
    run(place, script)


WAITS = {
    "close": "stream.save(1); session.close()",
    "with": "stream.save(1)\n    with session: pass",
    "wait_committed": "stream.save(1); stream.wait_committed(600)",
    "save": "stream.save(1); stream.save(2)",
    "lock": "stream.save(1); threading.Thread(target=session.close, daemon=True).start(); time.sleep(0.5); stream.save(2)",
}


def interrupt(place, script):
    """Sends the signal when the script reports that it is about to wait."""
    process = subprocess.Popen([sys.executable, "-c", BEGIN + script], env=ENVIRONMENT, cwd=place, stdout=subprocess.PIPE,
                               text=True)
    try:
        assert process.stdout.readline() == "waits\n"
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[0]
        assert process.returncode == 0, said
        return said
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("wait", WAITS)
def test_ctrl_c_ends_a_wait_for_an_agent(place, wait):
    """These waits end after 600 s. The staged snapshot stays."""
    config = place / "config.toml"
    config.write_text(config.read_text().replace("thread", "process"))
    script = """
import time
session, stream = opened()
stream.save(0); stream.wait_committed()
stopped = list(agents())
for process in stopped: os.kill(process, signal.SIGSTOP)
threading.Timer(0.5, lambda: print("waits", flush=True)).start()
try:
    WAIT
    print("no interrupt")
except KeyboardInterrupt:
    print(len(stopped), "interrupted")
for process in stopped: os.kill(process, signal.SIGCONT)
""".replace("WAIT", WAITS[wait])
    assert interrupt(place, script) == "1 interrupted\n"
    with forebay.Session(place / "run", config=config) as session:  # by then the staged snapshot is committed
        stream, u = session.stream("restart", view=False), np.zeros(100_000)
        stream.array("u", u)
        assert stream.newest().step == 1


def claim_from_elsewhere(place):
    """A run that a session of another host holds. Opening it watches that session for long."""
    run(place, "session, stream = opened()\nsys.stdout.flush()\nos._exit(0)\n")
    (file,) = (place / "run/forebay/sessions").glob("*/claim.json")
    claim = json.loads(file.read_text())
    file.write_text(json.dumps(claim | {"host": "elsewhere", "boot": "another", "lock_id": "1:1"}) + "\n")
    config = place / "config.toml"
    config.write_text("takeover_wait_seconds = 600\n" + config.read_text())


WATCH = """
import time
def log(line):
    if "watches" in line:
        HEAR
try:
    opened(log=log)
    print("no interrupt")
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_the_watch_of_a_claim_from_elsewhere(place):
    claim_from_elsewhere(place)
    assert interrupt(place, WATCH.replace("HEAR", 'print("waits", flush=True)')) == "interrupted\n"


def test_ctrl_c_in_the_function_that_hears_the_log_ends_the_watch(place):
    claim_from_elsewhere(place)
    hears = "os.kill(os.getpid(), signal.SIGINT); time.sleep(1000)"
    assert run(place, WATCH.replace("HEAR", hears)) == "interrupted\n"


def test_masked_arrays_are_refused_everywhere(place):
    """The text suggests how to keep the mask."""
    masked = np.ma.masked_invalid([1.0, np.nan, 3.0])
    structured = np.ma.zeros(3, dtype=[("x", "f8")])
    with forebay.Session(place / "run", config=place / "config.toml") as session:
        stream, plain = session.stream("restart"), np.zeros(3)
        stream.array("u", plain)
        stream.replicated("v", plain)
        table = stream.particles("gas", {"x": "f8"})
        for call in (lambda: stream.array("m", masked), lambda: stream.replicated("m", masked),
                     lambda: stream.array("m", [plain, masked], (6,), [(0,), (3,)]), lambda: stream.rebind("u", masked),
                     lambda: stream.rebind("v", masked), lambda: table.bind(x=masked), lambda: table.bind(structured),
                     lambda: stream.array("m", np.ma.masked)):
            with pytest.raises(forebay.RefusedError, match=r"(?s)masked array.*\.filled\("):
                call()
        stream.array("m", masked.filled(-1.0))
        stream.array("mask", np.ma.getmaskarray(masked))
        table.bind(x=plain)
        assert stream.save(1).kept


def test_errors_have_no_words_of_another_language(place):
    with forebay.Session(place / "run", config=place / "config.toml") as session:
        stream = session.stream("restart")
        stream.array("u", np.zeros((2, 3)), shape=(4, 3))
        with pytest.raises(forebay.RefusedError) as raised:
            stream.save(1)
        assert "partial" in str(raised.value) and "::" not in str(raised.value)
        with pytest.raises(forebay.RefusedError, match="outside the global shape"):  # at once, not only at the save
            stream.array("v", np.zeros((5, 3)), shape=(4, 3))


@pytest.mark.parametrize("name", ["bad\u009bname", "bad\u202ename", "bad\nname"])
def test_names_that_command_a_terminal_are_refused_when_they_are_described(place, name):
    with forebay.Session(place / "run", config=place / "config.toml") as session:
        stream = session.stream("restart")
        for call in (lambda: stream.array(name, np.zeros(3)), lambda: stream.replicated(name, np.zeros(())),
                     lambda: stream.particles(name, {"x": "f8"}), lambda: stream.particles("gas", {name: "f8"}),
                     lambda: stream.array("a", np.zeros(3), dimensions=(name,)), lambda: session.stream(name)):
            with pytest.raises(forebay.RefusedError, match="control characters"):
                call()
        stream.array("a", np.zeros(3))
        assert stream.save(1).kept


def test_the_program_is_a_module_of_the_package(place):
    """From a build directory; tests/bindings/pip_test.sh tests an installed program."""
    done = subprocess.run([sys.executable, "-m", "forebay", "--version"], env=ENVIRONMENT, cwd=place, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("forebay "), done
    copied = place / "alone" / "forebay"
    copied.mkdir(parents=True)
    for file in (BUILD / "python/forebay").iterdir():
        if file.is_file():
            (copied / file.name).symlink_to(file.resolve())
    done = subprocess.run([sys.executable, "-m", "forebay", "ls"], cwd=place, capture_output=True, text=True, check=False,
                          env=os.environ | {"PYTHONPATH": str(copied.parent), "LD_LIBRARY_PATH": str(BUILD / "lib")})
    assert done.returncode == 1 and "bin/forebay" in done.stderr and "Traceback" not in done.stderr, done


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
