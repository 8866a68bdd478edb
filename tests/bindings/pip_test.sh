# Goal: `pip install .` gives a clean environment a self-contained package. It contains libraries and the program, and
# works wherever the environment lies.
# Method: build in a private directory, save, list, read. Only packages of the test environment are downloaded. The
# compilers, flags and directory name are those of this build, so that a compiler cache has all objects.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset FOREBAY_AGENT PYTHONPATH
unset XDG_CACHE_HOME  # it is set for tests only; the build keeps the compiler's cache elsewhere
tests=$(dirname "$FOREBAY_PYTHON")
"$FOREBAY_PYTHON" -m venv --without-pip "$work/clean"
# Build tools, numpy, h5py and xarray come from the test environment, which does not have forebay.
"$work/clean/bin/python" - "$tests" << 'PATHS'
import pathlib, sys, sysconfig
other = next(pathlib.Path(sys.argv[1]).parent.glob("lib/python*/site-packages"))
pathlib.Path(sysconfig.get_paths()["purelib"], "tests.pth").write_text(f"{other}\n")
PATHS
cp -r "$FOREBAY_SOURCE_DIR"/{CMakeLists.txt,cmake,include,src,transfer,pyproject.toml,README.md,LICENSE} "$work"
cd "$work"
of_this_build() { sed -nE "s/^$1:[A-Z]+=//p" "$FOREBAY_BINARY_DIR/CMakeCache.txt"; }
"$work/clean/bin/python" -m pip install --quiet --no-build-isolation --no-index --no-deps --disable-pip-version-check \
    --config-settings=build-dir=build --config-settings=cmake.build-type="$(of_this_build CMAKE_BUILD_TYPE)" \
    --config-settings=cmake.define.CMAKE_C_COMPILER="$(of_this_build CMAKE_C_COMPILER)" \
    --config-settings=cmake.define.CMAKE_CXX_COMPILER="$(of_this_build CMAKE_CXX_COMPILER)" \
    --config-settings=cmake.define.FOREBAY_WERROR="$(of_this_build FOREBAY_WERROR)" --prefix "$work/clean" "$work"
rm -rf "$work"/{src,include,cmake,build}
mv "$work/clean" "$work/moved"
mkdir memory
cat > program.py << 'PROGRAM'
import numpy, forebay
with forebay.Session("run", staging="memory") as session:
    stream = session.stream("restart")
    stream.array("fields/u", numpy.arange(12.0).reshape(3, 4), dimensions=("y", "x"))
    stream.save(7, 0.5)
newest = forebay.open("run")["restart"].newest
print(forebay.__file__, newest, float(newest.dataset("fields").u.sum()))
PROGRAM
"$work/moved/bin/python" program.py | tee output
grep -q "moved/lib.*time 0.5, 1 variable> 66.0" output
"$work/moved/bin/python" -m forebay ls run | grep committed > /dev/null
"$work/moved/bin/python" -m forebay bench save --help | grep bytes-per-rank > /dev/null
