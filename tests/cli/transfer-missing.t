# The transfer tool is a program and a package of its own: without it, its verbs say what is missing.
$ mkdir bin && cp "$(command -v forebay)" bin && ln -s "$(dirname "$(command -v forebay)")/../lib" lib
$ (PATH=/usr/bin:/bin; bin/forebay copy a b)
$ (PATH=/usr/bin:/bin; bin/forebay migrate plan.toml --json)
$ (PATH=/usr/bin:/bin; bin/forebay ls a)
