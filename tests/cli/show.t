$ make_small_run run7 restart 120 3
$ forebay show run7@120
run7/restart/step-000120  step 120  time 60
saved 2023-11-14 22:13:20 UTC by 6 ranks on 3 nodes: 2.66 kB, 111 kB on storage

variable        kind        type  shape      bytes  unit    description
clock/dt        replicated  f64   scalar       8 B  s       length of a step
fields/density  array       f64   6 x 40   1.92 kB  kg m-3
gas/id          particles   i64   60 rows    480 B
gas/x           particles   f32   60 rows    240 B  m

node  file             bytes  ranks  rows of gas
   0  node-00000.h5    768 B  0-1             10
   1  node-00001.h5    888 B  2-3             20
   2  node-00002.h5  1.01 kB  4-5             30
