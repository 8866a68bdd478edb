"""Goal: where SIGINT or SIGTERM ends a verb that makes or removes trees, one line says what is whole and what to do; the verb ends
by that signal, and the same command does the rest.

Method: each verb, paced or of many entries, is sent both signals in its middle, alone and with another process; one that was
started with SIGINT ignored, as by nohup in a script, goes on.
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from forebay_test import FOREBAY, SECONDS_MAX, expect, forebay, run

MIB = 1 << 20
ATTEMPTS_MAX = 20  # a signal that comes too late is sent again, to another run
GOES_ON = "Safe: every file with its final name at the target is whole. Next: the same command continues"


def begin(*words, **options):
    return subprocess.Popen([str(word) for word in (FOREBAY, *words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, **options)


def ended(words, has_begun, ending, again=lambda: None):
    """What a run says to standard error that is sent the signal when it has begun."""
    for _ in range(ATTEMPTS_MAX):
        process = begin(*words)
        while process.poll() is None and not has_begun():
            time.sleep(0.001)
        process.send_signal(ending)
        said = process.communicate(timeout=SECONDS_MAX)
        if process.returncode != 0:
            expect(process.returncode == -ending, f"{words} ends by {ending.name}, not with {process.returncode}", str(said))
            return said[1]
        again()
    raise AssertionError(f"{words}: no signal came in its middle")


def check_words(words, said, wanted):
    lines = said.splitlines()
    expect(len(lines) == 1 and lines[0] == f"forebay: ended by a signal. {wanted}", f"{words}: one line with \"{wanted}\"", said)


def names(top):
    return [name for _, folders, files in os.walk(top) for name in folders + files]


def make(source):
    (source / "below").mkdir(parents=True)
    for number in range(30):
        (source / "below" / f"file-{number}").write_bytes(os.urandom(200_000))
    return source


def check_copies(place, source):
    for number, ending in enumerate((signal.SIGINT, signal.SIGTERM)):
        for verb, *more in (("copy",), ("sync", "--delete"), ("copy", "--hosts", "localhost")):
            target = place / f"target-{number}"
            words = (verb, source, target, "--rate", "3M", *more)
            check_words(words, ended(words, lambda: (target / "below").exists() and names(target / "below"), ending), GOES_ON)
            forebay("copy", source, target)
            forebay("compare", source, target)
            expect(not [name for name in names(target) if name.startswith(".fb-")], "no temporary names stay")
            shutil.rmtree(target)


def check_archives(place, source):
    tar, target = place / "case.tar", place / "restored"
    words = ("archive", source, tar, "--rate", "3M")
    check_words(words, ended(words, lambda: names(place), signal.SIGTERM), "Safe: FILE is unchanged, or whole. Next: repeat the same command")
    expect(not tar.exists(), "an archive that was not made has no name")
    forebay("archive", source, tar)
    expect(not [name for name in names(place) if name.startswith(".fb-")], "no temporary names stay")
    words = ("restore-archive", tar, target, "--rate", "3M")
    check_words(words, ended(words, lambda: (target / "below").exists() and names(target / "below"), signal.SIGINT),
                "Safe: every file with its final name in TARGET is whole. Next: the same command restores everything")
    forebay("restore-archive", tar, target)
    forebay("compare", source, target)
    words = ("restore-archive", "--check", tar, "--rate", "3M")
    began = time.monotonic()
    check_words(words, ended(words, lambda: time.monotonic() > began + 0.5, signal.SIGINT), "Safe: nothing was changed.")


def check_delete(place):
    for hosts in ((), ("--hosts", "localhost")):
        victim = place / "victim"

        def fill():
            victim.mkdir(exist_ok=True)
            for number in range(20_000):
                (victim / f"file-{number}").touch()

        fill()
        words = ("delete", victim, "--threads", 1, *hosts)
        said = ended(words, lambda: len(os.listdir(victim)) < 19_900 if victim.exists() else True, signal.SIGTERM, fill)
        check_words(words, said, "Safe: the rest is unchanged. Next: the same command continues")
        expect(victim.exists(), "something is left")
        forebay("delete", victim)
        expect(not victim.exists(), "and goes with the same command")


def check_ignored(place, source):
    process = begin("copy", source, place / "ignored", "--rate", "5M", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    while not (place / "ignored/below").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=SECONDS_MAX)
    expect(process.returncode == 0, "a signal that is ignored stays so", str(said))
    run("sh", "-c", f'{FOREBAY} copy "$0" "$1" --rate 1M & child=$!; sleep 0.5; kill -TERM $child; wait $child; test $? = 143', source, place / "by-shell")


def main():
    with tempfile.TemporaryDirectory(prefix="forebay-ended-", dir="/dev/shm") as scratch:
        place = pathlib.Path(scratch)
        source = make(place / "source")
        for check in (check_copies, check_archives, check_ignored):
            (place / check.__name__).mkdir()
            check(place / check.__name__, source)
        check_delete(place)
    print("ended by signals: in a line, and gone on from")


if __name__ == "__main__":
    sys.exit(main())
