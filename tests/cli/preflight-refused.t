# Refusals of preflight and stagger, and a site file with a misspelt key.
needs forebay preflight
$ printf '[memory]\nwarm = 0.1\n' > site.toml
$ forebay preflight --site site.toml
2> forebay: site.toml, line 2: [memory] has no key "warm".
2>   Next: docs/reference/preflight.md has the checks and their keys
[2]
$ forebay preflight --slots 0
2> forebay: --slots must be 1 to 1024, not 0.
2>   Next: forebay preflight --help
[2]
$ forebay preflight --bytes-per-node lots
2> forebay: --bytes-per-node lots: give an amount like 4096, 64K, 64M or 2G.
2>   Next: --bytes-per-node 64M
[2]
$ forebay preflight --hosts 'n['
2> forebay: "n[" is not a valid list of hosts: check its brackets.
2>   Next: give a list such as nid00[123,977],login1
[2]
$ forebay preflight --after missing.json
2> forebay: --after missing.json: open: missing.json: No such file or directory.
2>   Next: give --after a FILE that forebay preflight wrote. For standard input: --after -
[3]
$ forebay stagger --at-once 0 -- true
2> forebay: --at-once must be 1 to 100000, not 0.
2>   Next: forebay stagger --at-once 64 -- COMMAND
[2]
$ forebay stagger --at-once 1
2> forebay: no command is given.
2>   Next: forebay stagger --at-once 64 -- COMMAND
[2]
$ forebay stagger --at-once 1 -- ./no-such-program
2> forebay: start of program: ./no-such-program: No such file or directory.
2>   Next: give the path of an existing program after --
[3]
# Lists of other programs stay.
$ mkdir lists && echo nid00007 > lists/exclude.nodes
$ forebay preflight --target lists --out lists --probe-bytes 0
2> forebay: lists/exclude.nodes exists, and is no list of a preflight that has written preflight.json beside it.
2>   Next: choose another name, or give --replace
[2]
$ cat lists/exclude.nodes
nid00007
$ forebay preflight --seconds 1e10
2> forebay: --at-once and --probes-a-node must be 1 or more, --seconds 1 to 86400.
2>   Next: forebay preflight --help
[2]
$ forebay stagger --at-once 1 --wait inf -- true
2> forebay: --wait must be 0 to 31536000 seconds (one year).
2>   Next: --wait 3600
[2]
