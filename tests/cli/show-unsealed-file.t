$ head -c 20000 /dev/zero > unsealed.h5
$ forebay show unsealed.h5
2> forebay: the record of node file unsealed.h5 is empty: the file was not sealed, or its save is in progress.
2>   Safe: older snapshots.
2>   Next: use an older snapshot
[3]
