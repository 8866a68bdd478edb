/* Emulates storage that takes so many bytes a second from all processes together: a library to preload, which delays
 * what is written below one directory. All processes share one clock, a mapped file: a write is done at once, takes its
 * turn behind the writes of all others, and returns when storage of that rate would have taken it.
 *
 * SLOW_STORAGE_BELOW is the directory; SLOW_STORAGE_CLOCK the file, of three native uint64_t: bytes a second, the
 * nanosecond of CLOCK_MONOTONIC at which storage is free again, and the bytes that have passed. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct clock {
    uint64_t bytes_per_second;
    _Atomic uint64_t free_ns, bytes;
};

static struct clock* shared;
static const char* below;

static void give_up(const char* what) {
    fprintf(stderr, "slow_storage: %s cannot be used. Next: start it by bench/jitter.\n", what);
    abort(); /* a benchmark whose storage is fast by mistake must not give figures */
}

__attribute__((constructor)) static void begin(void) {
    const char* const path = getenv("SLOW_STORAGE_CLOCK");
    below = getenv("SLOW_STORAGE_BELOW");
    const int fd = path != NULL && below != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0) give_up("SLOW_STORAGE_CLOCK");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED || shared->bytes_per_second == 0) give_up(path);
    close(fd);
}

static int is_slow(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path);
    const size_t prefix = strlen(below);
    return length > (ssize_t)prefix && memcmp(path, below, prefix) == 0 && path[prefix] == '/';
}

static ssize_t delay(int fd, ssize_t wrote) {
    if (wrote <= 0 || !is_slow(fd)) return wrote;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    const uint64_t lasts_ns = (uint64_t)((double)wrote * 1e9 / (double)shared->bytes_per_second);
    uint64_t seen = atomic_load(&shared->free_ns), done;
    do done = (seen > now_ns ? seen : now_ns) + lasts_ns;
    while (!atomic_compare_exchange_weak(&shared->free_ns, &seen, done));
    atomic_fetch_add(&shared->bytes, (uint64_t)wrote);
    const struct timespec until = {(time_t)(done / 1000000000u), (long)(done % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) continue;
    return wrote;
}

#define REAL(name, type)                            \
    static type real;                               \
    if (real == NULL) {                             \
        void* const found = dlsym(RTLD_NEXT, name); \
        memcpy(&real, &found, sizeof real);         \
    }

typedef ssize_t (*write_call)(int, const void*, size_t);
typedef ssize_t (*pwrite_call)(int, const void*, size_t, off64_t);
typedef ssize_t (*writev_call)(int, const struct iovec*, int);
typedef ssize_t (*pwritev_call)(int, const struct iovec*, int, off64_t);

ssize_t write(int fd, const void* data, size_t bytes) {
    REAL("write", write_call)
    return delay(fd, real(fd, data, bytes));
}
ssize_t pwrite64(int fd, const void* data, size_t bytes, off64_t at) {
    REAL("pwrite64", pwrite_call)
    return delay(fd, real(fd, data, bytes, at));
}
ssize_t pwrite(int fd, const void* data, size_t bytes, off_t at) { return pwrite64(fd, data, bytes, at); }
ssize_t writev(int fd, const struct iovec* parts, int count) {
    REAL("writev", writev_call)
    return delay(fd, real(fd, parts, count));
}
ssize_t pwritev64(int fd, const struct iovec* parts, int count, off64_t at) {
    REAL("pwritev64", pwritev_call)
    return delay(fd, real(fd, parts, count, at));
}
ssize_t pwritev(int fd, const struct iovec* parts, int count, off_t at) { return pwritev64(fd, parts, count, at); }
