needs forebay view
$ make_small_run run7 restart 100 2 a1 2
$ make_small_run run7 restart 140 2 b2 1
$ forebay recover run7 --json
[
 {
  "stream": "restart",
  "step": 140,
  "directory": "run7/restart/.step-000140.00000000000000b2.part",
  "snapshot_id": "00000000000000b2",
  "kind": "part",
  "outcome": "incomplete",
  "text": "step 140: 1 of 2 node files have arrived, but not the file of node 1; left in run7/restart/.step-000140.00000000000000b2.part."
 },
 {
  "stream": "restart",
  "step": 100,
  "directory": "run7/restart/.step-000100.00000000000000a1.part",
  "snapshot_id": "00000000000000a1",
  "kind": "part",
  "outcome": "committed",
  "text": "step 100 was complete and is now committed in run7/restart/step-000100."
 },
 {
  "stream": "restart",
  "step": 100,
  "directory": "run7/restart/step-000100",
  "kind": "view",
  "outcome": "made",
  "text": "its view was missing, and is made."
 }
]
[1]
