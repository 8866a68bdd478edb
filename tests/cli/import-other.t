$ echo "this is not PALM's" > BINOUT
$ forebay import palm-mpi BINOUT run7
2> forebay: BINOUT is not an MPI-IO restart file of PALM: it does not begin with the byte order, 1 or 2.
2>   Next: for files of restart_data_format fortran_binary: forebay import palm-fortran
[2]
