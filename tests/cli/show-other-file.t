$ seq 10000 > other.h5
$ forebay show other.h5
2> forebay: there is no run other.h5: it is a file.
2>   Next: give the directory of a run, which holds the directory forebay
[3]
