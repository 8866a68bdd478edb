# The stream of the snapshots has lost a step, and the results of its analyses are left.
$ make_small_run run7 restart 120 1
$ make_small_run run7 restart 130 1
$ printf '[streams.restart.insitu.means]\nvariables = ["fields/density"]\n' > forebay.toml
$ printf '[streams.restart.insitu.again]\nvariables = ["fields/density"]\n' >> forebay.toml
$ forebay insitu forebay.toml run7/restart@all
restart@120  2 results, 0 pictures
restart@130  2 results, 0 pictures
$ forebay prune run7/restart --keep 1 > out.txt
$ forebay show run7@120
2> forebay: stream restart of run7 no longer has step 120. Only results of its analyses are left.
2>   Next: choose another step of forebay ls run7, or one of: run7/restart.again@120, run7/restart.means@120
[2]
