# A committed snapshot has lost a file.
$ make_small_run run7 restart 100 1 a1
$ make_small_run run7 restart 120 2
$ make_small_run run7 restart 140 2 b2
$ rm run7/restart/step-000120/node-00001.h5
$ cd run7/restart/step-000140
$ ln -sf /not-mounted/node-00000.h5 node-00000.h5
$ cd ../../..
$ forebay ls run7
stream   step  time    bytes  nodes  line  state                    view
restart   140    70  1.66 kB      2     0  committed, file missing  no
restart   120    60  1.66 kB      2     0  committed, file missing  no
restart   100    50    768 B      1     0  committed                no
restart@140: run7/restart/step-000140/node-00000.h5 is a link to a path that does not exist. Next: bring the file back. forebay verify run7/restart/step-000140 lists further damage
restart@120: run7/restart/step-000120/node-00001.h5 is missing. Next: bring the file back. forebay verify run7/restart/step-000120 lists further damage
[1]
$ forebay ls run7@120 --json
[
 {
  "stream": "restart",
  "step": 120,
  "directory": "run7/restart/step-000120",
  "error": {
   "kind": "missing",
   "text": "forebay: run7/restart/step-000120/node-00001.h5 is missing.\n  Next: bring the file back. forebay verify run7/restart/step-000120 lists further damage",
   "what": "run7/restart/step-000120/node-00001.h5 is missing",
   "safe": "",
   "next": "bring the file back. forebay verify run7/restart/step-000120 lists further damage"
  },
  "state": "committed",
  "time": 60.0,
  "bytes": 1656,
  "file_bytes": 73728,
  "nodes": 2,
  "ranks": 4,
  "sealed_unix_ns": 1700000000000000001,
  "snapshot_id": "00000000000000f3",
  "line": "0"
 }
]
[1]
# A file in place of the directory is no snapshot.
$ rm -r run7/restart/step-000140
$ echo > run7/restart/step-000140
$ forebay ls run7
stream   step  time    bytes  nodes  line  state                    view
restart   140                              manifest corrupt
restart   120    60  1.66 kB      2     0  committed, file missing  no
restart   100    50    768 B      1     0  committed                no
run7/restart/step-000140 is a file, and a snapshot is a directory. Next: bring the directory back from a copy of the run, or move the file away
restart@120: run7/restart/step-000120/node-00001.h5 is missing. Next: bring the file back. forebay verify run7/restart/step-000120 lists further damage
[1]
$ forebay verify run7
restart@140  cannot be checked: run7/restart/step-000140 is a file, and a snapshot is a directory. Next: bring the directory back from a copy of the run, or move the file away
restart@120  DAMAGED in 1 place:
  run7/restart/step-000120/node-00001.h5 is missing.
restart@100  whole: 768 B in 5 segments
[4]
