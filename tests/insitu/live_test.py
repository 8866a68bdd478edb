"""Goal: a reader outside sees what a script streams by openPMD and SST, though it comes late; it may be slow or killed, and
no save is missed for it. Method: a reader process by openPMD-api, which did not write the stream's bytes itself.
"""

import os
import signal
import subprocess
import sys

import pytest

import scripted

pytest.importorskip("openpmd_api")

SCRIPT = """
from forebay.live import OpenPmdStream
out = OpenPmdStream("{folder}/live")

@every(1, variables=["theta", "gas/x"])
def send(snapshot):
    out.write(snapshot)
    return {{"sent": snapshot.step}}
"""
READER = """
import sys, time, openpmd_api
series = openpmd_api.Series(sys.argv[1], openpmd_api.Access.read_linear)
for one in series.read_iterations():
    theta = one.meshes["theta"][openpmd_api.Mesh_Record_Component.SCALAR]
    x = one.particles["gas"]["position"]["x"].load_chunk()
    values = theta.load_chunk()
    one.close()
    print(one.iteration_index, one.time, values[0, 0], values[3, 5], x.sum(), one.meshes["theta"].get_attribute("unit"),
          "".join(one.meshes["theta"].axis_labels), flush=True)
    time.sleep(float(sys.argv[2]))
"""


def read(folder, pause):
    return subprocess.Popen([sys.executable, "-c", READER, str(folder / "live.node-00000.sst"), str(pause)], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("pause", [0, 30])
def test_reader_comes_late_and_is_killed(tmp_path, pause):
    """The first one keeps up, the second one sleeps over every step that comes."""
    config = scripted.write_config(tmp_path, SCRIPT.format(folder=tmp_path))
    saves = scripted.Saves(tmp_path, config)
    saves.save(0)
    reader = read(tmp_path, pause)
    try:
        os.set_blocking(reader.stdout.fileno(), False)
        seen, steps = [], iter(range(1, 1000))
        while len(seen) < (3 if pause == 0 else 1):
            saves.save(next(steps))
            seen += [line.split() for line in iter(reader.stdout.readline, "")]
            assert reader.poll() is None and saves.saved < 900
        reader.send_signal(signal.SIGKILL)
        for _ in range(3):
            saves.save(next(steps))
    finally:
        reader.kill()
        reader.wait()
        reader.stdout.close()
    _, counters = saves.close()
    assert counters.scripts_missed == 0
    assert [int(found["sent"]) for found in scripted.results(saves.run).values()] == list(range(saves.saved))
    for step, time, first, last, x, unit, axes in seen:  # theta begins as 0 to 23, and each save adds one
        assert (float(time), float(first), float(last)) == (int(step) / 2, int(step) + 1, int(step) + 24)
        assert (float(x), unit, axes) == (21, "K", "yx")


def test_readers_and_the_file_end_with_the_session(tmp_path):
    config = scripted.write_config(tmp_path, SCRIPT.format(folder=tmp_path))
    saves = scripted.Saves(tmp_path, config)
    saves.save(0)
    reader = read(tmp_path, 0)
    try:
        os.set_blocking(reader.stdout.fileno(), False)
        steps = iter(range(1, 1000))
        while not reader.stdout.readline():
            saves.save(next(steps))
            assert reader.poll() is None
        saves.close()
        assert reader.wait(60) == 0
        assert not list(tmp_path.glob("live*"))
    finally:
        reader.kill()
        reader.wait()
        reader.stdout.close()


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
