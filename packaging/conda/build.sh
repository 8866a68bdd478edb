#!/usr/bin/env bash
set -euo pipefail
# Each library of the recipe is required, so that a package never lacks a part in silence. conda-forge has no package of
# pocketfft, a header: FFT stays off. Its cpp-httplib is built by CMake, which installs no file for pkg-config: HTTPLIB
# stays off.
# shellcheck disable=SC2086
cmake -S . -B conda-build -G Ninja $CMAKE_ARGS -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
    -DCMAKE_INSTALL_LIBDIR=lib -DFOREBAY_JUMBO=ON -DFOREBAY_TESTS=OFF -DFOREBAY_APPS=OFF -DFOREBAY_BUNDLED=OFF \
    -DFOREBAY_MPI=ON -DFOREBAY_FORTRAN=ON -DFOREBAY_HDF5=ON -DFOREBAY_BLOSC=ON -DFOREBAY_ZFP=ON -DFOREBAY_ISAL=ON \
    -DFOREBAY_PNG=ON -DFOREBAY_CAIRO=ON -DFOREBAY_FFT=off -DFOREBAY_S3=ON -DFOREBAY_DAOS=OFF -DFOREBAY_HTTPLIB=OFF \
    -DFOREBAY_CURSES=ON -DFOREBAY_TRANSFER=ON -DFOREBAY_PYTHON=ON -DPython_EXECUTABLE="$PYTHON"
cmake --build conda-build --parallel "${CPU_COUNT:-1}"
cmake --install conda-build
# `cmake --install` leaves the Python package to pip, which would build all libraries once more.
mkdir -p "$SP_DIR/forebay"
cp -L conda-build/python/forebay/* "$SP_DIR/forebay/"
