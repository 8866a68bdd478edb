make_small_run run7 restart 100 2 a1 2
make_small_run run7 restart 140 2 b2 1
forebay recover run7 --json
