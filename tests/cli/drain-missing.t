$ forebay drain nowhere
2> forebay: nowhere is not a staging directory: open: nowhere/session.json: No such file or directory.
2>   Next: forebay drain all --staging /dev/shm
[3]
