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
2> forebay: give --forward-to and --token-file together: the address of the forwarder, and the file that it made.
2>   Next: forebay drain --help
[2]
$ forebay drain all --staging memory --forward-to "$address" --token-file token
restart@100: committed
restart@100: committed
2> memory/forebay-UID/run7-HASH-0000000000000000-0: of run run7
2> memory/forebay-UID/run7-HASH-0000000000000000-1: of run run7
$ ls run7/restart | grep -v h5  # a view needs HDF5
step-000100
$ kill $!
$ wait $!
$ grep -o 'told to end' log  # its last client may leave a moment later
[1]
$ cat errors
# Wrong calls.
$ forebay forward run7 --listen here --token-file token
2> forebay: the forwarder of run7 cannot start: 'here' is not an address with host and port, such as "host7:4711".
2>   Next: check that this host can write to the run, and that --listen gives a free port of this host
[2]
$ chmod 644 token
$ forebay forward run7 --listen :0 --token-file token
2> forebay: token is not safe to use: its mode 0644 gives other users access. Nothing was changed.
2>   Next: remove it, or choose another place
[2]
$ echo other >short
$ forebay forward run7 --listen :0 --token-file short
2> forebay: short holds no valid token (32 hexadecimal digits).
2>   Next: remove it, and Forebay makes a new token
[2]
