/* System calls whose constants, structures or argument lists Fortran cannot have as they are. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

int palm_open(const char* path, int way);
int palm_forget(const char* path);

/* `way` counts as in system.f90. -1: errno says why. */
int palm_open(const char* path, int way) {
    static const int flags[] = {O_RDONLY, O_WRONLY | O_CREAT | O_TRUNC, O_RDONLY | O_DIRECT,
                                O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT};
    return open(path, flags[way] | O_CLOEXEC, 0600);
}

static int forget_one(const char* path, const struct stat* status, int kind, struct FTW* place) {
    (void)status;
    (void)place;
    if (kind != FTW_F) return 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    const int failed = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    return failed;
}

/* Of a file, or of all files below a directory. 0: done. */
int palm_forget(const char* path) { return nftw(path, forget_one, 16, FTW_PHYS); }
