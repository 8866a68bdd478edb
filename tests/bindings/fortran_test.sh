# Goal: run fortran_test.f90, checkpoint_test.f90 and alike_test.f90 in an empty directory, with the configuration file
# of the first.
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
touch palm/.stop  # `forebay stop` would refuse the run, which does not exist yet
[ -d "memory/forebay-$(id -u)" ] || { echo "a blank staging= has hidden that of the configuration"; exit 1; }
mpiexec -n 3 "$FOREBAY_BINARY_DIR/tests/checkpoint_test" save palm
mpiexec -n 2 "$FOREBAY_BINARY_DIR/tests/checkpoint_test" restart palm
"$FOREBAY_BINARY_DIR/bin/forebay" verify palm
for ranks in 1 3; do
    mpiexec -n $ranks "$FOREBAY_BINARY_DIR/tests/alike_test" "alike$ranks" 2> said
    cat said >&2
    if grep -q '^forebay: ' said; then echo "nobody asked for a log"; exit 1; fi
done
FOREBAY_LOG=1 mpiexec -n 3 "$FOREBAY_BINARY_DIR/tests/alike_test" logged 2> said
[ "$(grep -c '^forebay: run .*/logged-bind, session 1, 3 ranks on 1 node' said)" = 1 ] || { cat said; echo "a line of rank 0 alone was expected"; exit 1; }
grep -q "^forebay: stream 'restart': restart from step 3, " said || { cat said; echo "no line of the restart"; exit 1; }
