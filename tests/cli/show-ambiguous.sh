make_small_run run7 restart 120 1
make_small_run run7 fields 120 1
forebay show run7@120
