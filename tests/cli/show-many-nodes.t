$ make_small_run run7 restart 120 18
$ forebay show run7
run7/restart/step-000120  step 120  time 60
saved 2023-11-14 22:13:20 UTC by 36 ranks on 18 nodes: 32.2 kB, 664 kB on storage

variable        kind        type  shape        bytes  unit    description
clock/dt        replicated  f64   scalar         8 B  s       length of a step
fields/density  array       f64   36 x 40    11.5 kB  kg m-3
gas/id          particles   i64   1710 rows  13.7 kB
gas/x           particles   f32   1710 rows  6.84 kB  m

node  file             bytes  ranks  rows of gas
   0  node-00000.h5    768 B  0-1             10
   1  node-00001.h5    888 B  2-3             20
   2  node-00002.h5  1.01 kB  4-5             30
   3  node-00003.h5  1.13 kB  6-7             40
   4  node-00004.h5  1.25 kB  8-9             50
   5  node-00005.h5  1.37 kB  10-11           60
   6  node-00006.h5  1.49 kB  12-13           70
   7  node-00007.h5  1.61 kB  14-15           80
   8  node-00008.h5  1.73 kB  16-17           90
   9  node-00009.h5  1.85 kB  18-19          100
  10  node-00010.h5  1.97 kB  20-21          110
  11  node-00011.h5  2.09 kB  22-23          120
  12  node-00012.h5  2.21 kB  24-25          130
  13  node-00013.h5  2.33 kB  26-27          140
  14  node-00014.h5  2.45 kB  28-29          150
  15  node-00015.h5  2.57 kB  30-31          160
... and 2 more: --all lists them.
