forebay --help
