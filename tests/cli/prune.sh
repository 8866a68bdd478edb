for step in 100 120 140 160; do make_small_run run7 restart $step 1; done
make_small_run run7 fields 120 1
printf 'forebay view 1\nbytes %016x\n' 0 > run7/restart/step-000100.h5
touch run7/restart/step-000100.nc
rm run7/restart/step-000140/node-00000.h5
forebay prune run7 --keep 2 --dry-run && exit 9
ls -A run7/restart
forebay prune run7 --keep 2 && exit 9
ls -A run7/restart
