# A limit on file sizes is reported as a write error and does not end the program by a signal.
$ make_small_run run7 restart 120 1
$ (ulimit -f 0; forebay ls run7 > listed)
2> forebay: the output could not be written completely to standard output.
[5]
