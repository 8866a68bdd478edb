$ make_small_run run7 restart 120 1
$ forebay ls run7 > /dev/full
2> forebay: the output could not be written completely to standard output.
[5]
