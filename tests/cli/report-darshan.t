# Files that are no Darshan logs; tests/report/darshan_test.py has real logs.
$ forebay report --darshan nothing.darshan
2> forebay: open: nothing.darshan: No such file or directory
[3]
$ forebay report --darshan nothing.darshan run7
2> forebay: --darshan LOG goes with --servers, --python and --json alone: the log is of no run.
2>   Next: forebay report --darshan LOG
[2]
$ forebay report --python python3 run7
2> forebay: --servers is for --darshan alone, --python for that or --png.
2>   Next: forebay report --help
[2]
$ forebay report --servers servers run7
2> forebay: --servers is for --darshan alone, --python for that or --png.
2>   Next: forebay report --help
[2]
