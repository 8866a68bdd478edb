# Goal: Forebay compiles and runs against MPICH as it does against Open MPI.
# Method: build the libraries of MPI and Fortran in a private build directory. Play the story in C++, C and Fortran on 3
# ranks, then on 2 and a dedicated agent. The library below them and the agent of the first run come from this build, as
# they know no MPI. Compiled without optimisation and debug information, which takes a third less time.
set -euo pipefail
command -v mpicxx.mpich mpicc.mpich mpifort.mpich mpiexec.mpich > /dev/null ||
    { echo "skipped: MPICH is not here, beside another MPI (Debian: libmpich-dev, mpich)"; exit 77; }
[ -n "${FOREBAY_LINK_FLAGS:-}" ] && { echo "skipped: the agent of a sanitized build and libraries that are not"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cmake -G Ninja -S "$FOREBAY_SOURCE_DIR" -B build -DMPI_C_COMPILER=mpicc.mpich -DMPI_CXX_COMPILER=mpicxx.mpich \
    -DMPI_Fortran_COMPILER=mpifort.mpich -DFOREBAY_TESTS=OFF -DFOREBAY_APPS=OFF -DFOREBAY_PYTHON=OFF -DFOREBAY_HDF5=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG= \
    -DFOREBAY_JUMBO=ON > log || { cat log; exit 1; }
objects=$(ninja -C build -t targets all | grep -oE '^src/CMakeFiles/forebay_mpi\.dir/[^:]*\.o' | sort -u)
# shellcheck disable=SC2086  # a list of files
ninja -C build $objects >> log || { cat log; exit 1; }
mkdir lib modules
ln -s "$FOREBAY_BINARY_DIR"/lib/libforebay.so* lib
source=$FOREBAY_SOURCE_DIR fmt=$(pkg-config --libs fmt)
flags="-I$source/include -Imodules -L$work/lib -Wl,-rpath,$work/lib"
# shellcheck disable=SC2086  # lists of flags and files
{
    (cd build && mpicxx.mpich -shared -o ../lib/libforebay_mpi.so $objects $flags -lforebay $fmt)
    mpicc.mpich -fPIC -c $flags "$source"/src/bindings/fortran/{fortran_place,checkpoint_calls}.c
    mpifort.mpich -shared -fPIC -Jmodules -o lib/libforebay_fortran.so \
        "$source"/src/bindings/fortran/{forebay_words,forebay_c,forebay_texts,forebay_dedicate,forebay_streams,forebay,session,describe,save,restart,checkpoint}.f90 \
        fortran_place.o checkpoint_calls.o $flags -lforebay_mpi -lforebay
}
stories=$FOREBAY_SOURCE_DIR/tests/bindings
# shellcheck disable=SC2086  # lists of flags
{
    mpicxx.mpich -std=c++20 -o story_cpp "$stories/story.cpp" $flags -lforebay_mpi -lforebay
    mpicc.mpich -std=c99 -o story_c "$stories/story.c" $flags -lforebay_mpi -lforebay
    mpifort.mpich -o story_fortran "$stories/story.f90" $flags -lforebay_fortran -lforebay_mpi -lforebay
}
# grep -q would end early, and ldd would die by SIGPIPE.
ldd story_c | grep libmpich > /dev/null || { echo "linked to another MPI:"; ldd story_c; exit 1; }
: > empty.toml
printf '[agent]\nmode = "dedicated"\n' > dedicated.toml
for language in cpp c fortran; do
    mkdir memory
    {
        mpiexec.mpich -n 3 "./story_$language" save run memory empty.toml
        mpiexec.mpich -n 3 "./story_$language" restart run memory dedicated.toml
    } | tee "$language.txt"
    "$FOREBAY_AGENT" verify run
    rm -rf run memory
done
grep -q "^restart from step 7, .* other ranks" cpp.txt
cmp cpp.txt c.txt
cmp cpp.txt fortran.txt
