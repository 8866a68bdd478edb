# A checksum kernel that the processor lacks is refused before any work.
$ FOREBAY_CRC=abacus forebay ls run7 2>&1 | sed 's/which have .*portable/which have ... portable/'
forebay: FOREBAY_CRC=abacus is not a checksum kernel of this processor and build, which have ... portable.
  Next: unset FOREBAY_CRC, and the fastest kernel is used
