# The help of view depends on the libraries of the build.
$ forebay --help | grep -vE '^  (view|h5part) '
Save a simulation's state at memory speed; see, check and look after what was saved.
Usage: forebay [OPTIONS] SUBCOMMAND

Options:
  -h,--help                   Print this help message and exit
  --version                   Display program version information and exit

Subcommands:
  ls                          List the snapshots of a run, newest first, and what a crash left
  show                        Show what a snapshot or a node file holds: variables, types, shapes, units, bytes, ranks
  verify                      Read snapshots whole and compare every byte with what the application gave
  prune                       Remove old snapshots; only whole ones count as kept
  adopt                       Take a snapshot that was copied from another run into this one
  mark                        Say that a snapshot is not to be trusted: restarts pass over it
  unmark                      Take all marks of a snapshot away
  recover                     Finish what a crash left, at the target and staged on this node: commit what is complete, undo the rest
  stop                        Ask the simulation that uses a run to save and end, or to save
  drain                       Finish what a dead session left staged on this node: drain, commit, free the memory
  import                      Make a snapshot of files that another program wrote
  export                      Copy snapshots into one file of a format of other programs
  pack                        Pack the small files of a directory into few files of a run
  extract                     Write the files of packed streams back, or list them
  walk                        Count what is in a tree of files, and list it
  copy                        Copy a tree of files with all that it has: links, holes, ACLs, times
  sync                        Make a tree of files equal to another; copies what differs
  compare                     Say what two trees of files do not have alike
  delete                      Remove a tree of files
  archive                     Make one file of a tree, as tar has it, with all that the tree has
  restore-archive             Make a tree of an archive of forebay, tar or bsdtar; or check or list it
  migrate                     Move whole projects to another store by a plan: copy, freeze, sync, compare, remove
  agent                       Drain and commit what a session stages (the library starts this)
  forward                     Write to a run for the agents of other hosts, until it is told to end
  insitu                      Make the analyses of a stream from snapshots that are committed
  top                         Watch a run in the terminal: streams, nodes, rates, what is slow and why
  metrics                     Print the numbers of a run for Prometheus
  plot                        Draw results of analyses: over steps, as lines, or a plane
  movie                       Join the pictures that a run has made, in the order of their steps
  watch                       Show a run as a live page, to a browser on this machine or through ssh
  report                      What a run cost, whether its data are safe, what was slow and who, what to do
  trace                       Write the timeline of a run, for Perfetto: saves, drains, writes, commits
  insitu-worker               Make a stream's analyses for an agent (the agent starts this)
  bench                       Measure saves, drains and restarts against the limits of this machine (with MPI)
  plan                        What a run will cost: saves, drains, progress; which interval and slots suit it
  tune                        Find the options with which saves are fastest here, by trials in one job (with MPI)
  preflight                   Find slow and broken nodes and storage targets before a run, and leave them out
  stagger                     Run a command, at most so many at a time of all nodes that share a directory

Exit codes: 0 good; 1 damage found or work not done; 2 the call must be corrected; 3 missing; 4 corrupt;
  5 no room, or a fault that may pass; 6 unsupported by this build, machine or file version; 7 our own mistake.
Each verb has its own --help with examples.
# The whole help of one verb; options_test.py checks the options of all verbs.
$ forebay ls --help
List the snapshots of a run, newest first, and what a crash left
Usage: forebay ls [OPTIONS] RUN

Positionals:
  RUN REQUIRED                RUN, RUN/STREAM, or one step of it: RUN@120; or a file of GenericIO or HDF5

Options:
  -h,--help                   Print this help message and exit
  --staging TEXT=/dev/shm     Where this node's sessions stage
  --json                      Print JSON on standard output, and nothing else there

With --json:
  An array with an object for each snapshot: stream, step, directory, state, time, bytes (the application's),
  file_bytes (on storage), nodes, ranks, sealed_unix_ns, snapshot_id, line ("5": what session 5 saved), run_id,
  view (a path, when there is one), marks (where there are any: analysis, condition, result, value). state: committed; abandoned: the run has gone back behind it; foreign: of
  another run; each of them with error if a node file is missing, or a file or mark cannot be read; unreadable (error: kind, what,
  safe, next, text); part (nodes_arrived of nodes), old or gone: left by a crash, or work that is going on. Then one
  for each directory of the run in this node's memory: state staged, directory, served (whether its session or
  agent lives), or error, if nobody can say. Of a file of GenericIO: file, format, big_endian, ranks, dims,
  elements, partitions, bytes, compression, variables; of one of HDF5: file, format, said, steps, bytes,
  datasets, unreadable.
Examples:
  forebay ls /scratch/me/run7
  forebay ls /scratch/me/run7/restart --json
A stream of results or of packed files has one line in the list of a run; RUN/STREAM and --json list all of it.
Of the node files of a snapshot ls looks whether all are there, and opens the first. It reads no data: forebay verify does.
Exit code 1 when a committed snapshot's manifest, a node file, or an object of an HDF5 file is missing or cannot be read.

