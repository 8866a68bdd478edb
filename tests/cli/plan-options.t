# The cost of a run from options only: each input with its origin, predictions, what-if rows, and advice.
$ forebay plan --nodes 64 --bytes-per-node 20G --drain-rate 200M:0.1 --step-seconds 90 --mtbf 6h --slow-nodes 0.05:0.5 --what-if slots=0,2 --what-if every=2,4
forebay plan
 64 nodes, 21.5 GB each, a save every 1 x 90.0 s
 input                            value    cv  n  origin   from
 nodes                               64           given    --nodes
 node_bytes                     21.5 GB           given    --bytes-per-node
 save_rate_bytes_per_second   10.0 GB/s           assumed  memory of a node of two sockets
 drain_rate_bytes_per_second   210 MB/s  0.10     given    --drain-rate
 read_rate_bytes_per_second    419 MB/s           assumed  twice the drain
 slow_node_share                   0.05           given    --slow-nodes
 slow_node_ratio                    0.5           given    --slow-nodes
 step_seconds                    90.0 s           given    --step-seconds
 save_every_steps                     1           assumed  each step
 steps                              500           assumed  500 saves
 slots                                1           assumed  the default of a stream
 kept_snapshots                       3           assumed  the default of a stream
 mtbf_seconds                     6.0 h           given    --mtbf
 restart_fixed_seconds          300.0 s           assumed  five minutes to start again
 predicted  closed form  simulated      p10      p90  what
 progress        0.3884       0.39   0.3743   0.4066  computing that counts, of all the time
 copy            2.15 s                               into the slot, without waits
 visible        134.5 s    135.2 s  126.0 s  144.1 s  of a save to the application
 drain          222.3 s    224.4 s  216.2 s  233.7 s  from the seal to the commit
 slack                      0.4011   0.3852   0.4163  computing between saves / drain
 hidden           0.401                               of copy and drain
 overhead         1.494                               visible / computing between saves
 restart        351.2 s                               of a failure
 failures                        5        3        6  of the whole run
 lost work                   811 s  408.5 s   1079 s  of the whole run
 whole run                  32.0 h   30.7 h   33.4 h
 interval  Young 304.6 s, Daly 303.2 s, simulator 270.0 s: every 3 steps
           only the simulator counts drains (222.3 s), restarts (351.2 s) and
           whole steps (90.0 s); a gain below 0.05 % changes nothing
 storage   3 x 1.37 TB = 4.12 TB; all saves write 687 TB
 what if     progress    p10    p90  visible    drain   slack  whole run
 as planned     0.390  0.374  0.407  135.2 s  224.4 s  0.4011     32.0 h
 slots = 0      0.281  0.274  0.288  223.8 s  223.9 s   0.402     44.6 h
 slots = 2      0.424  0.413  0.433  114.2 s  223.6 s  0.4024     29.5 h
 every = 2      0.776  0.737  0.819   46.9 s  225.0 s  0.8002     16.1 h
 every = 4      0.969  0.922  0.994   2.15 s  224.0 s   1.607     12.9 h
 warn      a save every 3 steps (270.0 s) gives progress in 0.963 of the time,
           every 1 steps 0.392
 warn      2 slots give progress in 0.424 of the time instead of 0.390, for 21.5
           GB more memory a node
 warn      5 % of the nodes at 0.5 x cost 93.9 s a save and 0.280 of the time:
           progress is 0.670 without them, 0.390 with them
 warn      a drain takes 222.3 s, but saves are 90.0 s apart: save every 3
           steps, or use a faster target
# Before the end of the job.
$ forebay plan --nodes 64 --bytes-per-node 20G --drain-rate 200M --step-seconds 2m --mtbf 6h --ends-in 10m | tail -n 2
 note      a save needs up to 235.2 s: the last durable save begins within 364.8
           s, 3 saves from now on at this interval
# Missing inputs and invalid inputs.
$ forebay plan --nodes 64
2> forebay: there is no value for the bytes of a node.
2>   Next: give --bytes-per-node 64G, or --run RUN, or a file of forebay preflight or forebay bench run
[2]
$ forebay plan --nodes 64 --bytes-per-node 20G --drain-rate 200M --step-seconds 90 --what-if colour=3
2> forebay: --what-if colour is not an input of a plan.
2>   Next: --help
[2]
$ forebay plan --case none.toml
2> forebay: --case none.toml: open: none.toml: No such file or directory.
2>   Next: give --case bench/cases/plan-hacc.toml, or another file like it
[3]
# A case gives the origin of each number.
$ cat > case.toml <<END
> title = "two nodes"
> [inputs]
> nodes = { value = 2 }
> END
$ forebay plan --case case.toml
2> forebay: case.toml, line 3: nodes needs a value, and its source.
2>   Next: forebay plan --help
[2]
$ forebay plan --nodes 8 --bytes-per-node 1G --save-rate 1G --drain-rate 1M:1e308 --step-seconds 1
2> forebay: --drain-rate 1M:1e308: a cv must be 0 to 10.
2>   Next: forebay plan --help
[2]
$ echo thesis > thesis.tex
$ forebay plan --nodes 8 --bytes-per-node 1G --save-rate 1G --drain-rate 1M --step-seconds 1 --out thesis.tex
2> forebay: thesis.tex exists, and is no plan.
2>   Next: choose another name, or give --replace
[2]
$ cat thesis.tex
thesis
