make_small_run run7 restart 100 1 a1
make_small_run run7 restart 120 2
make_small_run run7 restart 140 1 b2
rm run7/restart/step-000120/node-00001.h5
echo broken > run7/restart/step-000140/manifest.json
forebay verify run7 --json
