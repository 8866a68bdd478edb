needs forebay view
$ make_small_run run7 restart 120 2
$ forebay view run7@7
2> forebay: run7 has no committed step 7. It has: run7/restart@120.
2>   Next: forebay ls run7
[3]
