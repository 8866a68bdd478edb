forebay forward --help
