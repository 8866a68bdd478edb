# A run that is closed to the user: the permissions are the fault, not the call. Root has to give up its right to pass.
needs setpriv
$ make_small_run run7 restart 120 1
$ mkdir sub
$ closed() {
>   if [ "$(id -u)" = 0 ]; then setpriv --bounding-set=-dac_override,-dac_read_search "$@"; else "$@"; fi
> }
$ chmod 0 run7
> closed forebay ls run7
2> forebay: run7 cannot be looked at: Permission denied.
2>   Safe: all that is there.
2>   Next: repair the permissions of run7 and of the directories above it (ls -ld), then the same command again
[2]
$ closed forebay plan --run run7 2>&1 | sed "s|$PWD|HERE|g"
forebay: HERE/run7/forebay cannot be looked at: Permission denied.
  Safe: all that is there.
  Next: repair the permissions of HERE/run7/forebay and of the directories above it (ls -ld), then the same command again
$ chmod 755 run7
> chmod 0 run7/restart
> closed forebay verify run7
2> forebay: run7/restart cannot be looked at: Permission denied.
2>   Safe: all that is there.
2>   Next: repair the permissions of run7/restart and of the directories above it (ls -ld), then the same command again
[2]
$ chmod 755 run7/restart
> mv run7 sub
> chmod 0 sub
> closed forebay prune sub/run7 --keep 1
2> forebay: sub/run7 cannot be looked at: Permission denied.
2>   Safe: all that is there.
2>   Next: repair the permissions of sub/run7 and of the directories above it (ls -ld), then the same command again
[2]
$ chmod 755 sub
