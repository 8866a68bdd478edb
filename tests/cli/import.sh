command -v write_palm_mpi > tools || exit 77
write_palm_mpi BINOUT 2 full
forebay import palm-mpi BINOUT run7 --dry-run
forebay import palm-mpi BINOUT run7
mkdir parts
write_palm_fortran parts
forebay import palm-fortran parts run7@400 --ghosts cut
forebay ls run7 | cut -c 1-14
forebay import palm-mpi BINOUT run7
