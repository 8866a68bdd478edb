needs forebay export plain
$ make_small_run run7 restart 120 2
$ forebay export plain run7@120 one.h5 --json | grep -v '"seconds"'
{
 "path": "one.h5",
 "as": "plain",
 "stream": "restart",
 "steps": [
  120
 ],
 "bytes": 30320,
 "datasets": 3,
 "bytes_written": 1640,
 "bytes_resumed": 0,
 "bytes_read": 1640,
 "writes": 1,
 "notes": [],
 "not_exported": []
}
