for step in 100 120; do make_small_run run7 restart $step 1; done
forebay prune run7/restart --keep 1 --json
