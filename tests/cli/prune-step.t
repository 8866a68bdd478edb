$ make_small_run run7 restart 120 1
$ forebay prune run7@120 --keep 1
2> forebay: prune needs a run or a stream, not one step: run7@120.
2>   Next: forebay prune run7 --keep 3 --dry-run
[2]
