$ make_small_run run7 restart 100 1 a1
$ make_small_run run7 restart 120 3 f3
$ make_small_run run7 restart 140 3 c7 2
$ make_small_run run7 fields 120 1
$ mv run7/restart/step-000100 run7/restart/.step-000100.00000000000000a1.gone
$ touch run7/restart/step-000120.h5
$ mkdir run7/plots
$ forebay ls run7
stream   step  time    bytes   nodes  line  state                              view
fields    120    60    768 B       1     0  committed                          no
restart   140                 2 of 3        draining, or left by a crash
restart   120    60  2.66 kB       3     0  committed                          yes
restart   100                               being removed, or left by a crash
