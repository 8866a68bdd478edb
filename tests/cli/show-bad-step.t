$ make_small_run run7 restart 120 1
$ forebay show run7@newest
2> forebay: "newest" in run7@newest is not a step or "last".
2>   Next: forebay ls run7
[2]
