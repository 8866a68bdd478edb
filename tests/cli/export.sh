if forebay export plain --help | grep -q "not in this build"; then exit 77; fi
make_small_run run7 restart 120 2
make_small_run run7 restart 240 2 f4
make_small_run run7 restart 360 2 f5
forebay export plain run7@120 one.h5
forebay export netcdf run7/restart@all all.nc
forebay export h5part run7/restart@120-240 two.h5part
forebay export openpmd run7/restart@120,360 others.h5 --align 64K --threads 1
ls
