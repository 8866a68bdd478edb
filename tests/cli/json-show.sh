make_small_run run7 restart 120 2
forebay show run7/restart@last --json
