# A snapshot has at most 64 marks. A further mark is refused; an existing mark may be set again.
$ make_small_run run7 restart 120 1
$ for i in $(seq 64); do forebay mark run7@120 --why "reason $i" > printed || exit 1; done
$ forebay mark run7@120 --why "reason 65"
2> forebay: restart@120 has 64 marks already. This mark was not added.
2>   Safe: all of them.
2>   Next: forebay unmark run7/restart@120 removes them
[2]
$ forebay mark run7@120 --why "reason 64"
restart@120 is marked: reason 64
$ forebay ls run7 | grep -c "is marked"
64
