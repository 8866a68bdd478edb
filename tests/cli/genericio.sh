make_small_run run restart 120 3
forebay export genericio run/restart@last m000
forebay ls m000
forebay verify m000
forebay show m000
printf '\377' | dd of=m000 bs=1 seek=1200 conv=notrunc status=none
forebay verify m000 || echo "exit $?"
forebay import genericio m000 again@3 || echo "exit $?"
forebay export genericio run/restart@last m000 || echo "exit $?"
forebay export genericio run/restart@last m000 --force --compress --big-endian
forebay import genericio m000 again@3
forebay verify m000
forebay verify again/restart/step-000003/node-00000.h5
