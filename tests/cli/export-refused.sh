if forebay export plain --help | grep -q "not in this build"; then exit 77; fi
make_small_run run7 restart 120 1
touch there.h5
for try in "plain run7@120 there.h5" "plain run7/restart@all all.h5" "plain run7@120 out.h5 --memory 1M" \
    "plain run7@120 out.h5 --align 5000" "plain run7@120 out.h5 --rate fast" "plain run7@121 out.h5" \
    "netcdf run7/restart@120,240 out.nc" "netcdf run7/restart@200-300 out.nc" "netcdf run7/restart@120-240 out.nc --wait 1" \
    "netcdf run7/restart@all out.nc --wait 1" "plain run7@120 nowhere/out.h5"; do
    code=0
    forebay export $try || code=$?
    echo "$try: $code"
done
ls
