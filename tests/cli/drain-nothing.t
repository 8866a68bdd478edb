$ mkdir staging
$ forebay drain all --staging staging
Nothing is staged.
$ forebay drain all --staging staging --json
[]
