# What two nodes have staged is drained through a forwarder, which is then told to end; and calls that are wrong.
here=$(pwd -P)
show() { sed -E "s#$here/##g; s#forebay-[0-9]+/#forebay-UID/#; s#-[0-9a-f]{8}-#-HASH-#g; s#127.0.0.1:[0-9]+#127.0.0.1:PORT#"; }
umask 077
mkdir memory run7
make_staged "$here/memory" "$here/run7" restart 100 2 0
make_staged "$here/memory" "$here/run7" restart 100 2 1
forebay forward run7 --listen 127.0.0.1:0 --token-file token --log log >told 2>errors &
until [ -s told ]; do sleep 0.1; done
show <told
stat -c %a token
address=$(sed 's/.* //' told)
(forebay drain all --staging memory --forward-to "$address" || echo "exit $?") 2>&1 | show
forebay drain all --staging memory --forward-to "$address" --token-file token
ls run7/restart | grep -v h5  # a view needs HDF5
kill $!
wait $! && echo "it has ended well"
grep -o 'told to end' log  # its last client may leave a moment later
cat errors
echo "wrong:"
(forebay forward run7 --listen here --token-file token || echo "exit $?") 2>&1 | show
chmod 644 token
(forebay forward run7 --listen :0 --token-file token || echo "exit $?") 2>&1 | show
echo other >short
(forebay forward run7 --listen :0 --token-file short || echo "exit $?") 2>&1 | show
