# The summary of a run's timeline; tests/report/trace_test.py reads the files.
$ make_timings run7 plain 40 > told
$ forebay trace run7
run7.pftrace  995 kB, 8320 slices of 32 of 40 nodes
  the slowest 16: nid10001, nid10016, nid10027, nid10012 and 12 more
  and 16 by chance (seed eac6cd5a): nid10022, nid10034, nid10014, nid10033 and 12 more
  --all shows every node.
Open it in https://ui.perfetto.dev, which keeps it on your machine.
# An existing file stays.
$ forebay trace run7
2> forebay: run7.pftrace exists.
2>   Safe: it is as it was.
2>   Next: --replace, or another name by --out
[2]
$ forebay trace run7 --replace --all --steps 200:300 --format json --out part.json
part.json  1.17 MB, 4160 slices of 40 of 40 nodes
Open it in https://ui.perfetto.dev or chrome://tracing, which keeps it on your machine.
$ forebay trace run7 --steps 900: --out none.pftrace
2> forebay: run7 has no timings of those steps.
2>   Next: forebay ls run7
[3]
$ forebay trace run7 --steps 3:1
2> forebay: --steps 3:1: the first step is behind the last one.
2>   Next: forebay trace --help
[2]
$ forebay trace run7 --session 5 --out none.pftrace
2> forebay: run7 has no timings of that session.
2>   Next: forebay ls run7
[3]
$ forebay trace run7 --format svg
2> forebay: --format must be pftrace or json, not 'svg'.
2>   Next: forebay trace --help
[2]
$ forebay trace run7/restart
2> forebay: there is no run run7/restart: no such directory.
2>   Next: forebay ls run7 shows the streams of the run run7
[3]
$ forebay trace nothing
2> forebay: there is no run nothing: no such directory.
2>   Next: name the directory of a run, which holds the directory forebay; or mount the file system of this one
[3]
$ forebay trace run7 --out nothing/a.pftrace
2> forebay: nothing/a.pftrace has no directory nothing to stand in; it is as it was.
2>   Next: mkdir -p nothing
[3]
$ mkdir empty
$ forebay trace empty
2> forebay: there is no run empty: the directory is empty.
2>   Next: name the directory of a run, which holds the directory forebay; or mount the file system of this one
[3]
$ ls -A
empty
part.json
run7
run7.pftrace
told
