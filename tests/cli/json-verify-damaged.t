$ make_small_run run7 restart 100 1 a1
$ make_small_run run7 restart 120 2
$ make_small_run run7 restart 140 1 b2
$ rm run7/restart/step-000120/node-00001.h5
$ echo broken > run7/restart/step-000140/manifest.json
$ forebay verify run7 --json
[
 {
  "stream": "restart",
  "step": 140,
  "directory": "run7/restart/step-000140",
  "whole": false,
  "error": {
   "kind": "corrupt",
   "text": "forebay: manifest run7/restart/step-000140/manifest.json is damaged: it has no first two lines.\n  Safe: the node files beside it, which state their snapshot themselves.\n  Next: forebay recover RUN makes the manifest again if all node files are there",
   "what": "manifest run7/restart/step-000140/manifest.json is damaged: it has no first two lines.",
   "safe": "the node files beside it, which state their snapshot themselves",
   "next": "forebay recover RUN makes the manifest again if all node files are there"
  }
 },
 {
  "stream": "restart",
  "step": 120,
  "directory": "run7/restart/step-000120",
  "whole": false,
  "bytes": 768,
  "segments": 5,
  "damage": [
   {
    "file": "run7/restart/step-000120/node-00001.h5",
    "first_byte": 0,
    "last_byte": 36863,
    "text": "run7/restart/step-000120/node-00001.h5 is missing."
   }
  ]
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
[4]
