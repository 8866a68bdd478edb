$ make_small_run run7 restart 120 2 f3 1
$ forebay verify run7
2> forebay: run7 has no committed snapshot to verify.
2>   Next: forebay ls run7
[3]
