$ make_small_run run7 restart 120 1
$ make_small_run run7 fields 120 1
$ forebay ls run7/fields/
stream  step  time  bytes  nodes  line  state      view
fields   120    60  768 B      1     0  committed  no
$ cd run7/restart
$ forebay ls .
stream   step  time  bytes  nodes  line  state      view
restart   120    60  768 B      1     0  committed  no
$ forebay ls ..
stream   step  time  bytes  nodes  line  state      view
fields    120    60  768 B      1     0  committed  no
restart   120    60  768 B      1     0  committed  no
