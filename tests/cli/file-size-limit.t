# A limit on the size of files is an error of what was to be written, and no signal.
$ make_small_run run7 restart 120 1
$ (ulimit -f 0; forebay ls run7 > listed)
2> forebay: the output could not be written whole to standard output.
[5]
