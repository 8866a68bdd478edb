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
dt_3d~2                  replicated  f64         scalar      the header's reals
binary_version           replicated  string[3]   scalar      the header's texts
bc_lr                    replicated  string[19]  scalar      the header's texts
empty                    replicated  string[1]   scalar      the header's texts
u                        array       f64         9 x 11 x 7  size
v                        array       f64         9 x 11 x 7  size
zs                       array       f64         9 x 11      size
t_soil_av                array       f64         9 x 11 x 3  size: levels of its own
nzb_max                  array       i32         5 x 7       size
flags                    array       i32         9 x 11 x 7  size
u_init                   replicated  f64         7           known to PALM by its name
v~2                      array       f64         9 x 11 x 7  size
global_start_index       array       i64         5 x 7       index plane: with its neighbour it covers the surfaces
global_end_index         array       i64         5 x 7       index plane: with its neighbour it covers the surfaces
surf%ts                  array       f64         69          surface data: the counts match the index planes
surf%css                 array       f64         2 x 69      surface data: the counts match the index planes
m_soil                   array       f64         69          size fits no shape
q_init                   replicated  f64         7           known to PALM by its name
weights                  array       f64         3           size fits no shape
run7/restart/step-000360  would be imported from BINOUT: 26 variables, 25.7 kB, from 1 process
note: names that occur twice with different data: PALM reads the first one, so it keeps the name. The other variable gets a new name: 'dt_3d' as 'dt_3d~2', 'v' as 'v~2'
note: not fields of the grid by their sizes, and not surface data by the index planes, so kept in one dimension: m_soil, weights. The last one is the file's last array. A file that was cut would look the same. Next: --type NAME=TYPE:SHAPE to set a shape
note: repeated names with the same bytes, kept once: nz
$ forebay import palm-mpi BINOUT run7
run7/restart/step-000360  imported from BINOUT: 26 variables, 25.7 kB, from 1 process
note: names that occur twice with different data: PALM reads the first one, so it keeps the name. The other variable gets a new name: 'dt_3d' as 'dt_3d~2', 'v' as 'v~2'
note: not fields of the grid by their sizes, and not surface data by the index planes, so kept in one dimension: m_soil, weights. The last one is the file's last array. A file that was cut would look the same. Next: --type NAME=TYPE:SHAPE to set a shape
note: repeated names with the same bytes, kept once: nz
$ mkdir parts
$ write_palm_fortran parts
$ forebay import palm-fortran parts run7@400 --ghosts cut
run7/restart/step-000400  imported from parts: 26 variables, 13.9 kB, from 6 processes
note: names that occur twice with different data: PALM reads the last one, so it keeps the name. The other variable gets a new name: 'time_radiation' as 'time_radiation~2', 'e' as 'e~2'
note: not boxes of the grid by their sizes, so kept as tables with the rows of each process, TABLE/value: mine. Next: --type NAME=TYPE:box for a box
note: repeated names with the same bytes, kept once: passive_scalar
note: empty, so left out: nothing
$ forebay ls run7 | cut -c 1-13
stream   step
restart   400
restart   360
$ forebay import palm-mpi BINOUT run7
2> forebay: step 360 of run7/restart is committed already. Nothing was imported.
2>   Next: give another step, run7@STEP, or --replace
[2]
$ forebay import palm-mpi parts run7
2> forebay: parts is a directory, and restart_data_format mpi is one file.
2>   Next: for a directory with a file for each process: forebay import palm-fortran
[2]
$ forebay import palm-fortran BINOUT run7
2> forebay: BINOUT is not a fortran_binary restart file of PALM: its first record does not have 4 bytes.
2>   Next: for a file of restart_data_format mpi: forebay import palm-mpi
[2]
$ forebay import palm-fortran parts/_000002 run7
2> forebay: parts/_000002 is the file of process 2 of 6. Nothing was imported.
2>   Next: give the directory with the files of all processes
[2]
