make_small_run run7 restart 120 3
file=run7/restart/step-000120/node-00001.h5
flip() {
  cp "$file" damaged.h5
  printf '\377' | dd of=damaged.h5 bs=1 seek="$1" conv=notrunc status=none
  forebay verify damaged.h5 || echo "exit $?"
}
# The record's magic number, what it says, and the schema.
flip 4096
flip 4200
flip "$(grep -abo '"stream"' "$file" | head -1 | cut -d: -f1)"
# A file that was never sealed.
cp "$file" damaged.h5
dd if=/dev/zero of=damaged.h5 bs=4096 seek=1 count=1 conv=notrunc status=none
forebay verify damaged.h5 || echo "exit $?"
forebay ls damaged.h5
