$ forebay ls nowhere
2> forebay: there is no run nowhere: no such directory.
[3]
