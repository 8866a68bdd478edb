"""What Python tests share: the programs of the build that is tested, how they are run, and what is expected of them.

ctest puts this folder on PYTHONPATH and the build into FOREBAY_BINARY_DIR.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"]).resolve()
FOREBAY = BUILD / "bin" / "forebay"
SECONDS_MAX = 600  # for what hangs: a machine that does other work takes ten times as long as an idle one


def measures_memory(test):
    """Of a test, that it is left out where the program was built with a sanitizer, which multiplies what it uses."""
    sanitized = any(name in FOREBAY.read_bytes() for name in (b"__asan_init", b"__tsan_init"))
    return unittest.skipIf(sanitized, "a sanitizer's own memory counts too")(test)


def expect(good, what, seen=""):
    if not good:
        raise AssertionError(f"not as expected: {what}\n{seen}")


def run(*command, code=0, seconds_max=SECONDS_MAX, **options):
    """What a program did, told as subprocess does; `code` is how it must end, None: somehow. Bytes that are no text are
    replaced, and standard input is empty."""
    words = [word if isinstance(word, bytes) else str(word) for word in command]
    done = subprocess.run(words, **({"capture_output": True, "text": True, "errors": "replace", "check": False,
                                     "stdin": subprocess.DEVNULL, "timeout": seconds_max} | options))
    expect(code is None or done.returncode == code, f"{words} exits with {done.returncode}, not {code}",
           f"{(done.stdout or '')[-2000:]}{(done.stderr or '')[-2000:]}")
    return done


def output_of(*command, **options):
    """What a program writes to standard output."""
    return run(*command, **options).stdout


def forebay(*arguments, code=0, **options):
    """What the program writes to standard output, or where it must end by an error (2 and above) to standard error."""
    done = run(FOREBAY, *arguments, code=code, **options)
    return done.stdout if code in (0, 1) else done.stderr


def all_of_forebay(*arguments, code=0, **options):
    """What the program writes to standard output, then what it writes to standard error."""
    done = run(FOREBAY, *arguments, code=code, **options)
    return done.stdout + done.stderr


def check_each(label, checks):
    """Each check with an empty directory of its own, in memory, which others may enter; also those behind one that failed. Ends
    the test."""
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
