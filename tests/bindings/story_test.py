"""Goal: one program in every language prints the same text, also for its mistakes, and leaves the same bytes.

Method: each language plays story.md on 3 ranks and restarts on 2. Node files are compared to the last byte, except the
record page, which has the snapshot's random id and the time of its seal.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ["FOREBAY_BINARY_DIR"])
RECORD_PAGE = slice(4096, 8192)
MISTAKES = ("type", "rank", "shape", "missing", "closed", "differs", "steps", "options", "file")


def told(command, ranks, folder, act, run="run", config="empty.toml"):
    done = subprocess.run(["mpiexec", "-n", str(ranks), *map(str, command), act, run, "memory", config], cwd=folder,
                          capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, f"{command} {act}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    # Directory names and the number of Open MPI's own messages may differ.
    return re.sub(r"-[0-9a-f]{8}-", "-HASH-", done.stdout.replace(str(folder), "FOLDER"))


def node_files(run):
    files = {}
    for path in sorted(run.glob("restart/step-*/node-*.h5")):
        data = bytearray(path.read_bytes())
        data[RECORD_PAGE] = b""
        files[str(path.relative_to(run))] = bytes(data)
    return files


def tell(command, folder):
    (folder / "memory").mkdir()
    (folder / "empty.toml").write_text("")
    (folder / "dedicated.toml").write_text('[agent]\nmode = "dedicated"\n')
    outputs = {"save": told(command, 3, folder, "save")}
    files = node_files(folder / "run")
    outputs["ls"] = subprocess.run([BUILD / "bin/forebay", "ls", "run"], cwd=folder, capture_output=True, text=True,
                                   check=True).stdout
    outputs["restart"] = told(command, 2, folder, "restart")
    for act in MISTAKES:
        outputs[act] = told(command, 2, folder, act)
    outputs["owns"] = told(command, 2, folder, "owns", "run-owns")
    outputs["forms"] = told(command, 3, folder, "forms", "run-forms")
    outputs["told"] = told(command, 3, folder, "told", "run-told")
    assert (folder / "run-forms/one/step-000003/shared.h5").is_file(), f"{command}: no shared file"
    # A fourth rank as agent changes nothing. With two ranks, the last as agent, one rank restarts.
    outputs["save, dedicated"] = told(command, 4, folder, "save", "run2", "dedicated.toml")
    assert outputs["save, dedicated"] == outputs["save"]
    assert node_files(folder / "run2") == files, f"{command}: other bytes with a dedicated agent"
    outputs["restart, dedicated"] = told(command, 2, folder, "restart", "run2", "dedicated.toml")
    return outputs, files


def main():
    programs = {path.name.removeprefix("story_"): [path] for path in sorted((BUILD / "tests").glob("story_*"))}
    assert {"c", "cpp"} <= programs.keys(), programs
    if list((BUILD / "python/forebay").glob("_forebay_mpi.*so")):
        os.environ["PYTHONPATH"] = str(BUILD / "python")
        programs["python"] = [sys.executable, pathlib.Path(__file__).with_name("story.py")]
    stories = {}
    for language, command in programs.items():
        with tempfile.TemporaryDirectory(prefix="forebay-story-") as folder:
            stories[language] = tell(command, pathlib.Path(folder).resolve())
    outputs, files = stories["cpp"]
    for act, text in outputs.items():
        print(f"--- {act}\n{text}", end="")
    assert len(files) == 2, files.keys()
    assert outputs["restart"].startswith("restart from step 7, time 3.50, other ranks, dt 0.125\n")
    for act in MISTAKES:
        assert re.match(r"(refused|missing): forebay: ", outputs[act]), outputs[act]
    assert "clock/dt" in outputs["differs"] and "0.125 on rank 0, 0.25 on rank 1" in outputs["differs"]
    assert "step 9, time 0 " in outputs["steps"] and "step 10, time 0 " in outputs["steps"]
    assert "slots is 1 on rank 0 and 2 on rank 1" in outputs["options"]
    assert "compression.codec is zstd there and lz4 here" in outputs["forms"], outputs["forms"]
    assert "stream 'cut': insitu.a.factor is 2: density does not use it" in outputs["forms"], outputs["forms"]
    words = "looked.numbers: */count > 11.5 (mask/count is 12), at step 3\n"
    assert outputs["told"] == f"saved step 3, kept\nsave 1, stop 0, value 12.0, step 3: {words}the condition {words}", outputs["told"]
    assert "nowhere.toml" in outputs["file"] and outputs["file"].count("(reported by rank 1)") == 1
    assert outputs["owns"] == "ok: \n", outputs["owns"]
    for language, (other_outputs, other_files) in stories.items():
        for act, text in outputs.items():
            assert other_outputs[act] == text, f"{language} {act}:\n{other_outputs[act]}instead of\n{text}"
        assert other_files.keys() == files.keys(), f"{language}: {sorted(other_files)}"
        for name, data in files.items():
            assert other_files[name] == data, f"{language}: {name} has other bytes"
    print(f"{len(stories)} languages tell the same: {', '.join(stories)}")


if __name__ == "__main__":
    sys.exit(main())
