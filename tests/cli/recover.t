needs forebay view
$ make_small_run run7 restart 100 2 a1 2
$ make_small_run run7 restart 120 2 f3
$ make_small_run run7 restart 140 2 b2 1
$ mkdir run7/restart/.step-000080.0000000000000001.gone
$ mv run7/restart/step-000120 run7/restart/.step-000120.00000000000000f3.old
$ forebay recover run7
restart: step 140: 1 of 2 node files have arrived, but not the file of node 1; left in run7/restart/.step-000140.00000000000000b2.part.
restart: step 100 was complete and is now committed in run7/restart/step-000100.
restart: the replacement of step 120 was interrupted. The step is back in run7/restart/step-000120.
restart: step 80: its removal was finished.
restart: step 120: its view was missing, and is made.
restart: step 100: its view was missing, and is made.
[1]
$ forebay ls run7
stream   step  time    bytes   nodes  line  state                         view
restart   140                 1 of 2        draining, or left by a crash
restart   120    60  1.66 kB       2     0  committed                     yes
restart   100    50  1.66 kB       2     0  committed                     yes
$ forebay recover run7 --stale
restart: step 140: 1 of 2 node files have arrived, but not the file of node 1; removed.
$ forebay recover run7
Nothing to recover in run7.
$ ls -A run7/restart
step-000100
step-000100.h5
step-000120
step-000120.h5
$ rm run7/restart/step-000100/manifest.json
$ forebay recover run7
restart: step 100 was complete and is now committed in run7/restart/step-000100.
restart: step 100: its view was missing, and is made.
