# One of two staging directories has a living session or agent: it is skipped with a message.
$ umask 077
$ mkdir -p memory run7/forebay/sessions
$ make_staged "$PWD/memory" "$PWD/run7" restart 100 1 0
$ make_staged "$PWD/memory" "$PWD/run7" fields 120 2 1
$ second=$(ls -d memory/*/run7-*-1)
$ served() {
>   python3 -c 'import fcntl, subprocess, sys
> lock = open(sys.argv[1], "w")
> fcntl.lockf(lock, fcntl.LOCK_EX)
> sys.exit(subprocess.run(sys.argv[2:]).returncode)' "$second/agent.lock" "$@"
> }
$ served forebay drain all --staging memory
restart@100: committed
memory/forebay-UID/run7-HASH-0000000000000000-1: skipped, its session or its agent still runs
2> memory/forebay-UID/run7-HASH-0000000000000000-0: of run run7
2> memory/forebay-UID/run7-HASH-0000000000000000-1: of run run7
[1]
$ served forebay drain all --staging memory --json
[
 {
  "directory": "memory/forebay-UID/run7-HASH-0000000000000000-1",
  "committed": false,
  "text": "its session or its agent still runs"
 }
]
[1]
$ ls -d memory/*/*
memory/forebay-UID/run7-HASH-0000000000000000-1
