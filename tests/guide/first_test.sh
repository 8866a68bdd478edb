# Goal: the guide's program runs on 4 ranks, continues on 3, and leaves the files that README shows. It can go back
# without a change. If its snapshots are unreadable, it ends with an error: it does not start from the beginning and
# removes nothing. Method: run it in one run directory; check its output and its files.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

run() { mpiexec -n "$1" "$FOREBAY_BINARY_DIR/tests/guide_first" run1; }

fails() {  # fails TEXT COMMAND...
    local wanted=$1 got
    shift
    if got=$("$@" 2>&1); then echo "did not fail: $*"; echo "$got"; exit 1; fi
    case $got in
        *"$wanted"*) ;;
        *) echo "expected '$wanted' from: $*"; echo "$got"; exit 1 ;;
    esac
}

expect() {  # expect TEXT COMMAND...
    local wanted=$1 got
    shift
    got=$("$@" 2>&1) || { echo "failed ($?): $*"; echo "$got"; exit 1; }
    case $got in
        *"$wanted"*) ;;
        *) echo "expected '$wanted' from: $*"; echo "$got"; exit 1 ;;
    esac
}

expect "starting after step 0" run 4
[ -f run1/restart/step-000005/manifest.json ] || { echo "step 5 is not committed:"; ls -lRa run1; exit 1; }
expect "starting after step 5" run 3
[ -f run1/restart/step-000010/manifest.json ] || { echo "step 10 is not committed:"; ls -lRa run1; exit 1; }
expect "10" "$FOREBAY_AGENT" ls run1
expect "" "$FOREBAY_AGENT" verify run1

export FOREBAY_RESTART=8
expect "starting after step 8" run 2
unset FOREBAY_RESTART
expect "starting after step 13" run 2

# One value of each snapshot is wrong, but records and heads are right: only a read detects it.
for file in run1/restart/step-*/node-00000.h5; do
    printf 'XXXXXXXX' | dd of="$file" bs=1 seek=4000000 conv=notrunc status=none
done
before=$(ls run1/restart)
fails "none can be used" run 2
count=$(run 2 2>&1 | grep -c "none can be used" || true)
[ "$count" = 1 ] || { echo "the error of all ranks is printed $count times"; exit 1; }
[ "$(ls run1/restart)" = "$before" ] || { echo "another beginning:"; ls run1/restart; exit 1; }
export FOREBAY_RESTART=none
expect "starting after step 0" run 2
unset FOREBAY_RESTART

mv run1/restart elsewhere
ln -s nowhere run1/restart
fails "is a link to a path that does not exist" run 2
echo "first.cpp saved on 4 ranks, continued on 3, and verifies"
