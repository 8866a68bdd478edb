# Requests to the simulation that uses a run. Only one of each kind is pending.
$ mkdir -p run7/forebay/sessions
$ forebay stop run7
Asked to save and end. The simulation removes run7/.stop when it obeys, at the end of a step.
$ ls -A run7
.stop
forebay
$ forebay stop run7
It was asked before to save and end, and has not obeyed yet: run7/.stop
$ forebay stop run7 --save --json
{
 "run": "run7",
 "request": "save",
 "state": "asked"
}
$ ls -A run7
.save
.stop
forebay
$ forebay stop run7 --cancel
It will not save and end: the request is withdrawn.
$ forebay stop run7 --cancel
There is no request to save and end, or it was obeyed.
$ forebay stop run7 --save --cancel --json
{
 "run": "run7",
 "request": "save",
 "state": "cancelled"
}
$ ls -A run7
forebay
$ forebay stop nothing
2> forebay: there is no run nothing: no such directory.
2>   Next: give the directory of a run, which holds the directory forebay. Or mount the file system of this run
[3]
