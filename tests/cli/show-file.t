$ make_small_run run7 restart 120 2
$ forebay show run7/restart/step-000120/node-00001.h5
run7/restart/step-000120/node-00001.h5  node 1 of 2  stream restart  step 120  time 60
sealed 2023-11-14 22:13:20 UTC by 2 ranks of 4: 36.9 kB on storage, head 18.4 kB

As this node holds them:
variable        kind        type  shape      bytes  unit    description
clock/dt        replicated  f64   scalar       8 B  s       length of a step
fields/density  array       f64   4 x 40   1.28 kB  kg m-3
gas/id          particles   i64   20 rows    160 B
gas/x           particles   f32   20 rows     80 B  m

variable        rank  box          bytes  first byte  crc32c of segment 0
clock/dt           2                 8 B       20480  451fdb3b
fields/density     2  [2:3, 0:40]  320 B       20544  a80aa38f
fields/density     3  [3:4, 0:40]  320 B       20864  1ba421ba
gas/id             2  20 rows      160 B       21184  76755632
gas/id             3  0 rows         0 B       21344
gas/x              2  20 rows       80 B       29568  8a16b3bf
gas/x              3  0 rows         0 B       29648
