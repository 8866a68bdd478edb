needs write_palm_fortran
$ mkdir parts
$ write_palm_fortran parts
$ rm parts/_000002
$ forebay import palm-fortran parts run7
2> forebay: parts has no file of process 2, _000002. The next file is parts/_000003. Nothing was imported.
2>   Next: copy the missing file
[3]
