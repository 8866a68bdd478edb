"""Goal: the scripts that docs/how-to shows run as they stand there.

Method: each of them, without a change, over drained snapshots of a field of three dimensions; one whose library is not
installed is skipped.
"""

import importlib.util
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import scripted
from scripted import ENVIRONMENT

PAGES = [pathlib.Path(__file__).parents[2] / "docs/how-to" / name
         for name in ("analyse-with-a-script.md", "draw-with-your-libraries.md")]
SHOWN = [text for page in PAGES for text in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
         if "(snapshot)" in text]  # the reader outside is no script
MADE = {"extremes": ["min", "rows"], "profile": ["min", "sum", "root", "profile"], "chart": "chart", "contour": "contour",
        "cut": "cut", "watch": [], "send": []}


@pytest.fixture(name="run", scope="module")
def make_run(tmp_path_factory):
    """Steps 0 and 100 of a stream as the guide has it."""
    folder = tmp_path_factory.mktemp("guide")
    (folder / "memory").mkdir()
    config = folder / "forebay.toml"
    config.write_text(f'staging = "{folder}/memory"\n[agent]\nmode = "thread"\n')
    with scripted.forebay.Session(folder / "run", config=config) as session:
        stream = session.stream("fields", view=False)
        theta = np.fromfunction(lambda z, y, x: np.sin(z / 3) + np.cos(y / 4) * np.sin(x / 5), (16, 20, 24))
        stream.array("theta", theta, unit="K", dimensions=("z", "y", "x"))
        stream.particles("gas", {"x": "f8"}).bind(x=np.arange(9.0))
        for step in (0, 100):
            stream.save(step)
    return folder / "run"


@pytest.mark.parametrize("script", SHOWN, ids=lambda text: re.findall(r"def (\w+)\(snapshot\)", text)[-1])
def test_a_script_of_the_guide_runs(run, tmp_path, script):
    for module in re.findall(r"^import (\w+)", script, re.MULTILINE) + ["openpmd_api"] * ("forebay.live" in script):
        if not importlib.util.find_spec(module):
            pytest.skip(f"there is no {module}")
    path = tmp_path / "look.py"
    path.write_text(script)
    done = subprocess.run(["forebay", "insitu", path, f"{run}/fields@100", "--python", sys.executable, "--to", tmp_path / "to",
                           "--pictures", tmp_path / "pictures"], env=ENVIRONMENT, cwd=tmp_path, capture_output=True, text=True, check=False)
    if "PyVista cannot draw on this node" in done.stdout:
        pytest.skip(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    expected = MADE[re.findall(r"def (\w+)\(snapshot\)", script)[-1]]
    if not expected:
        assert "0 results, 0 pictures" in done.stdout
    elif isinstance(expected, str):
        assert [one.name for one in (tmp_path / "pictures").iterdir()] == [f"fields.look.{expected}.step-000100.png"]
    else:
        assert sorted(scripted.results(tmp_path / "to")[100]) == sorted(expected)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
