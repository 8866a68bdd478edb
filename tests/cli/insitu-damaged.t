# A fault of one snapshot does not affect the next.
$ make_small_run run7 restart 120 1
$ make_small_run run7 restart 130 1
$ printf '[streams.restart.insitu.means]\nvariables = ["gas/x"]\n' > forebay.toml
$ truncate -s -4096 run7/restart/step-000120/node-00000.h5
$ forebay insitu forebay.toml run7/restart@all
restart@120  0 results, 0 pictures
  run7/restart/step-000120/node-00000.h5 is cut short: 32768 bytes, 36864 expected.
restart@130  1 result, 0 pictures
[1]
