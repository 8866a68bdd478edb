"""Goal: the type stubs match the extension modules. `--update` rewrites them."""

import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"]) / "python"


def main(update):
    """Compares one stub for each module."""
    different = []
    for module in ("_forebay", "_forebay_insitu", "_forebay_mpi"):
        kept = ROOT / "src/bindings/python/forebay" / f"{module}.pyi"
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / kept.name
            subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-i", BUILT, "-m", f"forebay.{module}", "-o", file],
                           check=True)
            made = file.read_text()
        if update:
            kept.write_text(made)
        elif kept.read_text() != made:
            different += difflib.unified_diff(kept.read_text().splitlines(), made.splitlines(), kept.name, "made", lineterm="")
    print("\n".join(different) or "the stubs are those of the modules")
    return 1 if different else 0


sys.exit(main("--update" in sys.argv))
