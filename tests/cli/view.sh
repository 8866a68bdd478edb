if forebay view --help | grep -q "not in this build"; then exit 77; fi
make_small_run run7 restart 120 2
forebay view run7@last
forebay ls run7
forebay view run7@120 --json
