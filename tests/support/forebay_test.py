"""Shared by Python tests: the programs of the tested build, ways to run them, and the expected exit codes.

ctest puts this directory on PYTHONPATH and sets FOREBAY_BINARY_DIR to the build.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"]).resolve()
FOREBAY = BUILD / "bin" / "forebay"
SECONDS_MAX = 600  # stops a hang; a busy machine is ten times slower than an idle one


def measures_memory(test):
    """Skips a test of memory or descriptors in a build with a sanitizer, whose own use would count."""
    sanitized = any(name in FOREBAY.read_bytes() for name in (b"__asan_init", b"__tsan_init"))
    return unittest.skipIf(sanitized, "a sanitizer's own memory counts too")(test)


def expect(good, what, seen=""):
    if not good:
        raise AssertionError(f"not as expected: {what}\n{seen}")


def run(*command, code=0, seconds_max=SECONDS_MAX, **options):
    """Runs a command and returns the result of subprocess. Standard input is empty, and invalid bytes are replaced. The
    exit status must be `code`; None accepts any."""
    words = [word if isinstance(word, bytes) else str(word) for word in command]
    done = subprocess.run(words, **({"capture_output": True, "text": True, "errors": "replace", "check": False,
                                     "stdin": subprocess.DEVNULL, "timeout": seconds_max} | options))
    expect(code is None or done.returncode == code, f"{words} exits with {done.returncode}, not {code}",
           f"{(done.stdout or '')[-2000:]}{(done.stderr or '')[-2000:]}")
    return done


def output_of(*command, **options):
    """The standard output of a command."""
    return run(*command, **options).stdout


def forebay(*arguments, code=0, **options):
    """The standard output of the program; its standard error if `code` is an error (2 and above)."""
    done = run(FOREBAY, *arguments, code=code, **options)
    return done.stdout if code in (0, 1) else done.stderr


def all_of_forebay(*arguments, code=0, **options):
    """The standard output of the program, followed by its standard error."""
    done = run(FOREBAY, *arguments, code=code, **options)
    return done.stdout + done.stderr


def check_each(label, checks):
    """Runs every check in its own empty directory in memory, which other users may enter. A failed check does not stop
    the rest. Ends the process with the result."""
    failed = []
    for check in checks:
        with tempfile.TemporaryDirectory(prefix=f"forebay-{label}-", dir="/dev/shm") as scratch:
            pathlib.Path(scratch).chmod(0o755)
            try:
                check(pathlib.Path(scratch))
                print(f"ok: {check.__name__}", flush=True)
            except AssertionError as problem:
                failed.append(check.__name__)
                print(f"FAILED: {check.__name__}: {problem}", flush=True)
    sys.exit(f"{label}: {', '.join(failed)} failed" if failed else 0)
