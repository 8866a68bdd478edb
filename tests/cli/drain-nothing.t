$ mkdir staging
$ forebay drain all --staging staging
Nothing is staged in staging. Next: if the sessions had another staging directory, give it with --staging
$ forebay drain all --staging staging --json
[]
