needs forebay view
$ make_small_run run7 restart 120 3
$ cp run7/restart/step-000120/node-00001.h5 damaged.h5
$ dd if=/dev/zero of=damaged.h5 bs=4096 seek=1 count=1 conv=notrunc status=none
$ forebay verify damaged.h5
2> forebay: the record of node file damaged.h5 is empty: the file was not sealed, or its save is in progress.
2>   Safe: older snapshots.
2>   Next: use an older snapshot
[3]
$ forebay ls damaged.h5
2> forebay: the record of node file damaged.h5 is empty: the file was not sealed, or its save is in progress.
2>   Safe: older snapshots.
2>   Next: use an older snapshot
[3]
