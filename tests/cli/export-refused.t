needs forebay export plain
$ make_small_run run7 restart 120 1
$ touch there.h5
$ forebay export plain run7@120 there.h5
2> forebay: there.h5 exists already; nothing was written.
2>   Next: --force to replace it once the new one is whole, or another name
[2]
$ forebay export plain run7/restart@all all.h5
2> forebay: the plain convention has one step a file.
2>   Next: one step, or forebay export h5part, openpmd or netcdf
[2]
$ forebay export plain run7@120 out.h5 --memory 1M
2> forebay: 1.05 MB of memory are too little for an export, which takes 13.6 MB at least.
2>   Next: --memory 14M
[2]
$ forebay export plain run7@120 out.h5 --align 5000
2> forebay: an alignment of 5000 bytes: it must be a multiple of 4096.
2>   Next: the target's stripe, or 1 MiB
[2]
$ forebay export plain run7@120 out.h5 --rate fast
2> forebay: --rate fast: an amount like 4096, 64K, 64M or 2G is needed.
2>   Next: --rate 64M
[2]
$ forebay export plain run7@121 out.h5
2> forebay: run7 has no committed step 121; there are: run7/restart@120.
2>   Next: forebay ls run7
[3]
$ forebay export netcdf run7/restart@120,240 out.nc
2> forebay: run7/restart: step 240 is not committed.
2>   Next: forebay ls run7
[3]
$ forebay export netcdf run7/restart@200-300 out.nc
2> forebay: run7/restart: no step that was asked for is committed.
2>   Next: forebay ls run7
[3]
$ forebay export netcdf run7/restart@120-240 out.nc --wait 1
2> forebay: run7/restart: step 240 is not committed.
2>   Next: forebay ls run7
[3]
$ forebay export netcdf run7/restart@all out.nc --wait 1
2> forebay: run7/restart@all: what to wait for must be named.
2>   Next: run7/restart@FIRST-LAST
[2]
$ forebay export plain run7@120 nowhere/out.h5
2> forebay: nowhere/out.h5 has no directory nowhere to stand in; nothing was written.
2>   Next: mkdir -p nowhere
[3]
$ ls
run7
there.h5
