make_small_run run7 restart 120 1
forebay prune run7 --keep 0
