needs forebay export plain
$ make_small_run run7 restart 120 1
$ touch there.h5
$ forebay export plain run7@120 there.h5
2> forebay: there.h5 exists already; nothing was written.
2>   Next: give --force to replace it when the new file is whole, or choose another name
[2]
$ forebay export plain run7/restart@all all.h5
2> forebay: the plain convention holds one step a file.
2>   Next: give one step, or use forebay export h5part, openpmd or netcdf
[2]
$ forebay export plain run7@120 out.h5 --memory 1M
2> forebay: 1.05 MB of memory are not enough for an export, which needs 13.6 MB at least.
2>   Next: --memory 14M
[2]
$ forebay export plain run7@120 out.h5 --align 5000
2> forebay: an alignment of 5000 bytes: it must be a multiple of 4096.
2>   Next: use the target's stripe, or 1 MiB
[2]
$ forebay export plain run7@120 out.h5 --rate fast
2> forebay: --rate fast: give an amount like 4096, 64K, 64M or 2G.
2>   Next: --rate 64M
[2]
$ forebay export plain run7@121 out.h5
2> forebay: run7 has no committed step 121. It has: run7/restart@120.
2>   Next: forebay ls run7
[3]
$ forebay export netcdf run7/restart@120,240 out.nc
2> forebay: run7/restart: step 240 is not committed.
2>   Next: forebay ls run7
[3]
$ forebay export netcdf run7/restart@200-300 out.nc
2> forebay: run7/restart: none of these steps is committed.
2>   Next: forebay ls run7
[3]
$ forebay export netcdf run7/restart@120-240 out.nc --wait 1
2> forebay: run7/restart: step 240 is not committed.
2>   Next: forebay ls run7
[3]
$ forebay export netcdf run7/restart@all out.nc --wait 1
2> forebay: run7/restart@all: --wait needs steps to wait for.
2>   Next: run7/restart@FIRST-LAST
[2]
$ forebay export plain run7@120 nowhere/out.h5
2> forebay: the directory of nowhere/out.h5, nowhere, does not exist; nothing was written.
2>   Next: mkdir -p nowhere
[3]
$ ls
run7
there.h5
