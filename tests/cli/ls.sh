make_small_run run7 restart 100 1 a1
make_small_run run7 restart 120 3 f3
make_small_run run7 restart 140 3 c7 2
make_small_run run7 fields 120 1
mv run7/restart/step-000100 run7/restart/.step-000100.00000000000000a1.gone
touch run7/restart/step-000120.h5
mkdir run7/plots
forebay ls run7
