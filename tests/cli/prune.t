$ for step in 100 120 140 160; do make_small_run run7 restart $step 1; done
$ make_small_run run7 fields 120 1
$ printf 'forebay view 1\nbytes %016x\n' 0 > run7/restart/step-000100.h5
$ touch run7/restart/step-000100.nc
$ rm run7/restart/step-000140/node-00000.h5
$ forebay prune run7 --keep 2 --dry-run
fields@120  kept
restart@160  kept
restart@140  kept
restart@120  kept
restart@100  would be removed: it is older than 2 whole snapshots
restart: step 140 does not count: it is damaged: run7/restart/step-000140/node-00000.h5 is missing. Next: forebay verify run7/restart/step-000140
run7/restart/step-000100.nc stays: it has no mark of a Forebay view, so it may hold its own data. Views by earlier versions have no mark either, and show fill values without their snapshot. Next: rm run7/restart/step-000100.nc, if you do not need it.
read to find out which snapshots are whole: 1.54 kB in 3 snapshots
[1]
$ ls -A run7/restart
step-000100
step-000100.h5
step-000100.nc
step-000120
step-000140
step-000160
$ forebay prune run7 --keep 2
fields@120  kept
restart@160  kept
restart@140  kept
restart@120  kept
restart@100  removed: it is older than 2 whole snapshots
restart: step 140 does not count: it is damaged: run7/restart/step-000140/node-00000.h5 is missing. Next: forebay verify run7/restart/step-000140
run7/restart/step-000100.nc stays: it has no mark of a Forebay view, so it may hold its own data. Views by earlier versions have no mark either, and show fill values without their snapshot. Next: rm run7/restart/step-000100.nc, if you do not need it.
read to find out which snapshots are whole: 1.54 kB in 3 snapshots
[1]
$ ls -A run7/restart
step-000100.nc
step-000120
step-000140
step-000160
