$ make_small_run run7 restart 120 1
$ make_small_run run7 fields 120 1
$ forebay show run7@120
2> forebay: several streams of run7 have step 120.
2>   Next: choose one of: run7/fields@120, run7/restart@120
[2]
