make_small_run run7 restart 120 2 f3 1
forebay verify run7
