# Which verbs there are to view and to measure depends on the libraries that a build has.
forebay --help | grep -v -E '^  (view|bench) '
