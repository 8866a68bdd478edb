if forebay export plain --help | grep -q "not in this build"; then exit 77; fi
forebay export --help; forebay export plain --help; forebay export h5part --help
