# Abandoned steps, with the commands to return to them and to remove them.
$ make_small_run run7 restart 100 1 a1 1 1
$ make_small_run run7 restart 120 1 a2 1 1
$ make_small_run run7 restart 110 1 a4 1 2
$ forebay ls run7
stream   step  time  bytes  nodes  line  state      view
restart   110    55  768 B      1     2  committed  no
restart   100    50  768 B      1     1  committed  no
restart   120    60  768 B      1     1  abandoned  no
restart: the run has left step 120 of line 1; it stays as keep_abandoned requires. Next: forebay prune run7/restart --line 2 removes line 2 and returns to it; forebay prune run7/restart --line 1 removes it now.
$ forebay prune run7/restart --line 2
restart@110  removed: it is on line 2
$ forebay ls run7
stream   step  time  bytes  nodes  line  state      view
restart   120    60  768 B      1     1  committed  no
restart   100    50  768 B      1     1  committed  no
