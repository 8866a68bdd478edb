$ forebay prune run7
2> forebay: prune wants one of --keep, --above and --line.
2>   Next: forebay prune run7 --keep 3 --dry-run
[2]
