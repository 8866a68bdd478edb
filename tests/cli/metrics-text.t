# The numbers of a run in Prometheus' format.
$ make_watched_run run7 left 1
$ forebay metrics run7
= "# HELP forebay_build_info The version that computed these figures.\n"
= "# TYPE forebay_build_info gauge\n"
forebay_build_info{run="run7",version="VERSION"} 1
= "# HELP forebay_stage_bytes_total Bytes that ranks have saved.\n"
= "# TYPE forebay_stage_bytes_total counter\n"
forebay_stage_bytes_total{run="run7"} 5368709120
= "# HELP forebay_stage_seconds Copying and checksumming of a snapshot, on the slowest node.\n"
= "# TYPE forebay_stage_seconds histogram\n"
forebay_stage_seconds_bucket{run="run7",le="6.103515625e-05"} 0
forebay_stage_seconds_bucket{run="run7",le="0.0001220703125"} 0
forebay_stage_seconds_bucket{run="run7",le="0.000244140625"} 0
forebay_stage_seconds_bucket{run="run7",le="0.00048828125"} 0
forebay_stage_seconds_bucket{run="run7",le="0.0009765625"} 0
forebay_stage_seconds_bucket{run="run7",le="0.001953125"} 0
forebay_stage_seconds_bucket{run="run7",le="0.00390625"} 0
forebay_stage_seconds_bucket{run="run7",le="0.0078125"} 0
forebay_stage_seconds_bucket{run="run7",le="0.015625"} 0
forebay_stage_seconds_bucket{run="run7",le="0.03125"} 0
forebay_stage_seconds_bucket{run="run7",le="0.0625"} 0
forebay_stage_seconds_bucket{run="run7",le="0.125"} 0
forebay_stage_seconds_bucket{run="run7",le="0.25"} 0
forebay_stage_seconds_bucket{run="run7",le="0.5"} 10
forebay_stage_seconds_bucket{run="run7",le="1"} 10
forebay_stage_seconds_bucket{run="run7",le="2"} 10
forebay_stage_seconds_bucket{run="run7",le="4"} 10
forebay_stage_seconds_bucket{run="run7",le="8"} 10
forebay_stage_seconds_bucket{run="run7",le="16"} 10
forebay_stage_seconds_bucket{run="run7",le="32"} 10
forebay_stage_seconds_bucket{run="run7",le="64"} 10
forebay_stage_seconds_bucket{run="run7",le="128"} 10
forebay_stage_seconds_bucket{run="run7",le="256"} 10
forebay_stage_seconds_bucket{run="run7",le="512"} 10
forebay_stage_seconds_bucket{run="run7",le="1024"} 10
forebay_stage_seconds_bucket{run="run7",le="2048"} 10
forebay_stage_seconds_bucket{run="run7",le="4096"} 10
forebay_stage_seconds_bucket{run="run7",le="8192"} 10
forebay_stage_seconds_bucket{run="run7",le="+Inf"} 10
forebay_stage_seconds_sum{run="run7"} 3.9999999999999996
forebay_stage_seconds_count{run="run7"} 10
= "# HELP forebay_visible_seconds Time of a save in which the application could not compute, on the slowest node.\n"
= "# TYPE forebay_visible_seconds histogram\n"
forebay_visible_seconds_bucket{run="run7",le="6.103515625e-05"} 0
forebay_visible_seconds_bucket{run="run7",le="0.0001220703125"} 0
forebay_visible_seconds_bucket{run="run7",le="0.000244140625"} 0
forebay_visible_seconds_bucket{run="run7",le="0.00048828125"} 0
forebay_visible_seconds_bucket{run="run7",le="0.0009765625"} 0
forebay_visible_seconds_bucket{run="run7",le="0.001953125"} 0
forebay_visible_seconds_bucket{run="run7",le="0.00390625"} 0
forebay_visible_seconds_bucket{run="run7",le="0.0078125"} 0
forebay_visible_seconds_bucket{run="run7",le="0.015625"} 0
forebay_visible_seconds_bucket{run="run7",le="0.03125"} 0
forebay_visible_seconds_bucket{run="run7",le="0.0625"} 0
forebay_visible_seconds_bucket{run="run7",le="0.125"} 0
forebay_visible_seconds_bucket{run="run7",le="0.25"} 0
forebay_visible_seconds_bucket{run="run7",le="0.5"} 10
forebay_visible_seconds_bucket{run="run7",le="1"} 10
forebay_visible_seconds_bucket{run="run7",le="2"} 10
forebay_visible_seconds_bucket{run="run7",le="4"} 10
forebay_visible_seconds_bucket{run="run7",le="8"} 10
forebay_visible_seconds_bucket{run="run7",le="16"} 10
forebay_visible_seconds_bucket{run="run7",le="32"} 10
forebay_visible_seconds_bucket{run="run7",le="64"} 10
forebay_visible_seconds_bucket{run="run7",le="128"} 10
forebay_visible_seconds_bucket{run="run7",le="256"} 10
forebay_visible_seconds_bucket{run="run7",le="512"} 10
forebay_visible_seconds_bucket{run="run7",le="1024"} 10
forebay_visible_seconds_bucket{run="run7",le="2048"} 10
forebay_visible_seconds_bucket{run="run7",le="4096"} 10
forebay_visible_seconds_bucket{run="run7",le="8192"} 10
forebay_visible_seconds_bucket{run="run7",le="+Inf"} 10
forebay_visible_seconds_sum{run="run7"} 5
forebay_visible_seconds_count{run="run7"} 10
= "# HELP forebay_visible_part_seconds_total Parts of that time: copying, the layout, waiting for ranks, waiting for a slot.\n"
= "# TYPE forebay_visible_part_seconds_total counter\n"
forebay_visible_part_seconds_total{run="run7",part="copy"} 3.9999999999999996
forebay_visible_part_seconds_total{run="run7",part="layout"} 0.09999999999999999
forebay_visible_part_seconds_total{run="run7",part="ranks"} 0.8999999999999998
forebay_visible_part_seconds_total{run="run7",part="slot"} 0
= "# HELP forebay_wait_seconds_total Waiting of the slowest rank, by reason.\n"
= "# TYPE forebay_wait_seconds_total counter\n"
forebay_wait_seconds_total{run="run7",reason="slot"} 0
= "# HELP forebay_missing_records_total Records of saves that ranks did not write in time.\n"
= "# TYPE forebay_missing_records_total counter\n"
forebay_missing_records_total{run="run7"} 0
= "# HELP forebay_drain_bytes_total Bytes that agents have written, by storage target.\n"
= "# TYPE forebay_drain_bytes_total counter\n"
forebay_drain_bytes_total{run="run7",target="OST0000"} 1342177280
forebay_drain_bytes_total{run="run7",target="OST0001"} 1342177280
forebay_drain_bytes_total{run="run7",target="OST0002"} 1342177280
forebay_drain_bytes_total{run="run7",target="OST0003"} 1342177280
= "# HELP forebay_drain_seconds From the first write of a node file to its rename, on the slowest node.\n"
= "# TYPE forebay_drain_seconds histogram\n"
forebay_drain_seconds_bucket{run="run7",le="6.103515625e-05"} 0
forebay_drain_seconds_bucket{run="run7",le="0.0001220703125"} 0
forebay_drain_seconds_bucket{run="run7",le="0.000244140625"} 0
forebay_drain_seconds_bucket{run="run7",le="0.00048828125"} 0
forebay_drain_seconds_bucket{run="run7",le="0.0009765625"} 0
forebay_drain_seconds_bucket{run="run7",le="0.001953125"} 0
forebay_drain_seconds_bucket{run="run7",le="0.00390625"} 0
forebay_drain_seconds_bucket{run="run7",le="0.0078125"} 0
forebay_drain_seconds_bucket{run="run7",le="0.015625"} 0
forebay_drain_seconds_bucket{run="run7",le="0.03125"} 0
forebay_drain_seconds_bucket{run="run7",le="0.0625"} 0
forebay_drain_seconds_bucket{run="run7",le="0.125"} 0
forebay_drain_seconds_bucket{run="run7",le="0.25"} 0
forebay_drain_seconds_bucket{run="run7",le="0.5"} 0
forebay_drain_seconds_bucket{run="run7",le="1"} 0
forebay_drain_seconds_bucket{run="run7",le="2"} 10
forebay_drain_seconds_bucket{run="run7",le="4"} 10
forebay_drain_seconds_bucket{run="run7",le="8"} 10
forebay_drain_seconds_bucket{run="run7",le="16"} 10
forebay_drain_seconds_bucket{run="run7",le="32"} 10
forebay_drain_seconds_bucket{run="run7",le="64"} 10
forebay_drain_seconds_bucket{run="run7",le="128"} 10
forebay_drain_seconds_bucket{run="run7",le="256"} 10
forebay_drain_seconds_bucket{run="run7",le="512"} 10
forebay_drain_seconds_bucket{run="run7",le="1024"} 10
forebay_drain_seconds_bucket{run="run7",le="2048"} 10
forebay_drain_seconds_bucket{run="run7",le="4096"} 10
forebay_drain_seconds_bucket{run="run7",le="8192"} 10
forebay_drain_seconds_bucket{run="run7",le="+Inf"} 10
forebay_drain_seconds_sum{run="run7"} 13.921772800000001
forebay_drain_seconds_count{run="run7"} 10
= "# HELP forebay_drain_slack_ratio Time from save to save over the drain: median of all snapshots.\n"
= "# TYPE forebay_drain_slack_ratio gauge\n"
forebay_drain_slack_ratio{run="run7"} 43.097959478264144
= "# HELP forebay_hidden_ratio 1 - visible / (visible + drain).\n"
= "# TYPE forebay_hidden_ratio gauge\n"
forebay_hidden_ratio{run="run7"} 0.7077030088513426
= "# HELP forebay_straggler_ratio Slowest drain over the median drain, of the newest snapshot.\n"
= "# TYPE forebay_straggler_ratio gauge\n"
forebay_straggler_ratio{run="run7"} 0
= "# HELP forebay_checksum_bytes_total Bytes that were checksummed during saves and drains.\n"
= "# TYPE forebay_checksum_bytes_total counter\n"
forebay_checksum_bytes_total{run="run7"} 10737418240
= "# HELP forebay_snapshots_total Snapshots that agents have committed.\n"
= "# TYPE forebay_snapshots_total counter\n"
forebay_snapshots_total{run="run7"} 10
= "# HELP forebay_retries_total Drains that were tried again.\n"
= "# TYPE forebay_retries_total counter\n"
forebay_retries_total{run="run7"} 0
= "# HELP forebay_last_durable_step Step of the newest committed snapshot.\n"
= "# TYPE forebay_last_durable_step gauge\n"
forebay_last_durable_step{run="run7",stream="restart"} 1000
= "# HELP forebay_last_durable_timestamp_seconds Time of its commit, in seconds since 1970.\n"
= "# TYPE forebay_last_durable_timestamp_seconds gauge\n"
forebay_last_durable_timestamp_seconds{run="run7",stream="restart"} 1795420541.9131775
= "# HELP forebay_drain_backlog_bytes Bytes of node files that are sealed and not drained, of all nodes.\n"
= "# TYPE forebay_drain_backlog_bytes gauge\n"
forebay_drain_backlog_bytes{run="run7"} 536870912
= "# HELP forebay_node_status_timestamp_seconds When the agent reported this, in seconds since 1970.\n"
= "# TYPE forebay_node_status_timestamp_seconds gauge\n"
forebay_node_status_timestamp_seconds{run="run7",node="nid10000"} 1795420600
= "# HELP forebay_node_drain_backlog_bytes Bytes of node files that are sealed and not drained.\n"
= "# TYPE forebay_node_drain_backlog_bytes gauge\n"
forebay_node_drain_backlog_bytes{run="run7",node="nid10000"} 536870912
= "# HELP forebay_node_drain_bytes_total Bytes of node files that the agent has drained.\n"
= "# TYPE forebay_node_drain_bytes_total counter\n"
forebay_node_drain_bytes_total{run="run7",node="nid10000"} 5368709120
= "# HELP forebay_node_stored_bytes_total Bytes of these node files at the target.\n"
= "# TYPE forebay_node_stored_bytes_total counter\n"
forebay_node_stored_bytes_total{run="run7",node="nid10000"} 5368709120
= "# HELP forebay_node_drain_seconds_total Time that the agent drained.\n"
= "# TYPE forebay_node_drain_seconds_total counter\n"
forebay_node_drain_seconds_total{run="run7",node="nid10000"} 13
= "# HELP forebay_node_drain_cpu_seconds_total CPU time of these drains.\n"
= "# TYPE forebay_node_drain_cpu_seconds_total counter\n"
forebay_node_drain_cpu_seconds_total{run="run7",node="nid10000"} 0
= "# HELP forebay_node_drains_total Drains that the agent has begun.\n"
= "# TYPE forebay_node_drains_total counter\n"
forebay_node_drains_total{run="run7",node="nid10000"} 10
= "# HELP forebay_node_commits_total Snapshots whose commit the agent has seen.\n"
= "# TYPE forebay_node_commits_total counter\n"
forebay_node_commits_total{run="run7",node="nid10000"} 10
= "# HELP forebay_node_slowdown_ratio Slowdown of the application's steps beside drains.\n"
= "# TYPE forebay_node_slowdown_ratio gauge\n"
forebay_node_slowdown_ratio{run="run7",node="nid10000"} 0
= "# HELP forebay_errors_total Drains and commits that failed and will be tried again.\n"
= "# TYPE forebay_errors_total counter\n"
forebay_errors_total{run="run7",node="nid10000",op="drain"} 3
= "# HELP forebay_node_last_durable_step Newest committed step, as the node knows it.\n"
= "# TYPE forebay_node_last_durable_step gauge\n"
forebay_node_last_durable_step{run="run7",node="nid10000",stream="restart"} 1000
$ forebay metrics run7 --openmetrics | tail -n 3
= "# TYPE forebay_node_last_durable_step gauge\n"
forebay_node_last_durable_step{run="run7",node="nid10000",stream="restart"} 1000
= "# EOF\n"
$ forebay metrics run7 --out run7.prom
$ forebay metrics run7 | cmp - run7.prom
# Names are escaped.
$ make_watched_run run8 hostile 1
$ forebay metrics run8 | grep -e target= -e stream=
forebay_drain_bytes_total{run="run8",target="x\\x1b]0;owned\\x07\\xc2\\x9b31m\\xe2\\x80\\xae\\x0a\"}<b>\\"} 5368709120
forebay_last_durable_step{run="run8",stream="x\\x1b]0;owned\\x07\\xc2\\x9b31m\\xe2\\x80\\xae\\x0a\"}<b>\\"} 1000
forebay_last_durable_timestamp_seconds{run="run8",stream="x\\x1b]0;owned\\x07\\xc2\\x9b31m\\xe2\\x80\\xae\\x0a\"}<b>\\"} 1795420541.9131775
forebay_node_last_durable_step{run="run8",node="nid10000",stream="x\\x1b]0;owned\\x07\\xc2\\x9b31m\\xe2\\x80\\xae\\x0a\"}<b>\\"} 1000
# No agent has written anything.
$ mkdir run9
$ forebay metrics run9
2> forebay: there is no run run9: the directory is empty.
2>   Next: give the directory of a run, which holds the directory forebay. Or mount the file system of this run
[3]
$ forebay metrics run10
2> forebay: there is no run run10: no such directory.
2>   Next: give the directory of a run, which holds the directory forebay. Or mount the file system of this run
[3]
