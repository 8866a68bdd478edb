needs forebay h5part
$ forebay h5part never-written.h5part
2> forebay: never-written.h5part does not exist, and neither does its source never-written.h5part.forebay.
[3]
