# The status of a run that has ended, on one screen. Slow nodes come first.
$ make_watched_run run7 ended
$ forebay top run7 --once
ended  run7
session 1  8 of 8 nodes report  durable: step 1000 of restart, 2026-11-23 07:55:41 UTC
saved 71.6 MB/s  backlog 0 B  slack 13.3 x (13.3 x worst)  hidden 88.7 % of session 1
blocked 500 ms, 500 ms, 500 ms, 500 ms, 500 ms, 500 ms, 500 ms, 500 ms
in all: copy 4.00 s, layout 100.0 ms, ranks 900 ms, slot 0 s
restart             1000 [####################] 100 %  8 committed
slow node nid10003: 0.31 of the median, 10 drains
node     ratio state         step slot             now     median  backlog errors  told
nid10003  0.31 ended         1000 committed          -   119 MB/s      0 B      0  07:56:40 UTC
nid10000  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
nid10001  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
nid10002  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
nid10004  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
nid10005  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
nid10006  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
nid10007  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
$ forebay top run7 --once --sort name | tail -n 8 | cut -c 1-40
nid10000  1.00 ended         1000 commit
nid10001  1.00 ended         1000 commit
nid10002  1.00 ended         1000 commit
nid10003  0.31 ended         1000 commit
nid10004  1.00 ended         1000 commit
nid10005  1.00 ended         1000 commit
nid10006  1.00 ended         1000 commit
nid10007  1.00 ended         1000 commit
$ make_watched_run run14 ended 2
$ forebay top run14 --json
{
 "run": "run14",
 "session": 1,
 "state": "ended",
 "nodes": 2,
 "nodes_told": 2,
 "newest_status_unix_ns": 1795420600000000000,
 "job_ends_unix_ns": 0,
 "durable": {
  "stream": "restart",
  "step": 1000,
  "unix_ns": 1795420541913177280
 },
 "newest": [],
 "saved_bytes_per_second": 17895697.066666666,
 "drained_bytes_per_second": 0.0,
 "backlog_bytes": 0,
 "failures": 0,
 "slack": {
  "median": 43.097959478264144,
  "worst": 43.097959478264144
 },
 "sessions": [
  1
 ],
 "blocked_parts": {
  "copy_seconds": 3.9999999999999996,
  "layout_seconds": 0.09999999999999999,
  "ranks_seconds": 0.8999999999999998,
  "slot_seconds": 0.0
 },
 "hidden_ratio": 0.7077030088513426,
 "visible_ratio": 0.010610555788402695,
 "slowdown": {
  "percent": 0.0,
  "low_percent": 0.0,
  "high_percent": 0.0,
  "steps": 0
 },
 "blocked_seconds": [
  0.5,
  0.5,
  0.5,
  0.5,
  0.5,
  0.5,
  0.5,
  0.5
 ],
 "streams": [
  {
   "name": "restart",
   "newest_durable_step": 1000,
   "deadlines_missed": 0,
   "not_analysed": 0,
   "slots": [
    {
     "step": 1000,
     "bytes": 1073741824,
     "drained_bytes": 1073741824,
     "states": {
      "committed": 2
     }
    }
   ]
  }
 ],
 "nodes_shown": [
  {
   "name": "nid10000",
   "state": "ended",
   "step": 1000,
   "slot_state": "committed",
   "progress": 1.0,
   "bytes_per_second": 0.0,
   "drain_bytes_per_second": 385634013.50724524,
   "ratio": 1.0,
   "backlog_bytes": 0,
   "failures": 0,
   "unix_ns": 1795420600000000000
  },
  {
   "name": "nid10001",
   "state": "ended",
   "step": 1000,
   "slot_state": "committed",
   "progress": 1.0,
   "bytes_per_second": 0.0,
   "drain_bytes_per_second": 385634013.50724524,
   "ratio": 1.0,
   "backlog_bytes": 0,
   "failures": 0,
   "unix_ns": 1795420600000000000
  }
 ],
 "slow_nodes": [],
 "slow_targets": [],
 "errors": [],
 "why": [],
 "problems": []
}
# A failed drain and staged remains.
$ make_watched_run run8 left 3
$ forebay top run8 --once
left with work  run8
session 1  3 of 3 nodes report  durable: step 1000 of restart, 2026-11-23 07:55:41 UTC
saved 26.8 MB/s  backlog 1.61 GB  slack 43.1 x (43.1 x worst)  hidden 70.8 % of session 1
blocked 500 ms, 500 ms, 500 ms, 500 ms, 500 ms, 500 ms, 500 ms, 500 ms
in all: copy 4.00 s, layout 100.0 ms, ranks 900 ms, slot 0 s  9 failures
restart             1100 [....................]   0 %  3 failed
restart             1000 [####################] 100 %  3 committed
error (nid10000, 2026-11-23 07:56:40 UTC) step 1100 of stream 'restart' is NOT committed
node     ratio state         step slot             now     median  backlog errors  told
nid10000  1.00 left          1100 failed             -   386 MB/s   537 MB      3  07:56:40 UTC
nid10001  1.00 left          1100 failed             -   386 MB/s   537 MB      3  07:56:40 UTC
nid10002  1.00 left          1100 failed             -   386 MB/s   537 MB      3  07:56:40 UTC
# Only nodes of the newest session, unless --all is given.
$ make_watched_run run9 old 3
$ forebay top run9 --once | tail -n 4
node     ratio state         step slot             now     median  backlog errors  told
nid10000  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
nid10001  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
nid10002  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
$ forebay top run9 --once --all | tail -n 5
node     ratio state         step slot             now     median  backlog errors  told
nid10000  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
nid10001  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
nid10002  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
nid10099     - silent        1100 1 %                -          -   532 MB      0  07:46:40 UTC
# The rows of one screen.
$ make_watched_run run10 ended 40
$ forebay top run10 --once | tail -n 3
nid10014  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
nid10015  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
and 24 more nodes; sorted by slowest
# Names cannot control the terminal.
$ make_watched_run run11 hostile 3
$ forebay top run11 --once
ended  run11
session 1  3 of 3 nodes report
durable: step 1000 of x\x1b]0;owned\x07\xc2\x9b31m\xe2\x80\xae\x0a"}<b>\, 2026-11-23 07:55:41 UTC
saved 26.8 MB/s  backlog 0 B  slack 43.1 x (43.1 x worst)  hidden 70.8 % of session 1
blocked 500 ms, 500 ms, 500 ms, 500 ms, 500 ms, 500 ms, 500 ms, 500 ms
in all: copy 4.00 s, layout 100.0 ms, ranks 900 ms, slot 0 s
x\x1b]0;owned~      1000 [####################] 100 %  3 committed
error (nid10000, 2026-11-23 07:56:40 UTC) x\x1b]0;owned\x07\xc2\x9b31m\xe2\x80\xae\x0a"}<b>\
why (nid10000, 2026-11-23 07:55:41 UTC) x\x1b]0;owned\x07\xc2\x9b31m\xe2\x80\xae\x0a"}<b>\
node     ratio state         step slot             now     median  backlog errors  told
nid10000  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
nid10001  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
nid10002  1.00 ended         1000 committed          -   386 MB/s      0 B      0  07:56:40 UTC
# A run from before status files existed, a directory that is no run, and a damaged file.
$ mkdir run12
$ forebay top run12 --once
2> forebay: there is no run run12: the directory is empty.
2>   Next: give the directory of a run, which holds the directory forebay. Or mount the file system of this run
[3]
$ forebay top run13 --once
2> forebay: there is no run run13: no such directory.
2>   Next: give the directory of a run, which holds the directory forebay. Or mount the file system of this run
[3]
$ head -c 100 run8/forebay/status-nid10001-0.json > run8/forebay/status-nid10002-0.json
$ forebay top run8 --once | grep -c unread
1
$ forebay top run8 --once --sort size
2> forebay: --sort must be slowest, backlog, failures or name, not 'size'.
2>   Next: forebay top --help
[2]
$ forebay top run8 --once --interval 0
2> forebay: --interval must be 0.1 to 3600 seconds.
2>   Next: forebay top --help
[2]
# A recover has committed a step that no agent knows, and a new session has not committed any step.
$ make_small_run run14 restart 2000 1
$ forebay top run14 --once | sed -n 2,3p
session 1  2 of 2 nodes report  durable: step 1000 of restart, 2026-11-23 07:55:41 UTC
newest of the run: restart@2000
$ make_small_run run14 fields 2100 1
$ forebay top run14 --json | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["newest"]))'
[{"stream": "fields", "step": 2100}, {"stream": "restart", "step": 2000}]
