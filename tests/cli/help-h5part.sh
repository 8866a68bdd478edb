if forebay h5part --help | grep -q "not in this build"; then exit 77; fi
forebay h5part --help
