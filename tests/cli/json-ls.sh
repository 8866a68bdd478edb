make_small_run run7 restart 100 1 a1
make_small_run run7 restart 120 3 f3 2
make_small_run run7 fields 120 1
forebay ls run7 --json
