# The summary of a run's timeline; tests/report/trace_test.py reads the files.
$ make_timings run7 plain 40 > told
$ forebay trace run7
run7.pftrace  995 kB, 8320 slices of 32 of 40 nodes
  the slowest 16: nid10001, nid10016, nid10027, nid10012 and 12 more
  and 16 chosen at random (seed eac6cd5a): nid10022, nid10034, nid10014, nid10033 and 12 more
  --all shows every node.
Open it in https://ui.perfetto.dev. The data stay on your machine.
# An existing file stays.
$ forebay trace run7
2> forebay: run7.pftrace exists.
2>   Safe: the file is unchanged.
2>   Next: give --replace, or another name with --out
[2]
$ forebay trace run7 --replace --all --steps 200:300 --format json --out part.json
part.json  1.17 MB, 4160 slices of 40 of 40 nodes
Open it in https://ui.perfetto.dev or chrome://tracing. The data stay on your machine.
$ forebay trace run7 --steps 900: --out none.pftrace
2> forebay: run7 has no timings of those steps.
2>   Next: forebay ls run7
[3]
$ forebay trace run7 --steps 3:1
2> forebay: --steps 3:1: the first step is after the last step.
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
2>   Next: give the directory of a run, which holds the directory forebay. Or mount the file system of this run
[3]
$ forebay trace run7 --out nothing/a.pftrace
2> forebay: the directory of nothing/a.pftrace, nothing, does not exist; the file is unchanged.
2>   Next: mkdir -p nothing
[3]
$ mkdir empty
$ forebay trace empty
2> forebay: there is no run empty: the directory is empty.
2>   Next: give the directory of a run, which holds the directory forebay. Or mount the file system of this run
[3]
$ ls -A
empty
part.json
run7
run7.pftrace
told
