$ echo "this is not PALM's" > BINOUT
$ forebay import palm-mpi BINOUT run7
2> forebay: BINOUT is no restart file that PALM wrote by MPI-IO: it does not begin with the byte order, 1 or 2.
2>   Next: forebay import palm-fortran, for files of restart_data_format fortran_binary
[2]
