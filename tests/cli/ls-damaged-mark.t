# A damaged mark hides no other row, and the reason names the file to remove. A copied directory is on no line.
$ make_small_run run7 restart 100 1 a1
$ make_small_run run7 restart 120 1
$ mkdir run7/restart/step-000120/.marks && echo x > run7/restart/step-000120/.marks/deadbeef.json
$ forebay ls run7
stream   step  time  bytes  nodes  line  state                       view
restart   120    60  768 B      1     0  committed, mark unreadable  no
restart   100    50  768 B      1     0  committed                   no
restart@120: the mark run7/restart/step-000120/.marks/deadbeef.json is damaged: it has 2 bytes and no checksum. Safe: the snapshot. Next: remove run7/restart/step-000120/.marks/deadbeef.json. If the snapshot is bad, mark it again with forebay mark
[1]
$ rm run7/restart/step-000120/.marks/deadbeef.json
$ cp -r run7/restart/step-000120 run7/restart/line-1.step-000120
$ forebay ls run7
stream   step  time  bytes  nodes  line  state             view
restart   120    60  768 B      1     0  committed         no
restart   100    50  768 B      1     0  committed         no
restart   120                            manifest corrupt
run7/restart/line-1.step-000120 is misplaced: it holds the same save as run7/restart/step-000120. Next: if it is a copy, remove run7/restart/line-1.step-000120
[1]
$ forebay ls run7@120 --json
[
 {
  "stream": "restart",
  "step": 120,
  "directory": "run7/restart/step-000120",
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
  "directory": "run7/restart/line-1.step-000120",
  "state": "unreadable",
  "error": {
   "kind": "corrupt",
   "text": "forebay: run7/restart/line-1.step-000120 is misplaced: it holds the same save as run7/restart/step-000120.\n  Next: if it is a copy, remove run7/restart/line-1.step-000120",
   "what": "run7/restart/line-1.step-000120 is misplaced: it holds the same save as run7/restart/step-000120",
   "safe": "",
   "next": "if it is a copy, remove run7/restart/line-1.step-000120"
  }
 }
]
[1]
