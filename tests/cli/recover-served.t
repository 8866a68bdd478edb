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
memory/forebay-UID/run7-HASH-0000000000000000-1: a session, an agent or another recover works there, so --stale removes nothing. Run this again when it has ended.
fields: step 120: it is not committed: drained. Node files of other nodes are still missing; staged in memory/forebay-UID/run7-HASH-0000000000000000-0/fields.0.h5.
fields: step 120: 1 of 2 node files have arrived, but not the file of node 1; left in run7/fields/.step-000120.00000000000000f3.part.
fields@120 was sealed and is not committed. The memory of host may still have it.
  Next: srun --nodelist=host --ntasks-per-node=1 forebay drain all. Without Slurm, run forebay drain all on host
[1]
$ served application
memory/forebay-UID/run7-HASH-0000000000000000-1: a session, an agent or another recover works there, so --stale removes nothing. Run this again when it has ended.
fields: step 120: it is not committed: drained. Node files of other nodes are still missing; staged in memory/forebay-UID/run7-HASH-0000000000000000-0/fields.0.h5.
fields: step 120: 1 of 2 node files have arrived, but not the file of node 1; left in run7/fields/.step-000120.00000000000000f3.part.
fields@120 was sealed and is not committed. The memory of host may still have it.
  Next: srun --nodelist=host --ntasks-per-node=1 forebay drain all. Without Slurm, run forebay drain all on host
[1]
$ forebay recover run7 --staging memory --stale
memory/forebay-UID/run7-HASH-0000000000000000-0: a dead session left it in this node's memory. Removed.
fields: step 120: it was staged on this node and is now committed.
memory/forebay-UID/run7-HASH-0000000000000000-1: a dead session left it in this node's memory. Removed.
