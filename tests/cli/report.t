# One screen: cost, safety of the data, slow nodes and targets, advice. ASCII only on request.
$ make_told_run run7 targets=12 slow_node=3 slow_target=4 slow_target_ratio=0.1
$ forebay report run7
forebay  run7
 session 1  8 nodes x 4 ranks  9.1 min  from 2026-11-23 07:46:40 UTC
             count      bytes    median       p95       max   note
 saved          10    42.9 GB    500 ms    500 ms    500 ms   visible, 5.00 s in all
 not kept        9                                            skipped, replaced or refused, 750 ms
 waited          0
 drained        10    42.9 GB    8.44 s    9.13 s    9.28 s   509 MB/s, fastest 563 MB/s
 durable        10          -    3.08 s    3.21 s    3.21 s   from the save to the commit
            of it: copy 4.00 s, layout 100.0 ms, waiting for ranks 900 ms, waiting for a slot 0 s
 visible 1 % of the run   hidden 93.6 % of session 1   slack 7.1x (worst 6.5x)   jitter p95/p50 1.00
= " safe     newest durable: restart step 1000, 2026-11-23 07:55:43 UTC, 5.25 s before the last report \n"
           committed 10 of 10, 0 failed, 0 retries
 rate       470 MB/s |█▁    █▁     █▁    ▇▂     █▁    ▄▅     █▁     █     █▁     █| 9.14 s a bar
 slow     nodes: nid10003 0.31x (10 drains)  of 8
 slow     targets: OST0004 0.10x (80 samples)  of 12
 advice   1 of 8 nodes drains slowly: nid10003 at 0.31 x (10 drains). Slowest nodes made drains 59.3
          s longer in all. Exclude it from the next job:
              #SBATCH --exclude=nid10003
 advice   1 of 12 storage targets is slow: OST0004 at 0.10 x (80 samples). Exclude it from new
          files:
              lfs setstripe -c 11 -o 0-3,5-9,16-17 run7
$ forebay report run7 --plain
forebay  run7
 session 1  8 nodes x 4 ranks  9.1 min  from 2026-11-23 07:46:40 UTC
             count      bytes    median       p95       max   note
 saved          10    42.9 GB    500 ms    500 ms    500 ms   visible, 5.00 s in all
 not kept        9                                            skipped, replaced or refused, 750 ms
 waited          0
 drained        10    42.9 GB    8.44 s    9.13 s    9.28 s   509 MB/s, fastest 563 MB/s
 durable        10          -    3.08 s    3.21 s    3.21 s   from the save to the commit
            of it: copy 4.00 s, layout 100.0 ms, waiting for ranks 900 ms, waiting for a slot 0 s
 visible 1 % of the run   hidden 93.6 % of session 1   slack 7.1x (worst 6.5x)   jitter p95/p50 1.00
= " safe     newest durable: restart step 1000, 2026-11-23 07:55:43 UTC, 5.25 s before the last report \n"
           committed 10 of 10, 0 failed, 0 retries
 rate       470 MB/s |@.    @.     @.    #:     @.    =+     @.     @     @.     @| 9.14 s a bar
 slow     nodes: nid10003 0.31x (10 drains)  of 8
 slow     targets: OST0004 0.10x (80 samples)  of 12
 advice   1 of 8 nodes drains slowly: nid10003 at 0.31 x (10 drains). Slowest nodes made drains 59.3
          s longer in all. Exclude it from the next job:
              #SBATCH --exclude=nid10003
 advice   1 of 12 storage targets is slow: OST0004 at 0.10 x (80 samples). Exclude it from new
          files:
              lfs setstripe -c 11 -o 0-3,5-9,16-17 run7
# Saves that waited, drains that failed or lack nodes, and only the second session.
$ make_told_run mixed mixed=1
$ forebay report mixed
forebay  mixed
 2 sessions, 1 to 2  8 nodes x 4 ranks  8.2 min  from 2026-11-23 07:46:40 UTC
             count      bytes    median       p95       max   note
 saved          10    42.4 GB    500 ms    2.42 s    4.00 s   visible, 8.50 s in all
 not kept        9                                            skipped, replaced or refused, 750 ms
 waited          1          -    3.50 s    3.50 s    3.50 s   for a slot that was draining
 drained        10    41.9 GB    1.48 s    1.55 s    1.56 s   2.86 GB/s, fastest 3.00 GB/s
 durable         8          -    1.93 s    2.00 s    2.00 s   from the save to the commit
            of it: copy 4.00 s, layout 100.0 ms, waiting for ranks 900 ms, waiting for a slot 3.50 s
 visible 1.9 % of the run   hidden 61.7 % of sessions 1 to 2   slack 40.5x (worst 38.2x)   jitter
 p95/p50 4.85
 computing +5.5 % beside drains (90 % confidence: +1.0 to +9.0 %, 100 steps)
= " safe     newest durable: restart step 1000, 2026-11-23 07:55:41 UTC, 5.06 s before the last report \n"
           committed 8 of 10, 1 superseded, 1 failed, 5 retries
 rate       471 MB/s |█     █      ▇     █      █     ▃▆     █      █     █      █| 9.12 s a bar
 slow     nodes: none below 0.8x of the median (8 seen)
 slow     targets: names are unknown
 why      restart step 200: waited 3.50 s for a slot
 advice   1 of 9 saves of stream restart waited 3.50 s in all for a slot that was still draining. A
          second slot needs 537 MB more memory on each node:
              [streams.restart]
              slots = 2
 advice   Computing is 5.5 % slower during drains (90 % confidence: 1.0 to 9.0 %, 100 steps). Slow
          the agent down:
              [agent]
              slowdown_percent_max = 5
 advice   5 operations of storage failed and were tried again. See forebay/events-*.jsonl in the
          run.
# Events have no session, so they do not change the begin of one.
$ echo '{"forebay":"event","version":1,"unix_ns":1795420000000000000,"event":"committed","host":"n","stream":"s","step":1,"bytes":1,"seconds":1.0}' > mixed/forebay/events-n-0.jsonl
$ forebay report mixed --session 2 | head -n 3
forebay  mixed
 session 2  8 nodes x 4 ranks  4.1 min  from 2026-11-23 07:51:40 UTC
             count      bytes    median       p95       max   note
# Names cannot control the terminal.
$ make_told_run hostile hostile=1 mixed=1 targets=4 nodes=4 snapshots=3
$ forebay report hostile --plain | head -n 22
forebay  hostile
 session 1  4 nodes x 4 ranks  2.1 min  from 2026-11-23 07:46:40 UTC
             count      bytes    median       p95       max   note
 saved           3    5.91 GB    500 ms    3.65 s    4.00 s   visible, 5.00 s in all
 waited          1          -    3.50 s    3.50 s    3.50 s   for a slot that was draining
 drained         3    5.91 GB    1.50 s    1.55 s    1.56 s   1.38 GB/s, fastest 1.43 GB/s
 durable         2          -    1.90 s    1.95 s    1.95 s   from the save to the commit
            of it: copy 1.20 s, layout 30.0 ms, waiting for ranks 270 ms, waiting for a slot 3.50 s
 visible 3.9 % of the run   hidden 47.0 % of session 1   slack 39.8x (worst 38.6x)   jitter p95/p50
 7.30
 safe     newest durable: </script><img src=x onerror=aler... step 200, 2026-11-23 07:47:41 UTC,
          65.1 s before the last report   committed 2 of 3, 1 superseded, 0 failed, 0 retries
 rate      1.01 GB/s |@                           *-                          .*  | 2.12 s a bar
 slow     nodes: none below 0.8x of the median (4 seen)
 slow     targets: none below 0.8x of the median (4 seen)
 why      </script><img src=x onerror=aler... step 200: because </script><img src=x
          onerror=alert(1)>'"&amp;\x0a\x1b[2J\xe2\x80\xae\xff
 why      </script><img src=x onerror=aler... step 100: because </script><img src=x
          onerror=alert(1)>'"&amp;\x0a\x1b[2J\xe2\x80\xae\xff
 why      </script><img src=x onerror=aler... step 300: because </script><img src=x
          onerror=alert(1)>'"&amp;\x0a\x1b[2J\xe2\x80\xae\xff
 advice   1 of 3 saves of stream </script><img src=x onerror=alert(1)>'"&amp;\x0a\x1b[2J\xe2\x80\...
# Refused calls and missing runs.
$ forebay report
2> forebay: no run is given.
2>   Next: forebay report RUN
[2]
$ forebay report run7 --session=-3
2> forebay: --session -3 is not the number of a session.
2>   Next: forebay report --help
[2]
$ forebay report nowhere
2> forebay: there is no run nowhere: no such directory.
2>   Next: give the directory of a run, which holds the directory forebay. Or mount the file system of this run
[3]
$ mkdir empty
$ forebay report empty
2> forebay: there is no run empty: the directory is empty.
2>   Next: give the directory of a run, which holds the directory forebay. Or mount the file system of this run
[3]
$ forebay report run7 --session 5
2> forebay: no agent has reported on session 5 of run7.
2>   Next: leave --session out for all sessions
[3]
$ echo mine > page.html
$ forebay report run7 --html page.html
2> forebay: page.html exists, and is no file that forebay report has written.
2>   Next: choose another name, or give --replace
[2]
$ forebay report run7 --html no/such/place.html
2> forebay: the directory of no/such/place.html, no/such, does not exist; nothing was written.
2>   Next: mkdir -p no/such
[3]
