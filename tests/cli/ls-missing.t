$ forebay ls nowhere
2> forebay: there is no run nowhere: no such directory.
2>   Next: name the directory of a run, which holds the directory forebay; or mount the file system of this one
[3]
