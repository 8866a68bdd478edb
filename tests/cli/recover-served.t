needs forebay view
# Both nodes of step 120 are staged here, and another process drains the second node, as another recover does. The
# incomplete part at the target and its staged copy stay for now, and are committed afterwards.
$ umask 077
$ mkdir -p memory run7/forebay/sessions
$ make_staged "$PWD/memory" "$PWD/run7" fields 120 2 0
$ make_staged "$PWD/memory" "$PWD/run7" fields 120 2 1
$ second=$(ls -d memory/*/run7-*-1)
$ served() {
>   python3 -c 'import fcntl, subprocess, sys
> lock = open(sys.argv[1], "w")
> fcntl.lockf(lock, fcntl.LOCK_EX)
> sys.exit(subprocess.run(sys.argv[2:]).returncode)' "$second/$1.lock" forebay recover run7 --staging memory --stale
> }
$ served agent
memory/forebay-UID/run7-HASH-0000000000000000-1: a session, an agent or another recover is at work there, so --stale removes nothing; when it has ended, run this again.
fields: step 120: it is not committed: drained; node files of other nodes are still missing; staged in memory/forebay-UID/run7-HASH-0000000000000000-0/fields.0.h5.
fields: step 120: 1 of 2 node files have arrived, that of node 1 has not; left in run7/fields/.step-000120.00000000000000f3.part.
[1]
$ served application
memory/forebay-UID/run7-HASH-0000000000000000-1: a session, an agent or another recover is at work there, so --stale removes nothing; when it has ended, run this again.
fields: step 120: it is not committed: drained; node files of other nodes are still missing; staged in memory/forebay-UID/run7-HASH-0000000000000000-0/fields.0.h5.
fields: step 120: 1 of 2 node files have arrived, that of node 1 has not; left in run7/fields/.step-000120.00000000000000f3.part.
[1]
$ forebay recover run7 --staging memory --stale
memory/forebay-UID/run7-HASH-0000000000000000-0: what a dead session left in this node's memory; removed.
fields: step 120: it was staged on this node and is now committed.
memory/forebay-UID/run7-HASH-0000000000000000-1: what a dead session left in this node's memory; removed.
