# The help of view depends on the libraries of the build.
$ forebay --help | grep -vE '^  (view|h5part) '
Save a simulation's state at memory speed. Inspect, check and manage the saves.
Usage: forebay [OPTIONS] SUBCOMMAND

Options:
  -h,--help                   Print this help message and exit
  --version                   Print the version and the parts of this build, and exit

Subcommands:
  ls                          List the snapshots of a run, newest first, and the leftovers of a crash
  show                        Show the contents of a snapshot or node file: variables, types, shapes, units, bytes, ranks
  verify                      Read snapshots completely, and compare every byte with the data that were saved
  prune                       Remove old snapshots, and keep only whole snapshots
  adopt                       Take a snapshot that was copied from another run into this run
  mark                        Mark a snapshot as bad, so that restarts ignore it
  unmark                      Remove all marks of a snapshot
  recover                     Finish the work of a crash, on the target and this node: commit complete snapshots, undo the rest
  stop                        Ask the simulation of a run to save and end, or only to save
  drain                       Commit the snapshots that a dead session left on this node, and free the memory
  job                         Run a simulation in a job script, and commit all snapshots after its end
  import                      Make a snapshot from the files of another program
  export                      Copy snapshots into one file for other programs
  pack                        Pack the small files of a directory into few files of a run
  extract                     Write packed files back to a directory, or list them
  walk                        Count the files of a tree, and list them
  copy                        Copy a tree of files with its links, holes, ACLs and times
  sync                        Make one tree of files equal to another, and copy only differences
  compare                     List the differences of two snapshots
  delete                      Remove a tree of files
  archive                     Pack a tree of files into one tar file, with all attributes
  restore-archive             Restore, check or list an archive made by forebay, tar or bsdtar
  migrate                     Move whole projects to another store by a plan: copy, freeze, sync, compare, remove
  agent                       Drain and commit the snapshots that a session stages (the library starts this)
  forward                     Write to a run for the agents of other hosts, until a signal ends it
  insitu                      Run the analyses of a stream on committed snapshots
  top                         Watch a run in the terminal: streams, nodes, rates, slow parts and reasons
  metrics                     Print the figures of a run for Prometheus
  plot                        Draw results of analyses as lines over steps, or as a plane
  movie                       Join the pictures of a run into a movie, in the order of their steps
  watch                       Show a run as a live page, in a browser on this machine or through ssh
  report                      Report the cost of a run, the safety of its data, slow nodes and targets, and the next step
  trace                       Write the timeline of a run for Perfetto: saves, drains, writes, commits
  insitu-worker               Run the analyses of a stream for an agent (the agent starts this)
  bench                       Measure saves, drains and restarts against the limits of this machine (with MPI)
  plan                        Predict the cost of saves, drains and failures, and find the best interval and slots
  tune                        Find the options with which saves are fastest here, by trials in one job (with MPI)
  preflight                   Find slow and broken nodes and storage targets before a run, and exclude them
  stagger                     Run a command on many nodes, but only on a few at a time

Exit codes: 0 good; 1 damage found or work not done; 2 the call must be corrected; 3 missing; 4 corrupt;
  5 no room, or a fault that may pass; 6 unsupported by this build, machine or file version; 7 our own mistake.
Each verb has its own --help with examples.
# The whole help of one verb; options_test.py checks the options of all verbs.
$ forebay ls --help
List the snapshots of a run, newest first, and the leftovers of a crash
Usage: forebay ls [OPTIONS] RUN

Positionals:
  RUN REQUIRED                RUN, RUN/STREAM, or one step: RUN@120. Or a GenericIO or HDF5 file

Options:
  -h,--help                   Print this help message and exit
  --staging TEXT=/dev/shm     Look in this directory for staged copies of this node's sessions
  --json                      Print JSON on standard output, and nothing else there

With --json:
  An array with an object for each snapshot: stream, step, directory, state, time, bytes (the application's),
  file_bytes (on storage), nodes, ranks, sealed_unix_ns, snapshot_id, line ("5": saved by session 5), run_id,
  view (a path, if there is a view), marks (if there are any: analysis, condition, result, value). state:
  committed; abandoned: the run has gone back behind it; foreign: of another run; each of them with error if a
  node file is missing, or a file or mark cannot be read; unreadable (error: kind, what, safe, next, text); part
  (nodes_arrived of nodes), old or gone: left by a crash, or in progress. Then one for each directory of the run
  in this node's memory: state staged, directory, served (true if its session or agent runs), or error, if this is
  unknown. Then one for each sealed snapshot that may be in the memory of other hosts: state sealed, stream, step,
  hosts. For a GenericIO file: file, format, big_endian, ranks, dims, elements, partitions, bytes, compression,
  variables. For an HDF5 file: file, format, said, steps, bytes, datasets, unreadable.
Examples:
  forebay ls /scratch/me/run7
  forebay ls /scratch/me/run7/restart --json
A stream of results or of packed files has one line in the list of a run. RUN/STREAM and --json list all of it.
ls checks that all node files of a snapshot exist, and opens the first. It reads no data: use forebay verify.
Exit code 1 if a manifest, a node file, or an object of an HDF5 file is missing or cannot be read.

