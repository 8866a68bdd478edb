make_small_run run7 restart 120 18
forebay show run7
