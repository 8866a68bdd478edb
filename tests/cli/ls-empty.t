$ mkdir run7
$ forebay ls run7
run7 holds no snapshot.
