# A mark by hand, and a mark by an analysis of a drained snapshot. A report marks nothing.
$ make_small_run run7 restart 120 1
$ forebay mark run7 --why "the inflow was wrong"
2> forebay: mark needs one snapshot, not run7.
2>   Next: forebay ls run7
[2]
$ forebay mark run7@last --why "the inflow was wrong"
restart@120 is marked: the inflow was wrong
$ forebay ls run7
stream   step  time  bytes  nodes  line  state              view
restart   120    60  768 B      1     0  committed, marked  no
restart@120 is marked: the inflow was wrong
$ forebay unmark run7@last
restart@120 is not marked any more: the inflow was wrong
$ forebay unmark run7@120
restart@120 had no marks
$ forebay ls run7
stream   step  time  bytes  nodes  line  state      view
restart   120    60  768 B      1     0  committed  no
$ printf '[streams.restart.insitu.means]\nvariables = ["gas/x"]\ncondition = ["gas/x/count > 0", "*/nan > 0"]\n' > forebay.toml
$ forebay insitu forebay.toml run7/restart@last --only-report
restart@120  checked only
  fulfils means: gas/x/count > 0 (gas/x/count is 10)
  would be marked without --only-report
$ forebay ls run7/restart
stream   step  time  bytes  nodes  line  state      view
restart   120    60  768 B      1     0  committed  no
$ forebay insitu forebay.toml run7/restart@last --again
restart@120  1 result, 0 pictures
  fulfils means: gas/x/count > 0 (gas/x/count is 10)
$ forebay ls run7/restart
stream   step  time  bytes  nodes  line  state              view
restart   120    60  768 B      1     0  committed, marked  no
restart@120 is marked: means: gas/x/count > 0 (gas/x/count is 10)
$ forebay ls run7/restart --json
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
  "line": "0",
  "marks": [
   {
    "analysis": "means",
    "condition": "gas/x/count > 0",
    "result": "gas/x/count",
    "value": 10.0
   }
  ]
 }
]
$ forebay verify run7/restart
restart@120  whole: 768 B in 5 segments
  marked: means: gas/x/count > 0 (gas/x/count is 10)
$ sed -i 's/> 0", /> O", /' forebay.toml
$ forebay insitu forebay.toml run7/restart@last
2> forebay: stream 'restart': insitu.means.condition is 'gas/x/count > O': at character 15 'O' is not a number, as in "*/nan > 0".
2>   Next: forebay insitu --help
[2]
$ forebay mark run7@120
restart@120 is marked: marked by hand
