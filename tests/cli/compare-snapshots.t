# Snapshots are compared by their variables. The number of nodes does not matter.
$ make_small_run run7 restart 100 1 a1
$ make_small_run run7 restart 110 3 a2
$ make_small_run run8 restart 100 1 b1
$ make_small_run run9 restart 100 1 a1
$ forebay compare run7@100 run9@last
4 variables are equal, bit by bit: 768 B of each.
$ forebay compare run7@100 run8@100
variable        the differences
clock/dt        1 of 1 element differs, by at most 1.78402e-35
fields/density  80 of 80 elements differ, by at most 1.33818e+306 at [0, 24]; 2 of these are not numbers
gas/id          10 of 10 rows differ, by at most 1.15744e+18 at [0]
gas/x           10 of 10 rows differ, by at most 9.16546e+27 at [9]
4 of 4 variables differ.
[1]
$ forebay compare run7/restart@100 run7@last
variable        the differences
clock/dt        1 of 1 element differs, by at most 5.2489e-108
fields/density  f64 array, 2 x 40 in run7/restart@100; f64 array, 6 x 40 in run7@last
gas/id          10 of 10 rows differ, by at most 7.23402e+16 at [0]; 50 rows are only in run7@last
gas/x           10 of 10 rows differ, by at most 6.00413e+18 at [9]; 50 rows are only in run7@last
4 of 4 variables differ.
[1]
$ forebay compare run7/restart@100 run7@last --json
{
 "first": {
  "stream": "restart",
  "step": 100,
  "directory": "run7/restart/step-000100"
 },
 "second": {
  "stream": "restart",
  "step": 110,
  "directory": "run7/restart/step-000110"
 },
 "equal": false,
 "bytes": 128,
 "variables": [
  {
   "name": "clock/dt",
   "kind": "replicated",
   "equal": false,
   "first": "f64 replicated, scalar",
   "second": "f64 replicated, scalar",
   "compared": 1,
   "different": 1,
   "first_alone": 0,
   "second_alone": 0,
   "without_number": 0,
   "largest": 5.2488990146132255e-108,
   "at": []
  },
  {
   "name": "fields/density",
   "kind": "array",
   "equal": false,
   "first": "f64 array, 2 x 40",
   "second": "f64 array, 6 x 40"
  },
  {
   "name": "gas/id",
   "kind": "particles",
   "equal": false,
   "first": "i64 particles",
   "second": "i64 particles",
   "compared": 10,
   "different": 10,
   "first_alone": 0,
   "second_alone": 50,
   "without_number": 0,
   "largest": 7.234017283807667e+16,
   "at": [
    0
   ]
  },
  {
   "name": "gas/x",
   "kind": "particles",
   "equal": false,
   "first": "f32 particles",
   "second": "f32 particles",
   "compared": 10,
   "different": 10,
   "first_alone": 0,
   "second_alone": 50,
   "without_number": 0,
   "largest": 6.004127609930121e+18,
   "at": [
    9
   ]
  }
 ],
 "exit_code": 1
}
[1]
$ forebay compare run7@100 run8
2> forebay: run7@100 is a snapshot, and run8 is not.
2>   Safe: nothing was changed.
2>   Next: give a step for both: RUN@STEP, RUN/STREAM@STEP or RUN@last
[2]
$ forebay compare run7@100 run8@100 --preserve none
2> forebay: forebay compare has no option --preserve.
2>   Next: forebay compare --help
[2]
$ forebay compare run7@100 run8@300
2> forebay: run8 has no committed step 300. It has: run8/restart@100.
2>   Next: forebay ls run8
[3]
