# Of two nodes' memory here an agent still serves one; another run's is nobody's business.
here=$(pwd -P)
show() { sed -E "s#$here/##g; s#forebay-[0-9]+/#forebay-UID/#; s#-[0-9a-f]{8}-#-HASH-#g"; }
umask 077
mkdir memory run7 run8
make_small_run run7 restart 80 1
make_staged "$here/memory" "$here/run7" restart 100 2 0
make_staged "$here/memory" "$here/run7" restart 100 2 1
make_staged "$here/memory" "$here/run8" restart 100 1 0
make_small_run run7 restart 100 2 f3 1
second=$(ls -d memory/*/run7-*-1)
python3 -c 'import fcntl, subprocess, sys
lock = open(sys.argv[1], "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
for options in ([], ["--json"]):
    subprocess.run(["forebay", "ls", "run7", "--staging", "memory", *options], check=True)
' "$second/agent.lock" | show
forebay ls run7 --staging nowhere
