# Two nodes of step 100 are staged whole; of step 120 only node 0; a third session was killed as it began; and
# another run's memory is nobody's business here.
here=$(pwd -P)
show() { sed -E "s#$here/##g; s#forebay-[0-9]+/#forebay-UID/#; s#-[0-9a-f]{8}-#-HASH-#g"; }
umask 077
mkdir memory run7 run8
make_staged "$here/memory" "$here/run7" restart 100 2 0
make_staged "$here/memory" "$here/run7" restart 100 2 1
make_staged "$here/memory" "$here/run7" fields 120 2 0
make_staged "$here/memory" "$here/run8" restart 100 1 0
mkdir -m 700 "$(ls -d memory/*/run7-*-0 | sed 's/-0$/-2/')"
(forebay recover run7 --staging memory || echo "exit $?") | show
forebay ls run7
echo "again:"
(forebay recover run7 --staging memory || echo "exit $?") | show
ls -d memory/*/* | show
echo "stale:"
forebay recover run7 --staging memory --stale | show
forebay recover run7 --staging memory
forebay ls run7
ls -d memory/*/* | show
