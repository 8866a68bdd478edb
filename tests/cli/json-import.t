needs forebay view
needs write_palm_mpi
$ write_palm_mpi BINOUT 0 plain
$ forebay import palm-mpi BINOUT run7 --json
{
 "stream": "restart",
 "step": 360,
 "directory": "run7/restart/step-000360",
 "time": 3600.5,
 "dry_run": false,
 "view": true,
 "bytes": 6299,
 "ranks": 1,
 "variables": [
  {
   "name": "nx",
   "kind": "replicated",
   "type": "i32",
   "shape": [],
   "reason": "the header's integers"
  },
  {
   "name": "ny",
   "kind": "replicated",
   "type": "i32",
   "shape": [],
   "reason": "the header's integers"
  },
  {
   "name": "nz",
   "kind": "replicated",
   "type": "i32",
   "shape": [],
   "reason": "the header's integers"
  },
  {
   "name": "current_timestep_number",
   "kind": "replicated",
   "type": "i32",
   "shape": [],
   "reason": "the header's integers"
  },
  {
   "name": "humidity",
   "kind": "replicated",
   "type": "i32",
   "shape": [],
   "reason": "the header's integers"
  },
  {
   "name": "simulated_time",
   "kind": "replicated",
   "type": "f64",
   "shape": [],
   "reason": "the header's reals"
  },
  {
   "name": "dt_3d",
   "kind": "replicated",
   "type": "f64",
   "shape": [],
   "reason": "the header's reals"
  },
  {
   "name": "binary_version",
   "kind": "replicated",
   "type": "string[3]",
   "shape": [],
   "reason": "the header's texts"
  },
  {
   "name": "bc_lr",
   "kind": "replicated",
   "type": "string[19]",
   "shape": [],
   "reason": "the header's texts"
  },
  {
   "name": "empty",
   "kind": "replicated",
   "type": "string[1]",
   "shape": [],
   "reason": "the header's texts"
  },
  {
   "name": "u",
   "kind": "array",
   "type": "f64",
   "shape": [
    5,
    7,
    7
   ],
   "reason": "size"
  },
  {
   "name": "v",
   "kind": "array",
   "type": "f64",
   "shape": [
    5,
    7,
    7
   ],
   "reason": "size"
  },
  {
   "name": "zs",
   "kind": "array",
   "type": "f64",
   "shape": [
    5,
    7
   ],
   "reason": "size"
  },
  {
   "name": "t_soil_av",
   "kind": "array",
   "type": "f64",
   "shape": [
    5,
    7,
    3
   ],
   "reason": "size: levels of its own"
  },
  {
   "name": "nzb_max",
   "kind": "array",
   "type": "i32",
   "shape": [
    5,
    7
   ],
   "reason": "size"
  },
  {
   "name": "flags",
   "kind": "array",
   "type": "i32",
   "shape": [
    5,
    7,
    7
   ],
   "reason": "size"
  },
  {
   "name": "u_init",
   "kind": "replicated",
   "type": "f64",
   "shape": [
    7
   ],
   "reason": "known to PALM by its name"
  },
  {
   "name": "weights",
   "kind": "array",
   "type": "f64",
   "shape": [
    3
   ],
   "reason": "size fits no shape"
  }
 ],
 "notes": [
  "not fields of the grid by their sizes, and not surface data by the index planes, so kept in one dimension: weights. The last one is the file's last array. A file that was cut would look the same. Next: --type NAME=TYPE:SHAPE to set a shape"
 ]
}
