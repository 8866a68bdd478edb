# A view of any convention counts. If there are several, --json has the first.
$ make_small_run run7 restart 100 1
$ make_small_run run7 restart 120 1
$ make_small_run run7 restart 140 1
$ touch run7/restart/step-000100.openpmd.h5 run7/restart/step-000140.nc run7/restart/step-000140.h5part
$ forebay ls run7
stream   step  time  bytes  nodes  line  state      view
restart   140    70  768 B      1     0  committed  yes
restart   120    60  768 B      1     0  committed  no
restart   100    50  768 B      1     0  committed  yes
$ forebay ls run7@140 --json
[
 {
  "stream": "restart",
  "step": 140,
  "directory": "run7/restart/step-000140",
  "state": "committed",
  "time": 70.0,
  "bytes": 768,
  "file_bytes": 36864,
  "nodes": 1,
  "ranks": 2,
  "sealed_unix_ns": 1700000000000000000,
  "snapshot_id": "00000000000000f3",
  "line": "0",
  "view": "run7/restart/step-000140.h5part"
 }
]
