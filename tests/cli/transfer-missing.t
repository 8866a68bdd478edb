# The transfer tool is a separate program and package. Without it, its verbs report that it is missing.
$ mkdir bin && cp "$(command -v forebay)" bin && ln -s "$(dirname "$(command -v forebay)")/../lib" lib
$ (PATH=/usr/bin:/bin; bin/forebay copy a b)
2> forebay: copy needs forebay-transfer, which works on trees of files and is not beside this forebay as bin/forebay-transfer or in PATH.
2>   Next: install the package forebay-transfer, or use a forebay that was built with -DFOREBAY_TRANSFER=ON
[6]
$ (PATH=/usr/bin:/bin; bin/forebay migrate plan.toml --json)
2> forebay: migrate needs forebay-transfer, which works on trees of files and is not beside this forebay as bin/forebay-transfer or in PATH.
2>   Next: install the package forebay-transfer, or use a forebay that was built with -DFOREBAY_TRANSFER=ON
[6]
$ (PATH=/usr/bin:/bin; bin/forebay ls a)
2> forebay: there is no run a: no such directory.
2>   Next: give the directory of a run, which holds the directory forebay. Or mount the file system of this run
[3]
