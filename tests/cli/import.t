needs write_palm_mpi
$ write_palm_mpi BINOUT 2 full
$ forebay import palm-mpi BINOUT run7 --dry-run
name                     kind        type        shape       found by
nx                       replicated  i32         scalar      the header's integers
ny                       replicated  i32         scalar      the header's integers
nz                       replicated  i32         scalar      the header's integers
current_timestep_number  replicated  i32         scalar      the header's integers
humidity                 replicated  i32         scalar      the header's integers
simulated_time           replicated  f64         scalar      the header's reals
dt_3d                    replicated  f64         scalar      the header's reals
binary_version           replicated  string[3]   scalar      the header's texts
bc_lr                    replicated  string[19]  scalar      the header's texts
empty                    replicated  string[1]   scalar      the header's texts
u                        array       f64         9 x 11 x 7  size
v                        array       f64         9 x 11 x 7  size
zs                       array       f64         9 x 11      size
t_soil                   array       f64         9 x 11 x 3  size: levels of its own
nzb_max                  array       i32         5 x 7       size
flags                    array       i32         9 x 11 x 7  size
u_init                   array       f64         7           size: a profile
global_start             array       i64         5 x 7       size; its words are integers
surf_ts                  array       f64         69          counts and values of each column: surface data
weights                  array       f64         3           size fits no shape
run7/restart/step-000360  would be imported from BINOUT: 20 variables, 18.1 kB, from 1 process
note: 'weights': 24 bytes fit no shape of the grid; kept in one dimension as f64. It is the last array, so a file that is cut short would look like this. Next: --type weights=TYPE:SHAPE, if it is something else
$ forebay import palm-mpi BINOUT run7
run7/restart/step-000360  imported from BINOUT: 20 variables, 18.1 kB, from 1 process
note: 'weights': 24 bytes fit no shape of the grid; kept in one dimension as f64. It is the last array, so a file that is cut short would look like this. Next: --type weights=TYPE:SHAPE, if it is something else
$ mkdir parts
$ write_palm_fortran parts
$ forebay import palm-fortran parts run7@400 --ghosts cut
run7/restart/step-000400  imported from parts: 16 variables, 7.57 kB, from 6 processes
note: 'nothing' of the global part is empty; there is nothing to import.
note: no boxes of the grid by their sizes, so kept as tables with the rows of each process, TABLE/value: ns_h_on_file, surf_h(0)%us. Next: --type NAME=TYPE:box, if one is
$ forebay ls run7 | cut -c 1-13
stream   step
restart   400
restart   360
$ forebay import palm-mpi BINOUT run7
2> forebay: step 360 of run7/restart is committed already; nothing was imported.
2>   Next: another step, run7@STEP, or --replace
[2]
