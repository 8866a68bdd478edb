# Files that are no Darshan logs; tests/report/darshan_test.py has real logs.
$ forebay report --darshan nothing.darshan
2> forebay: open: nothing.darshan: No such file or directory
[3]
$ forebay report --darshan nothing.darshan run7
2> forebay: --darshan LOG works only with --servers, --python and --json: the log is not a run.
2>   Next: forebay report --darshan LOG
[2]
$ forebay report --python python3 run7
2> forebay: --servers needs --darshan, and --python needs --darshan or --png.
2>   Next: forebay report --help
[2]
$ forebay report --servers servers run7
2> forebay: --servers needs --darshan, and --python needs --darshan or --png.
2>   Next: forebay report --help
[2]
