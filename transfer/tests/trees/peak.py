"""The memory that a program needs at most: what the kernel tells of a child at its end counts its parent's before exec."""

import re
import subprocess
import time

LOOK_SECONDS = 0.002  # what is needed in the last two milliseconds alone is not seen
PEAK = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)


def run(command, **options):
    """Its exit code, and the bytes at their highest; of the program itself, not of others that it starts."""
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, **options)
    kib = 0
    while process.poll() is None:
        try:
            with open(f"/proc/{process.pid}/status", encoding="ascii", errors="replace") as status:
                found = PEAK.search(status.read())
            kib = int(found.group(1)) if found else kib
        except OSError:
            pass  # it has just ended
        time.sleep(LOOK_SECONDS)
    return process.returncode, kib << 10
