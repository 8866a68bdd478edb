if forebay view --help | grep -q "not in this build"; then exit 77; fi
make_small_run run7 restart 100 2 a1 2
make_small_run run7 restart 140 2 b2 1
forebay recover run7 --json
