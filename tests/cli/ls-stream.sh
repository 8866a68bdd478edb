make_small_run run7 restart 120 1
make_small_run run7 fields 120 1
forebay ls run7/fields/
cd run7/restart
forebay ls .
forebay ls ..
