if forebay export plain --help | grep -q "not in this build"; then exit 77; fi
make_small_run run7 restart 120 2
forebay export plain run7@120 one.h5 --json | grep -v '"seconds"'
