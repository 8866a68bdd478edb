head -c 20000 /dev/zero > unsealed.h5
forebay show unsealed.h5
