make_small_run run7 restart 120 1
forebay prune run7@120 --keep 1
