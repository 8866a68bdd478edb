# A forwarder drains the staged snapshots of two nodes. Then it is stopped.
$ umask 077
$ mkdir -p memory run7/forebay/sessions
$ make_staged "$PWD/memory" "$PWD/run7" restart 100 2 0
$ make_staged "$PWD/memory" "$PWD/run7" restart 100 2 1
$ forebay forward run7 --listen 127.0.0.1:0 --token-file token --log log >told 2>errors &
$ until [ -s told ]; do sleep 0.1; done
$ cat told
Forwarder of run7, at 127.0.0.1:PORT
$ stat -c %a token
600
$ address=$(sed 's/.* //' told)
$ forebay drain all --staging memory --forward-to "$address"
2> forebay: --forward-to and --token-file belong together: where the forwarder listens, and the file that it has made.
2>   Next: forebay drain --help
[2]
$ forebay drain all --staging memory --forward-to "$address" --token-file token
restart@100: committed
restart@100: committed
$ ls run7/restart | grep -v h5  # a view needs HDF5
step-000100
$ kill $!
$ wait $!
$ grep -o 'told to end' log  # its last client may leave a moment later
told to end
$ cat errors
# Wrong calls.
$ forebay forward run7 --listen here --token-file token
2> forebay: no forwarder of run7: 'here' is no address of a host and a port, as "host7:4711".
2>   Next: see that the run can be written to from this host, and that --listen names a free port of it
[2]
$ chmod 644 token
$ forebay forward run7 --listen :0 --token-file token
2> forebay: token is not safe to use: its mode 0644 lets others in. Nothing was changed.
2>   Next: remove it, or choose another place
[2]
$ echo other >short
$ forebay forward run7 --listen :0 --token-file short
2> forebay: short holds no token, which is 32 hexadecimal digits.
2>   Next: remove it, and a new one is made
[2]
