make_small_run run7 restart 100 1
make_small_run run7 restart 120 3
make_small_run run7 fields 120 1
forebay verify run7
