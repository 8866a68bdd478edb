needs forebay view
# Step 100 is staged completely on two nodes, step 120 only on node 0. A third session was killed as it began. The
# memory of another run is not touched.
$ umask 077
$ mkdir -p memory run7/forebay/sessions run8/forebay/sessions
$ make_staged "$PWD/memory" "$PWD/run7" restart 100 2 0
$ make_staged "$PWD/memory" "$PWD/run7" restart 100 2 1
$ make_staged "$PWD/memory" "$PWD/run7" fields 120 2 0
$ make_staged "$PWD/memory" "$PWD/run8" restart 100 1 0
$ mkdir -m 700 "$(ls -d memory/*/run7-*-0 | sed 's/-0$/-2/')"
$ forebay recover run7 --staging memory
fields: step 120: it is not committed: drained. Node files of other nodes are still missing; staged in memory/forebay-UID/run7-HASH-0000000000000000-0/fields.0.h5.
restart: step 100: it was staged on this node and is now committed.
memory/forebay-UID/run7-HASH-0000000000000000-2: its session was killed at its start. Nothing is staged there. --stale removes it.
fields: step 120: 1 of 2 node files have arrived, but not the file of node 1; left in run7/fields/.step-000120.00000000000000f3.part.
fields@120 was sealed and is not committed. The memory of host may still have it.
  Next: srun --nodelist=host --ntasks-per-node=1 forebay drain all. Without Slurm, run forebay drain all on host
[1]
$ forebay ls run7
stream   step  time    bytes   nodes  line  state                         view
fields    120                 1 of 2        draining, or left by a crash
restart   100    50  1.66 kB       2     0  committed                     yes
fields@120 was sealed and is not committed. The memory of host may still have it.
  Next: srun --nodelist=host --ntasks-per-node=1 forebay drain all. Without Slurm, run forebay drain all on host
# A staging directory is done when all its snapshots are committed.
$ forebay ls run7 --staging memory
stream   step  time    bytes   nodes  line  state                         view
fields    120                 1 of 2        draining, or left by a crash
restart   100    50  1.66 kB       2     0  committed                     yes
On this node: memory/forebay-UID/run7-HASH-0000000000000000-0, left by a session that has ended.
On this node: memory/forebay-UID/run7-HASH-0000000000000000-1, left by a session that has ended. Everything is committed.
On this node: memory/forebay-UID/run7-HASH-0000000000000000-2, left by a session that has ended.
  Next: forebay recover run7
fields@120 was sealed and is not committed. The memory of host may still have it.
  Next: srun --nodelist=host --ntasks-per-node=1 forebay drain all. Without Slurm, run forebay drain all on host
# A second call.
$ forebay recover run7 --staging memory
fields: step 120: it is not committed: drained. Node files of other nodes are still missing; staged in memory/forebay-UID/run7-HASH-0000000000000000-0/fields.0.h5.
memory/forebay-UID/run7-HASH-0000000000000000-2: its session was killed at its start. Nothing is staged there. --stale removes it.
fields: step 120: 1 of 2 node files have arrived, but not the file of node 1; left in run7/fields/.step-000120.00000000000000f3.part.
fields@120 was sealed and is not committed. The memory of host may still have it.
  Next: srun --nodelist=host --ntasks-per-node=1 forebay drain all. Without Slurm, run forebay drain all on host
[1]
$ ls -d memory/*/*
memory/forebay-UID/run7-HASH-0000000000000000-0
memory/forebay-UID/run7-HASH-0000000000000000-1
memory/forebay-UID/run7-HASH-0000000000000000-2
memory/forebay-UID/run8-HASH-0000000000000000-0
# With --stale.
$ forebay recover run7 --staging memory --stale
fields: step 120: it is not committed: drained. Node files of other nodes are still missing; removed memory/forebay-UID/run7-HASH-0000000000000000-0/fields.0.h5.
memory/forebay-UID/run7-HASH-0000000000000000-0: a dead session left it in this node's memory. Removed.
memory/forebay-UID/run7-HASH-0000000000000000-1: a dead session left it in this node's memory. Removed.
memory/forebay-UID/run7-HASH-0000000000000000-2: a dead session left it in this node's memory. Removed.
fields: step 120: 1 of 2 node files have arrived, but not the file of node 1; removed.
$ forebay recover run7 --staging memory
Nothing to recover in run7.
$ forebay ls run7
stream   step  time    bytes  nodes  line  state      view
restart   100    50  1.66 kB      2     0  committed  yes
$ ls -d memory/*/*
memory/forebay-UID/run8-HASH-0000000000000000-0
# drain frees the memory that recover keeps for a restart.
$ forebay recover run8 --staging memory
restart: step 100: it was staged on this node and is now committed.
$ forebay ls run8 --staging memory
stream   step  time  bytes  nodes  line  state      view
restart   100    50  768 B      1     0  committed  yes
On this node: memory/forebay-UID/run8-HASH-0000000000000000-0, left by a session that has ended. Everything is committed.
  Next: forebay drain memory/forebay-UID/run8-HASH-0000000000000000-0 frees the memory
$ forebay drain $(ls -d memory/*/*)
restart@100: committed
$ ls memory/*
