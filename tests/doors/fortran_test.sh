# Goal: fortran_test.f90 and checkpoint_test.f90; in an empty folder, with the file from which the first takes its
# configuration.
set -euo pipefail
program=$FOREBAY_BINARY_DIR/tests/fortran_test
[ -x "$program" ] || { echo "skipped: no Fortran compiler was found"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir memory
printf 'staging = "%s/memory"\n[agent]\nmode = "thread"\n[job]\nwall_time_seconds = 3600\n' "$work" > config.toml
mpiexec -n 1 "$program" run
mkdir palm
"$FOREBAY_BINARY_DIR/bin/forebay" stop palm > /dev/null
[ -d "memory/forebay-$(id -u)" ] || { echo "a blank staging= has hidden that of the configuration"; exit 1; }
mpiexec -n 3 "$FOREBAY_BINARY_DIR/tests/checkpoint_test" save palm
mpiexec -n 2 "$FOREBAY_BINARY_DIR/tests/checkpoint_test" restart palm
"$FOREBAY_BINARY_DIR/bin/forebay" verify palm
