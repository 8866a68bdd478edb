# For a run without access the error names the permissions, not the call. Root must give up its privilege first.
needs setpriv
$ make_small_run run7 restart 120 1
$ mkdir sub
$ closed() {
>   if [ "$(id -u)" = 0 ]; then setpriv --bounding-set=-dac_override,-dac_read_search "$@"; else "$@"; fi
> }
$ chmod 0 run7
> closed forebay ls run7
2> forebay: run7 cannot be read: Permission denied.
2>   Safe: all existing data.
2>   Next: repair the permissions of run7 and of the directories above it (ls -ld), then repeat the same command
[2]
$ closed forebay plan --run run7 2>&1 | sed "s|$PWD|HERE|g"
forebay: run7/forebay cannot be read: Permission denied.
  Safe: all existing data.
  Next: repair the permissions of the directory run7 (ls -ld), then repeat the same command
$ chmod 755 run7
> chmod 0 run7/restart
> closed forebay verify run7
2> forebay: run7 has no directory forebay of a run, and some of its directories cannot be read: open of directory: run7/restart: Permission denied.
2>   Next: give the directory of a run, or repair the permissions here (ls -l)
[2]
$ chmod 755 run7/restart
> chmod 0 run7/restart/step-000120
> closed forebay prune run7 --above 100
2> forebay: run7/restart/step-000120/manifest.json cannot be opened: Permission denied.
2>   Safe: all existing data.
2>   Next: repair the permissions of the directory run7/restart/step-000120 (ls -ld), then repeat the same command
[2]
$ chmod 755 run7/restart/step-000120
> mv run7 sub
> chmod 0 sub
> closed forebay prune sub/run7 --keep 1
2> forebay: sub/run7 cannot be read: Permission denied.
2>   Safe: all existing data.
2>   Next: repair the permissions of the directory sub (ls -ld), then repeat the same command
[2]
$ chmod 755 sub
