$ make_small_run run7 restart 120 1
$ forebay prune run7 --dry-run
2> forebay: prune needs a choice: --keep N, --above STEP or --line LINE.
2>   Safe: all snapshots.
2>   Next: forebay prune run7 --keep 3 --dry-run
[2]
$ forebay prune run7 --keep 1 --above 100
2> forebay: give only one of --keep, --above and --line.
2>   Safe: all snapshots.
2>   Next: forebay prune run7 --keep 3 --dry-run
[2]
