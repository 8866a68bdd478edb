if forebay view --help | grep -q "not in this build"; then exit 77; fi
make_small_run run7 restart 100 2 a1 2
make_small_run run7 restart 120 2 f3
make_small_run run7 restart 140 2 b2 1
mkdir run7/restart/.step-000080.0000000000000001.gone
mv run7/restart/step-000120 run7/restart/.step-000120.00000000000000f3.old
forebay recover run7 && exit 9
forebay ls run7
forebay recover run7 --stale
forebay recover run7
ls -A run7/restart
