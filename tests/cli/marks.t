# A mark by hand, and one by an analysis of a drained snapshot; a report alone marks nothing.
$ make_small_run run7 restart 120 1
$ forebay mark run7 --why "the inflow was wrong"
$ forebay mark run7@last --why "the inflow was wrong"
$ forebay ls run7
$ forebay unmark run7@last
$ forebay ls run7
$ printf '[streams.restart.insitu.means]\nvariables = ["gas/x"]\ncondition = ["gas/x/count > 0", "*/nan > 0"]\n' > forebay.toml
$ forebay insitu forebay.toml run7/restart@last --only-report
$ forebay ls run7/restart
$ forebay insitu forebay.toml run7/restart@last --again
$ forebay ls run7/restart
$ forebay ls run7/restart --json
$ forebay verify run7/restart
$ sed -i 's/> 0", /> O", /' forebay.toml
$ forebay insitu forebay.toml run7/restart@last
