echo "this is not PALM's" > BINOUT
forebay import palm-mpi BINOUT run7
