$ make_small_run run7 restart 120 1
$ make_small_run run7 fields 140 1
$ forebay show run7@140 | head -1
run7/fields/step-000140  step 140  time 70
