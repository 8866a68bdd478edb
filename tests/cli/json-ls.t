$ make_small_run run7 restart 100 1 a1
$ make_small_run run7 restart 120 3 f3 2
$ make_small_run run7 fields 120 1
$ forebay ls run7 --json
[
 {
  "stream": "fields",
  "step": 120,
  "directory": "run7/fields/step-000120",
  "state": "committed",
  "time": 60.0,
  "bytes": 768,
  "file_bytes": 36864,
  "nodes": 1,
  "ranks": 2,
  "sealed_unix_ns": 1700000000000000000,
  "snapshot_id": "00000000000000f3",
  "line": "0"
 },
 {
  "stream": "restart",
  "step": 120,
  "directory": "run7/restart/.step-000120.00000000000000f3.part",
  "state": "part",
  "snapshot_id": "00000000000000f3",
  "nodes_arrived": 2,
  "nodes": 3
 },
 {
  "stream": "restart",
  "step": 100,
  "directory": "run7/restart/step-000100",
  "state": "committed",
  "time": 50.0,
  "bytes": 768,
  "file_bytes": 36864,
  "nodes": 1,
  "ranks": 2,
  "sealed_unix_ns": 1700000000000000000,
  "snapshot_id": "00000000000000a1",
  "line": "0"
 }
]
