# If the standard descriptors are closed, no socket or file gets their numbers: a forwarder's log goes there.
$ forebay forward run7 --listen 127.0.0.1:0 --token-file token <&- >&- 2>&- &
$ forwarder=$!
$ trap 'kill $forwarder' EXIT
$ until ls -l /proc/$forwarder/fd 2> /dev/null | grep -q socket; do kill -0 $forwarder || break; sleep 0.05; done
$ for fd in 0 1 2; do readlink /proc/$forwarder/fd/$fd; done
/
/
/
