"""Goal: the programs and configurations of the tutorials run as the pages show them.

Method: each file of docs/tutorials on a page is there word for word. The Python programs run in a private directory:
first.py on 2 ranks and on 1; first.f90 on 3 and on 2; heat.py from nothing, onwards, and back to an earlier step. The pages' commands that
inspect a run succeed.
"""

import os
import pathlib
import re
import sys
import tempfile

import forebay_test as test

if not list((test.BUILD / "python/forebay").glob("_forebay.*so")):
    print("skipped: the Python package is not built (it needs nanobind in build/venv)")
    sys.exit(77)
PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs/tutorials"
ENVIRONMENT = os.environ | {"PYTHONPATH": f"{test.BUILD / 'python'}:{os.environ.get('PYTHONPATH', '')}",
                            "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}  # its python3 has matplotlib
SHOWN = {"first-run.md": ["first.cpp", "first.py"], "../reference/fortran.md": ["first.f90"], "restart-and-go-back.md": ["heat.py"], "look-at-a-run.md": ["forebay.toml"]}


def blocks_are_the_files():
    """The pages show the files word for word."""
    for page, names in SHOWN.items():
        text = (PAGES / page).read_text(encoding="utf-8")
        for name in names:
            test.expect(f"```{name.rsplit('.', 1)[1].replace('py', 'python').replace('f90', 'fortran')}\n{(PAGES / name).read_text(encoding='utf-8')}```" in text,
                        f"{page} shows {name} as it is")


def steps_of(run):
    """Step and state of each snapshot in the output of ls."""
    listed = test.run(test.FOREBAY, "ls", run).stdout
    return [(int(step), state) for step, state in re.findall(r"^\w+ +(\d+) .* (committed|abandoned) ", listed, re.MULTILINE)]


def first_run(folder):
    """Saves on 2 ranks, continues on 1."""
    for ranks, step in ((2, 0), (1, 5)):
        done = test.run("mpiexec", "-n", ranks, sys.executable, PAGES / "first.py", cwd=folder, env=ENVIRONMENT)
        test.expect(f"starting after step {step}" in done.stdout, f"first.py starts after step {step}", done.stdout)
    test.expect(steps_of(folder / "run1") == [(step, "committed") for step in (10, 9, 8)], "steps 8, 9 and 10 stay")


def in_fortran(folder):
    """The program of the Fortran page, where it was built: saves on 3 ranks, continues on 2."""
    program = test.BUILD / "tests/guide_first_fortran"
    if not program.exists():
        return
    for ranks, step in ((3, 0), (2, 5)):
        done = test.run("mpiexec", "-n", ranks, program, cwd=folder, env=ENVIRONMENT)
        test.expect(f"starting after step {step}" in done.stdout, f"first.f90 starts after step {step}", done.stdout)
    test.expect(steps_of(folder / "run1") == [(step, "committed") for step in (10, 9, 8)], "steps 8, 9 and 10 stay in Fortran")
    test.run(test.FOREBAY, "verify", folder / "run1")


def restart_and_go_back(folder):
    """From nothing, onwards, and back."""
    (folder / "forebay.toml").write_text("[streams.field]\nkeep = 0\n", encoding="utf-8")
    for steps, back in ((100, None), (100, None), (50, "100")):
        test.run(sys.executable, PAGES / "heat.py", steps, cwd=folder, env=ENVIRONMENT | ({"FOREBAY_RESTART": back} if back else {}))
    test.expect(steps_of(folder / "heat1") == [(150, "committed"), (100, "committed"), (50, "committed"), (200, "abandoned"),
                                               (150, "abandoned")], "a new line from step 100", steps_of(folder / "heat1"))
    test.run(test.FOREBAY, "compare", folder / "heat1@50", folder / "heat1@100", code=1)
    test.run(test.FOREBAY, "prune", folder / "heat1", "--line", "3", "--dry-run")
    test.run(test.FOREBAY, "prune", folder / "heat1", "--line", "3")
    test.run(test.FOREBAY, "view", folder / "heat1/field", "--all")
    test.expect(steps_of(folder / "heat1")[0] == (200, "committed"), "step 200 lives again")


def look_at_a_run(folder):
    """Analyses only by configuration."""
    (folder / "forebay.toml").write_text((PAGES / "forebay.toml").read_text(encoding="utf-8"), encoding="utf-8")
    test.run(sys.executable, PAGES / "heat.py", 100, cwd=folder, env=ENVIRONMENT)
    run = folder / "heat1"
    for words in (["top", run, "--once"], ["report", run], ["report", run, "--html", folder / "report.html"],
                  ["plot", f"{run}/field.numbers", "temperature/mean"],
                  ["plot", f"{run}/field.numbers", "temperature/max", "--to", folder / "max.png"],
                  ["plot", f"{run}/field.map", "--to", folder / "plane.png"],
                  ["movie", run, "--only", "field.map.*", "--to", folder / "map.png"]):
        test.run(test.FOREBAY, *words, env=ENVIRONMENT)


blocks_are_the_files()
for tutorial in (first_run, in_fortran, restart_and_go_back, look_at_a_run):
    with tempfile.TemporaryDirectory() as name:
        tutorial(pathlib.Path(name))
print("the programs and configurations of the tutorials run as the pages show them")
