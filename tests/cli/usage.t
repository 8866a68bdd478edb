$ forebay prune run7
2> forebay: prune needs a choice: --keep N, --above STEP or --line LINE.
2>   Safe: all snapshots.
2>   Next: forebay prune run7 --keep 3 --dry-run
[2]
