seq 10000 > other.h5
forebay show other.h5
