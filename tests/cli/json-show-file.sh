make_small_run run7 restart 120 2
forebay show run7/restart/step-000120/node-00000.h5 --json
