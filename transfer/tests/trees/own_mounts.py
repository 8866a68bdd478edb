"""Mounts and users for tests of trees: a mount namespace of their own, somebody who owns nothing, and what a verb tells."""

import json
import os
import stat
import subprocess
import sys

import judge
import pairs
from forebay_test import FOREBAY, expect, run

SKIPPED = 77
USER = 65533  # somebody who owns nothing
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def own_mounts():
    """Begins again in a namespace where mounts are nobody else's."""
    if os.geteuid() != 0:
        skip("needs root, for mounts and owners")
    if "FOREBAY_OWN_MOUNTS" in os.environ:
        return
    allowed = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True, check=False)
    if allowed.returncode:
        skip(f"this machine allows no namespaces: {allowed.stderr.strip()}")
    os.environ["FOREBAY_OWN_MOUNTS"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])


def mover(*arguments, before=(), code=None, **options):
    """The process that ended, and its report, {} where there is none. Exit codes beyond those of the program are crashes."""
    done = run(*before, FOREBAY, *arguments, "--json", code=None, **options)
    expect(0 <= done.returncode < 10, f"{arguments} ends by itself", f"{done.returncode}\n{done.stdout}{done.stderr}")
    right = code is None or done.returncode in code
    expect(right, f"{arguments} exits with one of {code}, not {done.returncode}", done.stdout + done.stderr)
    return done, json.loads(done.stdout) if done.stdout.strip().startswith("{") else {}


def told(done, report):
    return done.stderr + json.dumps(report.get("first", []))


def torn(source, target):
    """Files at the target under a final name that are not whole."""
    return [pair.path for pair in pairs.walk(source, target) if pair.right and pair.right.kind == stat.S_IFREG and
            not (pair.left and pair.equal_bytes) and not pair.path.rsplit(b"/", 1)[-1].startswith(b".fb-")]


def expect_equal(source, target, what):
    verdict = judge.judge(source, target)
    expect(verdict.equal, f"{what}, not without {verdict.failed()}", judge.text(verdict))


def user_may_run():
    """A build in somebody's home is closed to others."""
    return run(*AS_USER, FOREBAY, "--help", code=None).returncode == 0
