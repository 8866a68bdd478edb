needs forebay view
$ make_small_run run7 restart 120 3
$ cp run7/restart/step-000120/node-00001.h5 damaged.h5
$ dd if=/dev/zero of=damaged.h5 bs=4096 seek=1 count=1 conv=notrunc status=none
$ forebay verify damaged.h5
2> forebay: node file damaged.h5 was never sealed, or is being filled now: its record is empty.
2>   Safe: the snapshots before it.
2>   Next: use one of them
[3]
$ forebay ls damaged.h5
2> forebay: node file damaged.h5 was never sealed, or is being filled now: its record is empty.
2>   Safe: the snapshots before it.
2>   Next: use one of them
[3]
