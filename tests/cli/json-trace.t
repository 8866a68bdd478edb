$ make_timings run7 plain 2 > told
$ forebay trace run7 --json
{
 "file": "run7.pftrace",
 "bytes": 61174,
 "nodes": 2,
 "slices": 520,
 "points": 680,
 "tracks": 26,
 "left_out": 0,
 "dropped": 0,
 "seed": 3825523876,
 "slowest": [
  "nid10001",
  "nid10000"
 ],
 "others": [],
 "problems": []
}
