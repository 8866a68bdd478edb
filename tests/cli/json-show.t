$ make_small_run run7 restart 120 2
$ forebay show run7/restart@last --json
{
 "stream": "restart",
 "step": 120,
 "directory": "run7/restart/step-000120",
 "snapshot_id": "00000000000000f3",
 "time": 60.0,
 "sealed_unix_ns": 1700000000000000001,
 "ranks": 4,
 "bytes": 1656,
 "file_bytes": 73728,
 "variables": [
  {
   "name": "clock/dt",
   "kind": "replicated",
   "type": "f64",
   "shape": [],
   "bytes": 8,
   "unit": "s",
   "description": "length of a step"
  },
  {
   "name": "fields/density",
   "kind": "array",
   "type": "f64",
   "shape": [
    4,
    40
   ],
   "coverage": "full",
   "bytes": 1280,
   "unit": "kg m-3",
   "dimensions": [
    "y",
    "x"
   ]
  },
  {
   "name": "gas/id",
   "kind": "particles",
   "type": "i64",
   "table": "gas",
   "rows": 30,
   "bytes": 240
  },
  {
   "name": "gas/x",
   "kind": "particles",
   "type": "f32",
   "table": "gas",
   "rows": 30,
   "bytes": 120,
   "unit": "m"
  }
 ],
 "nodes": [
  {
   "node": 0,
   "path": "node-00000.h5",
   "offset": 0,
   "bytes": 768,
   "file_bytes": 36864,
   "ranks": [
    [
     0,
     2
    ]
   ],
   "rows": [
    10
   ]
  },
  {
   "node": 1,
   "path": "node-00001.h5",
   "offset": 0,
   "bytes": 888,
   "file_bytes": 36864,
   "ranks": [
    [
     2,
     2
    ]
   ],
   "rows": [
    20
   ]
  }
 ]
}
