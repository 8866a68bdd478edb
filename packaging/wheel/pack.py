"""The file of a wheel, from a folder: scripts/wheel calls it. The same folder and time give the same bytes."""

import base64
import csv
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
PROJECT = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]
VERSION = re.search(r"project\(forebay VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
# One file for each CPython from 3.9 on: the module that fits is found by the end of its name.
TAG = "py3-none-manylinux_2_28_x86_64"
POLICY = "manylinux_2_28_x86_64"
LIMIT = 25_000_000
SYSTEM = re.compile(r"(lib(c|m|dl|rt|util|pthread|gcc_s)|ld-linux-[a-z0-9-]+)\.so\.\d+$")
LICENSES = {
    "fmt": "fmtlib-9.1.0+ds1/LICENSE.rst", "zlib": "zlib-1.2.13.dfsg/LICENSE", "libpng": "libpng-1.6.39/LICENSE",
    "lz4": "lz4-1.9.4/lib/LICENSE", "zstd": "zstd-1.5.4/LICENSE", "blosc": "c-blosc-1.21.3/LICENSES/BLOSC.txt",
    "nlohmann-json": "/usr/share/doc/nlohmann-json3-dev/copyright", "toml++": "/usr/share/doc/libtomlplusplus-dev/copyright",
    "CLI11": "/usr/share/doc/libcli11-dev/copyright", "pocketfft": "/usr/share/doc/gemmi-dev/copyright",
    "libstdc++": "/usr/share/doc/libstdc++-12-dev/copyright"}


def epoch(source):
    """The time of all files in the wheel."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        given = subprocess.run(["git", "-C", source, "log", "-1", "--format=%ct"], check=True, capture_output=True,
                               text=True).stdout
    return int(given)


def pythons_of_pyenv():
    """python3.9 to python3.12 of pyenv: the module for 3.12 serves all later ones."""
    places = sorted(pathlib.Path.home().joinpath(".pyenv", "versions").glob("3.*/bin/python"))
    return [path for path in places if (3, 9) <= tuple(map(int, path.parts[-3].split(".")[:2])) <= (3, 12)]


def about(python):
    """The end of a module's name, the folder of Python.h, and the version."""
    words = ("import json, sys, sysconfig; print(json.dumps([sysconfig.get_config_var('EXT_SUFFIX'), "
             "sysconfig.get_paths()['include'], sys.version_info[:2]]))")
    suffix, include, version = json.loads(subprocess.run([python, "-c", words], check=True, capture_output=True).stdout)
    return suffix, include, tuple(version)


def fit_cmake(package):
    """Changes the CMake package: forebay_mpi lies in the folder of the MPI that the project uses."""
    folder = package / "lib" / "cmake" / "forebay"
    config = folder / "forebay-config.cmake"
    text = config.read_text()
    before = "include(${CMAKE_CURRENT_LIST_DIR}/forebay-targets.cmake)\n"
    assert text.count(before) == 1, config
    config.write_text(text.replace(before, (SOURCE / "packaging" / "wheel" / "family.cmake").read_text() + before))
    shutil.rmtree(package / "lib" / "pkgconfig", ignore_errors=True)  # it has paths of this machine
    for file in folder.glob("forebay-targets-*.cmake"):
        text = file.read_text().replace("/lib/libforebay_mpi.so", "/lib/${forebay_mpi_family}/libforebay_mpi.so")
        assert "forebay_mpi_family" in text, file
        # The project links its MPI by itself.
        file.write_text(text)


def _metadata(source):
    lines = ["Metadata-Version: 2.1", f"Name: {PROJECT['name']}", f"Version: {VERSION}",
             f"Summary: {PROJECT['description']}", "License: Apache-2.0", f"Requires-Python: {PROJECT['requires-python']}",
             *[f"Requires-Dist: {name}" for name in PROJECT["dependencies"]]]
    for extra, names in PROJECT["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *[f"Requires-Dist: {name} ; extra == '{extra}'" for name in names]]
    lines += ["Description-Content-Type: text/markdown", "", (source / PROJECT["readme"]).read_text()]
    return "\n".join(lines)


def wheel(folder, out, source):
    """Packs the folder. Names are in order and times are equal; a file is executable if it is so in the folder."""
    files = {str(path.relative_to(folder)): (path.read_bytes(), os.access(path, os.X_OK))
             for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts}
    info = f"{PROJECT['name']}-{VERSION}.dist-info"
    scripts = "".join(f"{name} = {target}\n" for name, target in PROJECT["scripts"].items())
    for name, text in (("METADATA", _metadata(source)), ("entry_points.txt", f"[console_scripts]\n{scripts}"),
                       ("WHEEL", f"Wheel-Version: 1.0\nGenerator: forebay\nRoot-Is-Purelib: false\nTag: {TAG}\n")):
        files[f"{info}/{name}"] = (text.encode(), False)
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for name, (contents, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(contents).digest()).rstrip(b"=").decode()
        rows.writerow([name, f"sha256={digest}", len(contents)])
    rows.writerow([f"{info}/RECORD", "", ""])
    files[f"{info}/RECORD"] = (record.getvalue().encode(), False)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{PROJECT['name']}-{VERSION}-{TAG}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (contents, executable) in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(epoch(source))[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            archive.writestr(entry, contents)
    return path


def needed(path):
    """The libraries that an ELF file names."""
    text = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", text)


def check_needs(package):
    """Ends the script if a file needs a library that is neither ours nor part of every Linux: so no GPL code is linked,
    and no MPI by its name."""
    for path in sorted(package.rglob("*")):
        if path.suffix != ".so" and path.parent.name != "bin" or not path.is_file():
            continue
        strange = [name for name in needed(path) if not SYSTEM.match(name) and not name.startswith("libforebay")]
        if strange:
            sys.exit(f"scripts/wheel: {path} needs {', '.join(strange)}. No wheel was made. Next: link it statically, or "
                     "leave the part out that needs it")


def check(python, path):
    """Ends the script if the wheel is too large, or if auditwheel wants another tag for it."""
    if path.stat().st_size > LIMIT:
        sys.exit(f"scripts/wheel: {path} has {path.stat().st_size} bytes, more than {LIMIT}. Do not publish it. "
                 "Next: unzip -lv it, and leave a part out")
    shown = subprocess.run([python, "-m", "auditwheel", "show", path], check=True, capture_output=True, text=True).stdout
    tag = re.search(r'platform\s+tag:\s+"manylinux_2_(\d+)_x86_64"', shown)
    if tag is None or int(tag[1]) > int(POLICY.split("_")[2]):
        sys.exit(f"scripts/wheel: auditwheel gives {path} another tag than {POLICY}. Do not publish it. Next: "
                 "look in the output above for the symbol that is too new")
