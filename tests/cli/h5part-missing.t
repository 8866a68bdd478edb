needs forebay h5part
$ forebay h5part never-written.h5part
2> forebay: neither never-written.h5part nor never-written.h5part.forebay, of which it would be made, exists.
[3]
