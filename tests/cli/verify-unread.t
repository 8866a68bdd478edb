# A file that cannot be opened is not called damaged: its bytes are unknown.
$ make_small_run run7 restart 100 1 a1
$ make_small_run run7 restart 120 2
$ cd run7/restart/step-000120
$ rm node-00001.h5; ln -s node-00001.h5 node-00001.h5
$ cd ../../..
$ forebay verify run7
restart@120  CANNOT BE READ: open: run7/restart/step-000120/node-00001.h5: Too many levels of symbolic links
restart@100  whole: 768 B in 5 segments
[5]
$ forebay verify run7 --json
[
 {
  "stream": "restart",
  "step": 120,
  "directory": "run7/restart/step-000120",
  "whole": false,
  "error": {
   "kind": "refused",
   "text": "forebay: open: run7/restart/step-000120/node-00001.h5: Too many levels of symbolic links",
   "what": "open: run7/restart/step-000120/node-00001.h5: Too many levels of symbolic links",
   "safe": "",
   "next": ""
  }
 },
 {
  "stream": "restart",
  "step": 100,
  "directory": "run7/restart/step-000100",
  "whole": true,
  "bytes": 768,
  "segments": 5,
  "damage": []
 }
]
[5]
$ forebay ls run7
stream   step  time    bytes  nodes  line  state                    view
restart   120    60  1.66 kB      2     0  committed, file missing  no
restart   100    50    768 B      1     0  committed                no
restart@120: run7/restart/step-000120/node-00001.h5 is a link to a path that does not exist. Next: bring the file back. forebay verify run7/restart/step-000120 lists further damage
[1]
