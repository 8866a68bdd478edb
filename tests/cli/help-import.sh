forebay import --help; forebay import palm-mpi --help; forebay import palm-fortran --help
