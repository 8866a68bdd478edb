# The list of a run has one line for each stream of results or packed files, below the snapshots. If you name the
# stream, all its snapshots are listed.
$ for step in 100 110 120; do make_small_run run7 restart $step 1 $step; done
$ printf '[streams.restart.insitu.numbers]\nvariables = ["fields/density"]\n' > forebay.toml
$ printf '[streams.restart.insitu.bins]\nkind = "histogram"\nvariables = ["fields/density"]\nbins = 8\nrange = [0.0, 200.0]\n' >> forebay.toml
$ forebay insitu forebay.toml run7/restart@all
restart@100  2 results, 0 pictures
restart@110  2 results, 0 pictures
restart@120  2 results, 0 pictures
$ mkdir out && echo one > out/one && forebay pack out run7 --stream packed-vm > /dev/null
$ forebay ls run7 | sed 's/ [0-9]\{13\} / STEP /'
stream   step  time  bytes  nodes  line  state      view
restart   120    60  768 B      1     0  committed  no
restart   110    55  768 B      1     0  committed  no
restart   100    50  768 B      1     0  committed  no

stream           snapshots  steps          bytes  holds               state
packed-vm                1  STEP    4 B  packed files        committed
restart.bins             3  100 to 120     480 B  results of restart  committed
restart.numbers          3  100 to 120     192 B  results of restart  committed
  Next: forebay ls run7/STREAM lists all of a stream. forebay plot draws results. forebay extract writes packed files.
$ forebay ls run7 --json | grep -c '"step"'
10
$ forebay ls run7/restart.bins
stream        step  time  bytes  nodes  line  state      view
restart.bins   120    60  160 B      1     0  committed  no
restart.bins   110    55  160 B      1     0  committed  no
restart.bins   100    50  160 B      1     0  committed  no
restart.bins: results of analysis 'bins' of stream 'restart'. Next: forebay plot run7/restart.bins
$ forebay mark run7/restart.bins@110 --why wrong
restart.bins@110 is marked: wrong
$ forebay ls run7@110
stream           step  time  bytes  nodes  line  state              view
restart           110    55  768 B      1     0  committed          no
restart.bins      110    55  160 B      1     0  committed, marked  no
restart.numbers   110    55   64 B      1     0  committed          no
restart.bins@110 is marked: wrong
restart.bins: results of analysis 'bins' of stream 'restart'. Next: forebay plot run7/restart.bins
restart.numbers: results of analysis 'numbers' of stream 'restart'. Next: forebay plot run7/restart.numbers
$ forebay ls run7 | grep bins
restart.bins             3  100 to 120     480 B  results of restart  2 committed; 1 committed, marked
restart.bins@110 is marked: wrong
