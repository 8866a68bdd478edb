# Refusals of the live page; tests/report has the rest.
needs forebay watch
$ forebay watch nowhere
2> forebay: there is no run nowhere: no such directory.
2>   Next: give the directory of a run, which holds the directory forebay. Or mount the file system of this run
[3]
$ make_small_run run7 restart 120 1
$ forebay watch run7@120
2> forebay: there is no run run7@120: no such directory.
2>   Next: give the run run7
[3]
$ forebay watch run7 --port 65536
2> forebay: --port must be 0 to 65535.
2>   Next: forebay watch --help
[2]
$ forebay watch run7 --host 192.0.2.1
2> forebay: --host 192.0.2.1 would show the run to other hosts, over an unencrypted connection.
2>   Next: leave --host out and use the printed ssh line, or add --anywhere
[2]
$ forebay watch run7 --host 192.0.2.1 --anywhere
2> forebay: 192.0.2.1 is not an address of this host.
2>   Next: forebay watch --help
[2]
