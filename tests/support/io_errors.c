/* For LD_PRELOAD: simulates a disk with a broken sector. Reads and writes of files whose path contains FOREBAY_BAD_READ
   or FOREBAY_BAD_WRITE fail with EIO, or with the number FOREBAY_BAD_ERRNO. The first 4 KiB stay readable, so that a
   copy begins. Each pread() and unlinkat() below a path with FOREBAY_SLOW takes 10 ms. Each syncfs() fails after
   FOREBAY_BAD_SYNC seconds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { good_bytes = 4096, path_bytes = 4096, slow_us = 10000 };

static int is_bad(int fd, const char* variable) {
    const char* part = getenv(variable);
    if (!part) return 0;
    char link[32], path[path_bytes];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strstr(path, part) != NULL;
}

static int bad_read(int fd, off_t at, size_t count) {
    return at + (off_t)count > good_bytes && is_bad(fd, "FOREBAY_BAD_READ");
}

static void be_slow(int fd) {
    if (is_bad(fd, "FOREBAY_SLOW")) usleep(slow_us);
}

static int bad_write(int fd) { return is_bad(fd, "FOREBAY_BAD_WRITE"); }

static ssize_t fail(void) {
    const char* const number = getenv("FOREBAY_BAD_ERRNO");
    errno = number ? atoi(number) : EIO;
    return -1;
}

#define NEXT(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))

ssize_t read(int fd, void* buffer, size_t count) {
    return bad_read(fd, 0, count) ? fail() : NEXT(read)(fd, buffer, count);
}

ssize_t pread(int fd, void* buffer, size_t count, off_t at) {
    be_slow(fd);
    return bad_read(fd, at, count) ? fail() : NEXT(pread)(fd, buffer, count, at);
}

ssize_t pread64(int fd, void* buffer, size_t count, off64_t at) {
    be_slow(fd);
    return bad_read(fd, at, count) ? fail() : NEXT(pread64)(fd, buffer, count, at);
}

ssize_t write(int fd, const void* buffer, size_t count) {
    return bad_write(fd) ? fail() : NEXT(write)(fd, buffer, count);
}

ssize_t pwrite(int fd, const void* buffer, size_t count, off_t at) {
    return bad_write(fd) ? fail() : NEXT(pwrite)(fd, buffer, count, at);
}

ssize_t pwrite64(int fd, const void* buffer, size_t count, off64_t at) {
    return bad_write(fd) ? fail() : NEXT(pwrite64)(fd, buffer, count, at);
}

ssize_t copy_file_range(int in, off64_t* in_at, int out, off64_t* out_at, size_t count, unsigned flags) {
    if (bad_read(in, in_at ? *in_at : 0, count) || bad_write(out)) return fail();
    return NEXT(copy_file_range)(in, in_at, out, out_at, count, flags);
}

ssize_t sendfile64(int out, int in, off64_t* at, size_t count);

ssize_t sendfile(int out, int in, off_t* at, size_t count) {
    if (bad_read(in, at ? *at : 0, count) || bad_write(out)) return fail();
    return NEXT(sendfile64)(out, in, (off64_t*)at, count);
}

int unlinkat(int folder, const char* name, int flags) {
    be_slow(folder);
    return NEXT(unlinkat)(folder, name, flags);
}

int syncfs(int fd) {
    const char* const seconds = getenv("FOREBAY_BAD_SYNC");
    if (!seconds) return NEXT(syncfs)(fd);
    sleep((unsigned)atoi(seconds));
    return (int)fail();
}
