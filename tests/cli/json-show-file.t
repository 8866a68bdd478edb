$ make_small_run run7 restart 120 2
$ forebay show run7/restart/step-000120/node-00000.h5 --json
{
 "file": "run7/restart/step-000120/node-00000.h5",
 "stream": "restart",
 "step": 120,
 "time": 60.0,
 "snapshot_id": "00000000000000f3",
 "sealed_unix_ns": 1700000000000000000,
 "node": 0,
 "nodes": 2,
 "world_ranks": 4,
 "ranks": [
  0,
  1
 ],
 "file_bytes": 36864,
 "head_bytes": 18388,
 "record_crc32c": "d164a5dd",
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
   "rows": 10,
   "bytes": 80
  },
  {
   "name": "gas/x",
   "kind": "particles",
   "type": "f32",
   "table": "gas",
   "rows": 10,
   "bytes": 40,
   "unit": "m"
  }
 ],
 "blocks": [
  {
   "variable": "clock/dt",
   "rank": 0,
   "first": [],
   "size": [],
   "first_byte": 20480,
   "bytes": 8
  },
  {
   "variable": "fields/density",
   "rank": 0,
   "first": [
    0,
    0
   ],
   "size": [
    1,
    40
   ],
   "first_byte": 20544,
   "bytes": 320
  },
  {
   "variable": "fields/density",
   "rank": 1,
   "first": [
    1,
    0
   ],
   "size": [
    1,
    40
   ],
   "first_byte": 20864,
   "bytes": 320
  },
  {
   "variable": "gas/id",
   "rank": 0,
   "first": [
    0
   ],
   "size": [
    10
   ],
   "first_byte": 21184,
   "bytes": 80
  },
  {
   "variable": "gas/id",
   "rank": 1,
   "first": [
    10
   ],
   "size": [
    0
   ],
   "first_byte": 21264,
   "bytes": 0
  },
  {
   "variable": "gas/x",
   "rank": 0,
   "first": [
    0
   ],
   "size": [
    10
   ],
   "first_byte": 29504,
   "bytes": 40
  },
  {
   "variable": "gas/x",
   "rank": 1,
   "first": [
    10
   ],
   "size": [
    0
   ],
   "first_byte": 29544,
   "bytes": 0
  }
 ]
}
