$ for step in 100 120; do make_small_run run7 restart $step 1; done
$ forebay prune run7/restart --keep 1 --json
[
 {
  "stream": "restart",
  "dry_run": false,
  "kept": [
   {
    "stream": "restart",
    "step": 120,
    "directory": "run7/restart/step-000120"
   }
  ],
  "removed": [
   {
    "stream": "restart",
    "step": 100,
    "directory": "run7/restart/step-000100",
    "why": "it is older than 1 whole snapshot"
   }
  ],
  "problems": [],
  "others": [],
  "nothing_living": false
 }
]
