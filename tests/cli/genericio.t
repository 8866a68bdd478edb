$ make_small_run run restart 120 3
$ forebay export genericio run/restart@last m000
m000  exported from run/restart/step-000120: 60 elements of 6 ranks, 1.84 kB
$ forebay ls m000
file  format     order   ranks  elements  variables  partitions    bytes  compression
m000  GenericIO  little      6        60          2              1.84 kB  none
$ forebay verify m000
m000  whole: 720 B in 12 blocks
$ forebay show m000
m000  GenericIO, little-endian: 60 elements of 6 ranks in a grid of 6 x 1 x 1, 1.84 kB on storage
compression: none; one file; origin 0 0 0, scale 0 0 0

variable  type  bytes  stored  flags
id        i64   480 B   480 B  signed
x         f32   240 B   240 B  float signed

rank  elements  in the grid  file  first byte
   0        10  0 0 0        m000        1024
   1         0  1 0 0        m000        1160
   2        20  2 0 0        m000        1176
   3         0  3 0 0        m000        1432
   4        30  4 0 0        m000        1448
   5         0  5 0 0        m000        1824
$ printf '\377' | dd of=m000 bs=1 seek=1200 conv=notrunc status=none
$ forebay verify m000
m000  DAMAGED in 1 place:
  m000: 'id' of rank 2, block 4, bytes 1176-1343: its CRC-64 is ed27867ae7ea0ce3, 4140603043de2494 expected.
[1]
$ forebay import genericio m000 again@3
2> forebay: m000 is damaged: 'particles/id' of rank 2, bytes 1176-1343: its CRC-64 is ed27867ae7ea0ce3, 4140603043de2494 expected. Nothing was imported.
2>   Next: copy the file again, or use an older file
[4]
$ forebay export genericio run/restart@last m000
2> forebay: m000 exists. Nothing was written.
2>   Next: --force, or another name
[2]
$ forebay export genericio run/restart@last m000 --force --compress --big-endian
m000  exported from run/restart/step-000120: 60 elements of 6 ranks, 2.42 kB
$ forebay import genericio m000 again@3
again/restart/step-000003  imported from m000: 9 variables, 984 B, from 6 processes
$ forebay verify m000
m000  whole: 720 B in 12 blocks
$ printf 'more' >> m000
$ forebay verify m000
m000  DAMAGED in 1 place:
  m000: bytes 2416-2419 lie behind the last block and do not belong to any block.
[1]
$ forebay import genericio m000 new/restart@5
2> forebay: new/restart is not a run, and new, the directory for a new run, does not exist.
2>   Next: for a new stream: new@STEP --stream restart; for a new run, make the directory new first
[2]
$ forebay import genericio m000 again/other@5
2> forebay: again/other would be a run inside the run again.
2>   Next: for a new stream: again@STEP --stream other
[2]
$ forebay import genericio m000 again@5 --stream other
again/other/step-000005  imported from m000: 9 variables, 984 B, from 6 processes
$ forebay verify again/restart/step-000003/node-00000.h5
2> forebay: again/restart/step-000003/node-00000.h5 is the file of one node of a snapshot: node 0 of 1, stream restart, step 3.
2>   Next: forebay verify again/restart@3
[2]
