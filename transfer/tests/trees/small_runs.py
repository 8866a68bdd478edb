"""Small runs with a snapshot that is being drained, a session's claim, a request and a file of the user."""

import json

from forebay_test import BUILD, FOREBAY, expect, run

IDENTITY = "forebay/run-00f30000c0ffee9a.json"
ALL = ["fields/step-000120", "restart/step-000100", "restart/step-000120", "restart/step-000140"]


def save(place, stream, step, identity="f3", arrived=None):
    run(BUILD / "tests" / "make_small_run", place, stream, str(step), "2", identity, *([str(arrived)] if arrived else []))


def identify(place, name=IDENTITY):
    (place / "forebay/sessions/000001").mkdir(parents=True, exist_ok=True)
    (place / name).write_text("{}\n")
    (place / "forebay/sessions/000001/claim.json").write_text("{}\n")
    (place / "forebay/sessions/000001/ended").touch()  # nobody has to watch whether it lives


def make(place):
    for step in (100, 120, 140):
        save(place, "restart", step, f"{step:x}")
    save(place, "fields", 120)
    save(place, "restart", 160, "a0", arrived=1)
    identify(place)
    (place / "notes.txt").write_text("mine")
    (place / ".stop").write_text("")
    return place


def snapshots(place):
    return sorted(str(path.parent.relative_to(place)) for path in place.glob("*/*/manifest.json"))


def whole(place):
    """Every snapshot of the run there, as `forebay verify` reads it; none is no fault."""
    done = run(FOREBAY, "verify", place, "--json", code=None)
    if done.returncode == 3:
        return []
    found = json.loads(done.stdout)
    expect(all(one["whole"] for one in found), "every snapshot is whole", done.stdout)
    return sorted(f"{one['stream']}/step-{one['step']:06}" for one in found)


def copy(source, target, *words, code=0, verb="copy"):
    """What it says of this run or another one."""
    done = run(FOREBAY, verb, source, target, *words, code=None)
    expect(done.returncode == code, f"exit code {code}, not {done.returncode}", done.stdout + done.stderr)
    return done.stdout + done.stderr


def entries(place):
    """What is there, so that a change of it is seen."""
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_ino) for path in sorted(place.rglob("*"))}
