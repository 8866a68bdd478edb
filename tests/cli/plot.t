# Results over steps: lists, their numbers, and results that cannot be drawn.
$ for step in 100 110 120; do make_small_run run7 restart $step 1 $step; done
$ printf '[streams.restart.insitu.numbers]\nvariables = ["fields/density", "gas/x"]\n' > forebay.toml
$ printf '[streams.restart.insitu.bins]\nkind = "histogram"\nvariables = ["fields/density"]\nbins = 8\nrange = [0.0, 200.0]\n' >> forebay.toml
$ printf '[streams.restart.insitu.cut]\nkind = "slice"\nvariables = ["fields/density"]\nlength = [3.0]\npicture = false\n' >> forebay.toml
$ forebay insitu forebay.toml run7/restart@all
restart@100  3 results, 0 pictures
restart@110  3 results, 0 pictures
restart@120  3 results, 0 pictures
$ forebay plot run7/restart.numbers fields/density/mean fields/density/max --plain
restart.numbers   steps 100 to 120

            [kg m-3]
  1.975e+301|bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
            |
            |
            |
            |
            |
            |
 -2.214e+301|
            |
            |
            |
            |
            |
            |
 -6.402e+301|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
            +-----------------------------------------------------------------
             a  fields/density/mean
             b  fields/density/max
             100                            110                            120
                                            step
$ forebay plot run7/restart.bins@last fields/density/counts
restart.bins   step 120   t = 60

    fields/density/counts
  19│⠉⠉⠉⠉⠉⠉⠉⠉⠉⡇
    │         ⡇
    │         ⡇
    │         ⡇
    │         ⡇
    │         ⡇
    │         ⡇
 9.5│         ⡇
    │         ⡇
    │         ⡇
    │         ⡇
    │         ⡇
    │         ⡇
    │         ⡇
   0│         ⣇⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀
    └─────────────────────────────────────────────────────────────────────────
     0                                 100                                 200
                              fields/density [kg m-3]
$ forebay plot run7/restart.bins@100,120 fields/density/counts --csv
step,time,index,fields/density [kg m-3],fields/density/counts
100,50,0,0,26
100,50,1,25,0
100,50,2,50,0
100,50,3,75,0
100,50,4,100,0
100,50,5,125,0
100,50,6,150,0
100,50,7,175,0
120,60,0,0,19
120,60,1,25,0
120,60,2,50,0
120,60,3,75,0
120,60,4,100,0
120,60,5,125,0
120,60,6,150,0
120,60,7,175,0
$ forebay plot run7/restart.numbers 'gas/x/m*' --csv
step,time,gas/x/max [m],gas/x/mean [m],gas/x/min [m]
100,50,0.011427455581724644,0.0011471304195012464,1.9527441154166033e-24
110,55,53291300,5349614.1112987315,9.278633532349995e-15
120,60,2.469694327928914e+17,2.4792014040789744e+16,4.368108420749195e-05
$ forebay plot run7/restart.bins 'fields/density/counts[1]' --over time --json
[
 {
  "stream": "restart.bins",
  "result": "fields/density/counts[1]",
  "unit": "",
  "steps": [
   {
    "step": 100,
    "time": 50.0,
    "shape": [],
    "values": [
     0.0
    ]
   },
   {
    "step": 110,
    "time": 55.0,
    "shape": [],
    "values": [
     0.0
    ]
   },
   {
    "step": 120,
    "time": 60.0,
    "shape": [],
    "values": [
     0.0
    ]
   }
  ]
 }
]
$ forebay plot run7/restart.cut --plain
restart.cut   fields/density/plane   step 120   t = 60

    y
   3|????????????@@@@@@@@@@@@@@@???????????@@@@@@@@@@@@@@@????????????@
   0|@@@@@@@????????????@@@@@@@@@@@@@ ????????????@@@@@@@@@@@@@@@??????
    +------------------------------------------------------------------
     0                              1.5                               3
                                     x

fields/density/plane [kg m-3]: -8.83e+32 to 3.37e+30
$ forebay plot run7/restart.numbers nothing
2> forebay: run7/restart.numbers has no result 'nothing'.
2>   Next: choose one of fields/density/count, fields/density/inf, fields/density/max, fields/density/mean, fields/density/min, fields/density/nan, fields/density/sum, fields/density/variance, gas/x/count, gas/x/inf, gas/x/max, gas/x/mean, gas/x/min, gas/x/nan, gas/x/sum, gas/x/variance
[3]
$ forebay plot run7/restart.bins fields/density/nan fields/density/edges
2> forebay: 'fields/density/nan' and 'fields/density/edges' cannot be drawn together: they have 0 and 1 dimensions.
2>   Next: choose results of one kind: fields/density/above, fields/density/below, fields/density/counts, fields/density/edges, fields/density/nan
[2]
$ forebay plot run7/restart.bins 'fields/density/counts[1,2]'
2> forebay: 'fields/density/counts[1,2]' is not an element: 'fields/density/counts' has the shape 8.
2>   Next: forebay plot --help
[2]
$ forebay plot run7/restart.bins --to bins.pdf
2> forebay: bins.pdf: the file of a plot must be PNG.
2>   Next: give --to FILE.png. For numbers, --csv or --json
[2]
# Without Python the numbers are still printed.
$ forebay plot run7/restart.bins --python no-such-python
2> forebay: no-such-python is needed for this, and was not found.
2>   Safe: the numbers can be read without it.
2>   Next: give --python PATH: Python 3.10 or newer
[6]
$ forebay plot run7/restart.bins --log z
2> forebay: --log must be x, y, xy or none, not 'z'.
2>   Next: forebay plot --help
[2]
$ forebay plot run7/restart.bins --to bins.png --python "$PYTHON" | sed 's, [0-9]* bytes, N bytes,' && ls
bins.png  N bytes

Also there: fields/density/above, fields/density/below, fields/density/nan
bins.png
forebay.toml
run7
# Plot replaces its own pictures. Files of other programs need an option.
$ forebay plot run7/restart.bins fields/density/counts --to bins.png --python "$PYTHON" | sed 's, [0-9]* bytes, N bytes,'
bins.png  N bytes
$ echo holiday > photo.png
$ forebay plot run7/restart.bins --to photo.png; cat photo.png
holiday
2> forebay: photo.png exists, and is no picture of forebay plot.
2>   Next: choose another name, or give --replace
$ forebay plot run7/restart.bins fields/density/counts --to photo.png --replace --python "$PYTHON" | sed 's, [0-9]* bytes, N bytes,'
photo.png  N bytes
$ rm photo.png
$ forebay ls run7/restart.bins
stream        step  time  bytes  nodes  line  state      view
restart.bins   120    60  160 B      1     0  committed  no
restart.bins   110    55  160 B      1     0  committed  no
restart.bins   100    50  160 B      1     0  committed  no
restart.bins: results of analysis 'bins' of stream 'restart'. Next: forebay plot run7/restart.bins
