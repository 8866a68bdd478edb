$ forebay extract run7
2> forebay: there is no run run7: no such directory.
[3]
