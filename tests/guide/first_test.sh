# Goal: the guide's program runs on 4 ranks, continues on 3, and leaves what README shows.
# Method: run it twice on one run directory; look at its output and at what lies there.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

run() { mpiexec -n "$1" "$FOREBAY_BINARY_DIR/tests/guide_first" run1; }

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
echo "first.cpp saved on 4 ranks, continued on 3, and verifies"
