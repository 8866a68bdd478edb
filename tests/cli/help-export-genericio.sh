forebay export genericio --help
