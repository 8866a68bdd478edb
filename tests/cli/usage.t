$ forebay prune run7
2> forebay: nothing says which snapshots are to go: --keep N, --above STEP or --line LINE is missing.
2>   Safe: all snapshots.
2>   Next: forebay prune run7 --keep 3 --dry-run
[2]
