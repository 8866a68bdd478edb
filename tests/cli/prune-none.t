$ make_small_run run7 restart 120 1
$ forebay prune run7 --keep 0
2> forebay: --keep 0: at least 1 snapshot must stay.
2>   Next: forebay prune run7 --keep 3 --dry-run
[2]
