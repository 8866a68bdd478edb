# Goal: fortran_test.f90; in an empty folder, with the file from which it takes its configuration.
set -euo pipefail
program=$FOREBAY_BINARY_DIR/tests/fortran_test
[ -x "$program" ] || { echo "skipped: no Fortran compiler was found"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir memory
printf 'staging = "%s/memory"\n[agent]\nmode = "thread"\n' "$work" > config.toml
mpiexec -n 1 "$program" run
