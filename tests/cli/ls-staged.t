# An agent serves the memory of one of two nodes here. The memory of another run is not shown.
$ umask 077
$ mkdir -p memory run7/forebay/sessions run8/forebay/sessions
$ make_small_run run7 restart 80 1
$ make_staged "$PWD/memory" "$PWD/run7" restart 100 2 0
$ make_staged "$PWD/memory" "$PWD/run7" restart 100 2 1
$ make_staged "$PWD/memory" "$PWD/run8" restart 100 1 0
$ make_small_run run7 restart 100 2 f3 1
$ second=$(ls -d memory/*/run7-*-1)
$ served() {
>   python3 -c 'import fcntl, subprocess, sys
> lock = open(sys.argv[1], "w")
> fcntl.lockf(lock, fcntl.LOCK_EX)
> subprocess.run(sys.argv[2:], check=True)' "$second/agent.lock" "$@"
> }
$ served forebay ls run7 --staging memory
stream   step  time  bytes   nodes  line  state                         view
restart   100               1 of 2        draining, or left by a crash
restart    80    40  768 B       1     0  committed                     no
On this node: memory/forebay-UID/run7-HASH-0000000000000000-0, left by a session that has ended.
On this node: memory/forebay-UID/run7-HASH-0000000000000000-1, left by a session that has ended. Its agent still works.
  Next: forebay recover run7
$ served forebay ls run7 --staging memory --json
[
 {
  "stream": "restart",
  "step": 100,
  "directory": "run7/restart/.step-000100.00000000000000f3.part",
  "state": "part",
  "snapshot_id": "00000000000000f3",
  "nodes_arrived": 1,
  "nodes": 2
 },
 {
  "stream": "restart",
  "step": 80,
  "directory": "run7/restart/step-000080",
  "state": "committed",
  "time": 40.0,
  "bytes": 768,
  "file_bytes": 36864,
  "nodes": 1,
  "ranks": 2,
  "sealed_unix_ns": 1700000000000000000,
  "snapshot_id": "00000000000000f3",
  "line": "0"
 },
 {
  "state": "staged",
  "directory": "memory/forebay-UID/run7-HASH-0000000000000000-0",
  "served": false
 },
 {
  "state": "staged",
  "directory": "memory/forebay-UID/run7-HASH-0000000000000000-1",
  "served": true
 }
]
$ forebay ls run7 --staging nowhere
stream   step  time  bytes   nodes  line  state                         view
restart   100               1 of 2        draining, or left by a crash
restart    80    40  768 B       1     0  committed                     no
# The run is gone but its memory is not: the command to export it.
$ rm -rf run8
> forebay recover run8 --staging memory
2> forebay: there is no run run8: no such directory.
2>   Safe: the staged copies on this node for a run of that path, in memory/forebay-UID/run8-HASH-0000000000000000-0.
2>   Next: forebay drain memory/forebay-UID/run8-HASH-0000000000000000-0 --into NEW-RUN keeps it, --drop removes it
[3]
$ mkdir run8
> forebay ls run8 --staging memory
2> forebay: there is no run run8: the directory is empty.
2>   Safe: the staged copies on this node for a run of that path, in memory/forebay-UID/run8-HASH-0000000000000000-0.
2>   Next: forebay drain memory/forebay-UID/run8-HASH-0000000000000000-0 --into NEW-RUN keeps it, --drop removes it
[3]
