# Goal: CMake and pkg-config find an installed Forebay. It works from any prefix, and uninstalls without a trace.
# Method: install into one directory, move it to another, build programs of each language against it both ways, run
# them, and uninstall beside a user's file.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$FOREBAY_BINARY_DIR" --prefix "$work/first" > "$work/log" || { cat "$work/log"; exit 1; }
mv "$work/first" "$work/prefix"
unset FOREBAY_AGENT  # the library must find the agent in ../bin
flags=${FOREBAY_LINK_FLAGS:-}

: > "$work/empty.toml"
mkdir "$work/project"
cp "$FOREBAY_SOURCE_DIR/docs/tutorials/first.cpp" "$work/project"
cat > "$work/project/CMakeLists.txt" <<'PROJECT'
cmake_minimum_required(VERSION 3.22)
project(simulation CXX)
find_package(forebay REQUIRED COMPONENTS core mpi OPTIONAL_COMPONENTS holography)
if(forebay_holography_FOUND)
  message(FATAL_ERROR "found what is not there")
endif()
add_executable(simulation first.cpp)
target_link_libraries(simulation PRIVATE forebay::forebay_mpi)
PROJECT
cmake -S "$work/project" -B "$work/by-cmake" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_FLAGS="$flags" \
    -DCMAKE_BUILD_TYPE=Release > "$work/log" && cmake --build "$work/by-cmake" >> "$work/log" || { cat "$work/log"; exit 1; }

libraries=$(dirname "$(find "$work/prefix" -name libforebay.so)")
export PKG_CONFIG_PATH=$libraries/pkgconfig
# shellcheck disable=SC2046,SC2086  # lists of flags
mpicxx -std=c++20 $flags -o "$work/by-pkg-config" "$work/project/first.cpp" $(pkg-config --cflags --libs forebay_mpi) \
    -Wl,-rpath,"$(pkg-config --variable=libdir forebay_mpi)"
# shellcheck disable=SC2046,SC2086
mpicc -std=c99 -Wall -Wextra -pedantic -Werror $flags -o "$work/in-c" "$FOREBAY_SOURCE_DIR/tests/bindings/story.c" \
    $(pkg-config --cflags --libs forebay_mpi forebay)
if [ -e "$libraries/libforebay_fortran.so" ]; then
    # shellcheck disable=SC2046,SC2086
    mpifort $flags -o "$work/in-fortran" "$FOREBAY_SOURCE_DIR/tests/bindings/story.f90" \
        $(pkg-config --cflags --libs forebay_fortran forebay_mpi forebay)
    LD_LIBRARY_PATH=$libraries mpiexec -n 1 "$work/in-fortran" save "$work/run3" "$work" "$work/empty.toml" | grep -x "saved step 7, kept"
fi
if [ -e "$libraries/libforebay_h5part.so" ]; then
    # shellcheck disable=SC2046,SC2086
    mpicc -std=c99 $flags -o "$work/vpic" "$FOREBAY_SOURCE_DIR/tests/h5part/vpic.c" \
        $(pkg-config --cflags --libs forebay_h5part)
    # shellcheck disable=SC2046,SC2086
    cc -std=c99 $flags -o "$work/calls" "$FOREBAY_SOURCE_DIR/tests/h5part/calls.c" \
        $(pkg-config --cflags --libs forebay_h5part_serial)
    mkdir "$work/h5part"
    cat > "$work/h5part/CMakeLists.txt" <<PROJECT
cmake_minimum_required(VERSION 3.22)
project(code C CXX)
find_package(forebay REQUIRED COMPONENTS h5part_serial)
add_executable(calls $FOREBAY_SOURCE_DIR/tests/h5part/calls.c)
target_link_libraries(calls PRIVATE forebay::forebay_h5part_serial)
PROJECT
    cmake -S "$work/h5part" -B "$work/h5part/build" -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_FLAGS="$flags" \
        > "$work/log" && cmake --build "$work/h5part/build" >> "$work/log" || { cat "$work/log"; exit 1; }
    (cd "$work/h5part" && "$work/h5part/build/calls" && rm -f -- *.h5part && LD_LIBRARY_PATH=$libraries "$work/calls")
    LD_LIBRARY_PATH=$libraries mpiexec -n 2 "$work/vpic" again "$work/h5part/vpic.h5part" 2
fi

cd "$work"
mpiexec -n 2 "$work/by-cmake/simulation" run1 | grep -x "starting after step 0"
mpiexec -n 2 "$work/by-pkg-config" run1 | grep -x "starting after step 5"
mkdir memory
LD_LIBRARY_PATH=$libraries mpiexec -n 3 "$work/in-c" save run2 memory empty.toml | grep -x "saved step 7, kept"
LD_LIBRARY_PATH=$libraries mpiexec -n 2 "$work/in-c" restart run2 memory empty.toml | grep "^restart from step 7,"
"$work/prefix/bin/forebay" ls run1 > /dev/null
pages=$work/prefix/share/man/man1
[ ! -e "$FOREBAY_BINARY_DIR/man" ] || { [ -s "$pages/forebay.1" ] && [ -s "$pages/forebay-ls.1" ]; } ||
    { echo "no man pages were installed:"; find "$work/prefix/share"; exit 1; }
mpiexec -n 2 "$work/prefix/bin/forebay" bench plan --variables 2 --nodes 1 --repeats 1 | grep "^forebay bench plan: variables 2,"
sed 's/OPTIONAL_COMPONENTS//' "$work/project/CMakeLists.txt" > CMakeLists.txt
if cmake -S "$work" -B "$work/refused" -DCMAKE_PREFIX_PATH="$work/prefix" > log 2>&1; then
    echo "a component that is not there was found"
    exit 1
fi
tr -s ' \n' ' ' < log | grep "built without the component 'holography'; there are core, mpi" > /dev/null || { cat log; exit 1; }

touch "$work/prefix/bin/other"
cmake -P "$libraries/cmake/forebay/uninstall.cmake" > log
[ "$(find prefix -not -type d)" = prefix/bin/other ] && [ ! -e prefix/include ] && [ ! -e "$libraries" ] ||
    { echo "uninstalled, but there are:"; find prefix; exit 1; }
echo "installed, moved, found by CMake and by pkg-config, from C++, C and Fortran, run, and uninstalled"
