# The program looks for forebay-mpi beside itself, then in PATH.
$ mkdir bin path
> cp "$(command -v forebay)" bin
> ln -s "$(dirname "$(dirname "$(command -v forebay)")")/lib" lib
> printf '#!/bin/sh\nread -r pid < pid; [ $$ = "$pid" ] && echo "the process that was started:"\n' > forebay-mpi
> printf 'echo "$0"; for one in "$@"; do echo "<$one>"; done; exit 42\n' >> forebay-mpi
> chmod +x forebay-mpi
$ PATH=$PWD/path bin/forebay bench save --help
2> forebay: bench needs forebay-mpi, which has MPI and is not beside this forebay as bin/forebay-mpi or in PATH.
2>   Next: use a forebay that was built with -DFOREBAY_MPI=ON
[6]
# forebay-mpi gets the arguments, and its exit code becomes the command's.
$ mv forebay-mpi path
> sh -c 'echo $$ > pid; PATH=$PWD/path exec bin/forebay bench save -h -- "a b" --version'
the process that was started:
path/forebay-mpi
<bench>
<save>
<-h>
<-->
<a b>
<--version>
[42]
$ cp path/forebay-mpi bin
> sh -c 'echo $$ > pid; PATH=$PWD/path exec bin/forebay bench'
the process that was started:
bin/forebay-mpi
<bench>
[42]
# A forebay-mpi that cannot be started is an error; the search does not continue.
$ chmod -x bin/forebay-mpi
> PATH=$PWD/path bin/forebay bench
2> forebay: start of program: bin/forebay-mpi: Permission denied.
2>   Safe: all existing data.
2>   Next: repair the permissions of bin/forebay-mpi and of the directories above it (ls -ld), then repeat the same command
[2]
