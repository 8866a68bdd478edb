mkdir staging
forebay drain all --staging staging
forebay drain all --staging staging --json
