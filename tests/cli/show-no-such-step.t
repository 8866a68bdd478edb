$ make_small_run run7 restart 100 1
$ make_small_run run7 restart 120 1
$ forebay show run7@7
2> forebay: run7 has no committed step 7. It has: run7/restart@120, run7/restart@100.
2>   Next: forebay ls run7
[3]
