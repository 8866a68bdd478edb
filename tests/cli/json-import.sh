if forebay view --help | grep -q "not in this build"; then exit 77; fi
command -v write_palm_mpi > tools || exit 77
write_palm_mpi BINOUT 0 plain
forebay import palm-mpi BINOUT run7 --json
