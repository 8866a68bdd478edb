# Analyses afterwards: missing, new and existing results.
$ make_small_run run7 restart 120 1
$ printf '[streams.fields.insitu.means]\nvariables = ["a"]\n' > other.toml
$ forebay insitu other.toml run7/restart@last
2> forebay: other.toml has no analyses of stream 'restart'.
2>   Next: add [streams.restart.insitu.NAME] to it: docs/how-to/analyse-while-it-runs.md
[3]
$ printf '[streams.restart.insitu.means]\nvariables = ["fields/density", "gas/x"]\n' > forebay.toml
$ printf '[streams.restart.insitu.cut]\nkind = "slice"\nvariables = ["gas/x"]\n' >> forebay.toml
$ forebay insitu forebay.toml run7/restart@last
restart@120  1 result, 0 pictures
  analysis 'cut gas/x': variable 'gas/x' is not an array, and so cannot be sliced
[1]
$ forebay insitu forebay.toml run7/restart@last --json
[
 {
  "stream": "restart",
  "step": 120,
  "directory": "run7/restart/step-000120",
  "made": [],
  "pictures": 0,
  "problems": [
   "analysis 'cut gas/x': variable 'gas/x' is not an array, and so cannot be sliced"
  ],
  "fulfilled": []
 }
]
[1]
$ forebay show run7/restart.means@last | sed 1,3d
variable                 kind        type  shape   bytes  unit        description
fields/density/min       replicated  f64   scalar    8 B  kg m-3
fields/density/max       replicated  f64   scalar    8 B  kg m-3
fields/density/mean      replicated  f64   scalar    8 B  kg m-3
fields/density/variance  replicated  f64   scalar    8 B  (kg m-3)^2
fields/density/sum       replicated  f64   scalar    8 B  kg m-3
fields/density/count     replicated  u64   scalar    8 B
fields/density/nan       replicated  u64   scalar    8 B
fields/density/inf       replicated  u64   scalar    8 B
gas/x/min                replicated  f32   scalar    4 B  m
gas/x/max                replicated  f32   scalar    4 B  m
gas/x/mean               replicated  f64   scalar    8 B  m
gas/x/variance           replicated  f64   scalar    8 B  (m)^2
gas/x/sum                replicated  f64   scalar    8 B  m
gas/x/count              replicated  u64   scalar    8 B
gas/x/nan                replicated  u64   scalar    8 B
gas/x/inf                replicated  u64   scalar    8 B

node  file           bytes  ranks
   0  node-00000.h5  120 B  0
