$ make_small_run run7 restart 100 1
$ make_small_run run7 restart 120 3
$ make_small_run run7 fields 120 1
$ forebay verify run7
fields@120  whole: 768 B in 5 segments
restart@120  whole: 2.66 kB in 15 segments
restart@100  whole: 768 B in 5 segments
