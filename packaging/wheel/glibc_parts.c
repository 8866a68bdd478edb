// Debian's libstdc++.a was compiled for glibc 2.36. This file has the two things that glibc 2.28 lacks.

#include <stdlib.h>
#include <sys/random.h>

// 0: several threads may run. Then reference counts of libstdc++ are always atomic.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

// The seed of std::random_device.
__attribute__((visibility("hidden"))) unsigned arc4random(void) {
    unsigned value;
    if (getrandom(&value, sizeof value, 0) != sizeof value) abort();  // the kernel has no such system call
    return value;
}
