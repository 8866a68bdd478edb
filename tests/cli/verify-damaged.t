$ make_small_run run7 restart 120 3
$ cd run7/restart/step-000120
# One bit of the field of rank 2, in the middle of its values.
$ offset=$(forebay show node-00001.h5 --json | python3 -c '
> import json, sys
> print(next(b["first_byte"] for b in json.load(sys.stdin)["blocks"] if b["variable"] == "fields/density" and b["rank"] == 2) + 100)')
$ printf '\377' | dd of=node-00001.h5 bs=1 seek="$offset" conv=notrunc status=none
$ truncate -s -1 node-00000.h5
$ rm node-00002.h5
$ cd ../../..
$ forebay verify run7@120
restart@120  DAMAGED in 3 places:
  run7/restart/step-000120/node-00000.h5 is cut short: 36863 bytes, 36864 expected.
  variable "fields/density" of rank 2 in run7/restart/step-000120/node-00001.h5 differs from the saved data: crc32c 6020ed86 read back, a80aa38f expected, bytes 20544-20863.
  run7/restart/step-000120/node-00002.h5 is missing.
[1]
