needs forebay export plain
$ make_small_run run7 restart 120 2
$ make_small_run run7 restart 240 2 f4
$ make_small_run run7 restart 360 2 f5
$ forebay export plain run7@120 one.h5
one.h5  plain, restart@120, 30.3 kB
$ forebay export netcdf run7/restart@all all.nc
all.nc  netcdf, restart@120 to 360 (3 steps), 41.9 kB
$ forebay export h5part run7/restart@120-240 two.h5part
two.h5part  h5part, restart@120 to 240 (2 steps), 25.3 kB
  not exported: fields/density: H5Block's fields have 3 dimensions, but it has 2
$ forebay export openpmd run7/restart@120,360 others.h5 --align 64K --threads 1
others.h5  openpmd, restart@120 to 360 (2 steps), 36.1 kB
$ ls
all.nc
one.h5
others.h5
run7
two.h5part
