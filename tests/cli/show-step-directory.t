$ make_small_run run7 restart 120 1
$ make_small_run run7 restart 140 1
$ forebay show run7/restart/step-000120 | head -1
run7/restart/step-000120  step 120  time 60
