$ seq 10000 > other.h5
$ forebay show other.h5
2> forebay: other.h5 is a file that Forebay does not know; neither a run nor a file of a known format.
2>   Next: name the run's directory
[2]
