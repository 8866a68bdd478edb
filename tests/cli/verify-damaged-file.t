$ make_small_run run7 restart 120 3
$ file=run7/restart/step-000120/node-00001.h5
$ flip() {
>   cp "$file" damaged.h5
>   printf '\377' | dd of=damaged.h5 bs=1 seek="$1" conv=notrunc status=none
>   forebay verify damaged.h5
> }
# The record's magic number, its content, and the schema.
$ flip 4096
2> forebay: node file damaged.h5 is damaged: the record's magic number is 0a0d45444f4e42ff.
2>   Safe: its other copy, if there is one, and older snapshots.
2>   Next: forebay verify RUN@STEP with its run
[4]
$ flip 4200
2> forebay: node file damaged.h5 is damaged: its record, bytes 4096-8187, has the checksum 93e4cc07, but 39f0f0e9 is stored.
2>   Safe: its other copy, if there is one, and older snapshots.
2>   Next: forebay verify RUN@STEP with its run
[4]
$ flip "$(grep -abo '"stream"' "$file" | head -1 | cut -d: -f1)"
2> forebay: node file damaged.h5 is damaged: its head, bytes 0-4095 and 8192-18387, has the checksum 3b3c6cfb, but 8e38e23b is stored.
2>   Safe: its other copy, if there is one, and older snapshots.
2>   Next: forebay verify RUN@STEP with its run
[4]
