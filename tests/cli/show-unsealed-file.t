$ head -c 20000 /dev/zero > unsealed.h5
$ forebay show unsealed.h5
2> forebay: node file unsealed.h5 was never sealed, or is being filled now: its record is empty.
2>   Safe: the snapshots before it.
2>   Next: use one of them
[3]
