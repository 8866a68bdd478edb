make_small_run run7 restart 120 3
forebay show run7@120
