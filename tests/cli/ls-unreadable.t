$ make_small_run run7 restart 100 1 a1
$ make_small_run run7 restart 120 1
$ echo "not a manifest" > run7/restart/step-000120/manifest.json
$ forebay ls run7
stream   step  time  bytes  nodes  line  state             view
restart   120                            manifest corrupt
restart   100    50  768 B      1     0  committed         no
manifest run7/restart/step-000120/manifest.json is damaged: it has no first two lines. Safe: the node files beside it, which state their snapshot themselves. Next: forebay recover RUN makes the manifest again if all node files are there
[1]
