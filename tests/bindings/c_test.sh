# Goal: run c_test.c in an empty directory with its configuration file.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir memory
printf '[agent]\nmode = "thread"\n[job]\nwall_time_seconds = 3600\n' > config.toml
"$FOREBAY_BINARY_DIR/tests/c_test"
"$FOREBAY_BINARY_DIR/bin/forebay" verify run
