$ forebay ls nowhere
2> forebay: there is no run nowhere: no such directory.
2>   Next: give the directory of a run, which holds the directory forebay. Or mount the file system of this run
[3]
