# Of a whole run, a stream of results or of packed files has one line, below the snapshots; one that is named has all.
$ for step in 100 110 120; do make_small_run run7 restart $step 1 $step; done
$ printf '[streams.restart.insitu.numbers]\nvariables = ["fields/density"]\n' > forebay.toml
$ printf '[streams.restart.insitu.bins]\nkind = "histogram"\nvariables = ["fields/density"]\nbins = 8\nrange = [0.0, 200.0]\n' >> forebay.toml
$ forebay insitu forebay.toml run7/restart@all
$ mkdir out && echo one > out/one && forebay pack out run7 --stream packed-vm > /dev/null
$ forebay ls run7 | sed 's/ [0-9]\{13\} / STEP /'
$ forebay ls run7 --json | grep -c '"step"'
$ forebay ls run7/restart.bins
$ forebay mark run7/restart.bins@110 --why wrong
$ forebay ls run7@110
$ forebay ls run7 | grep bins
