"""Goal: bench/shared measures every way, and its figures and ratios follow from them.

Method: runs it small. Nothing is durable before it was visible, every way leaves the files that its name says.
"""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FILES = {"file_per_process": 3, "mpi_io": 1, "hdf5": 1, "node_files": 2, "shared": 2, "dedicated": 2}  # Forebay's with the manifest


def expect(wanted, what):
    if not wanted:
        sys.exit(f"shared_test: {what}")


def main():
    done = subprocess.run([sys.executable, HERE / "shared.py", "--ranks", "3", "--rows", "20000", "--rounds", "2", "--turns", "1", "--json"],
                          capture_output=True, text=True, timeout=240, check=False)
    expect(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
    found = json.loads(done.stdout)
    rows = sum(20000 - 20000 * (rank * 95 % 150) // 1000 for rank in range(3))
    expect(found["bytes"] == rows * 32, f"{found['bytes']} bytes, {rows * 32} expected")
    figures = {key: one["median"] for key, one in found["measured"].items()}
    for way, files in FILES.items():
        expect(figures[f"{way}_files"] == files, f"{way}: {figures[f'{way}_files']} files, {files} expected")
        expect(0 < figures[f"{way}_visible"] <= figures[f"{way}_durable"] < 30, f"{way}: durable before it was visible, or late")
    expect(len(found["ratios"]) == 10, f"{len(found['ratios'])} ratios, 10 expected")
    for name, one in found["ratios"].items():
        expect(one["lower_quartile"] <= one["value"] <= one["upper_quartile"], f"{name}: {one}")


main()
