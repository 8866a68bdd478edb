$ make_small_run run7 restart 120 1
$ forebay prune run7 --dry-run
2> forebay: nothing says which snapshots are to go: --keep N, --above STEP or --line LINE is missing.
2>   Safe: all snapshots.
2>   Next: forebay prune run7 --keep 3 --dry-run
[2]
$ forebay prune run7 --keep 1 --above 100
2> forebay: --keep, --above and --line are three ways to choose: give one of them.
2>   Safe: all snapshots.
2>   Next: forebay prune run7 --keep 3 --dry-run
[2]
