head -c 20000 /dev/zero > other.h5
forebay show other.h5
