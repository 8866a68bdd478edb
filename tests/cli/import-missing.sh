command -v write_palm_fortran > tools || exit 77
mkdir parts
write_palm_fortran parts
rm parts/_000002
forebay import palm-fortran parts run7
