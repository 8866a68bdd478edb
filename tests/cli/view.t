needs forebay view
$ make_small_run run7 restart 120 2
$ forebay view run7@last
run7/restart/step-000120.h5  shows restart@120 from 2 node files
$ forebay ls run7
stream   step  time    bytes  nodes  line  state      view
restart   120    60  1.66 kB      2     0  committed  yes
$ forebay view run7@120 --json
{
 "path": "run7/restart/step-000120.h5",
 "as": "plain",
 "step": 120,
 "steps": [
  120
 ],
 "sources": 2,
 "mappings": 6,
 "missing": [],
 "not_shown": []
}
