/* For LD_PRELOAD: directories at FOREBAY_FOLDS and below have the flag "casefold" of ext4: "A" and "a" are one name,
   and the first spelling stays. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define NEXT(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))
enum { path_bytes = 4096, name_bytes = 256 };

static pthread_mutex_t names = PTHREAD_MUTEX_INITIALIZER; /* two threads never make one name at once */

static int folds(int fd) {
    const char* const top = getenv("FOREBAY_FOLDS");
    if (!top || fd < 0) return 0;
    char link[32], path[path_bytes];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    const size_t bytes = strlen(top);
    return strncmp(path, top, bytes) == 0 && (path[bytes] == 0 || path[bytes] == '/');
}

/* The stored spelling of the entry that `name` finds; `name` itself if there is no entry. */
static const char* spelled(int fd, const char* name, char* spelling) {
    struct stat status;
    if (!*name || strchr(name, '/') || strcmp(name, "..") == 0 || !folds(fd)) return name;
    if (NEXT(fstatat64)(fd, name, (struct stat64*)&status, AT_SYMLINK_NOFOLLOW) == 0) return name;
    DIR* const listed = fdopendir(NEXT(openat64)(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const char* real_name = name;
    for (const struct dirent* entry; listed && real_name == name && (entry = readdir(listed));)
        if (strcasecmp(entry->d_name, name) == 0) real_name = strcpy(spelling, entry->d_name);
    if (listed) closedir(listed);
    return real_name;
}

#define FOLDED(call)              \
    char spelling[name_bytes];    \
    pthread_mutex_lock(&names);   \
    const int done = (call);      \
    const int number = errno;     \
    pthread_mutex_unlock(&names); \
    errno = number;               \
    return done

int openat64(int fd, const char* name, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    FOLDED(NEXT(openat64)(fd, spelled(fd, name, spelling), flags, mode));
}

int openat(int fd, const char* name, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return openat64(fd, name, flags, mode);
}

int statx(int fd, const char* name, int flags, unsigned mask, struct statx* status) {
    FOLDED(NEXT(statx)(fd, spelled(fd, name, spelling), flags, mask, status));
}

int mkdirat(int fd, const char* name, mode_t mode) { FOLDED(NEXT(mkdirat)(fd, spelled(fd, name, spelling), mode)); }

int symlinkat(const char* text, int fd, const char* name) {
    FOLDED(NEXT(symlinkat)(text, fd, spelled(fd, name, spelling)));
}

int mknodat(int fd, const char* name, mode_t mode, dev_t device) {
    FOLDED(NEXT(mknodat)(fd, spelled(fd, name, spelling), mode, device));
}

ssize_t readlinkat(int fd, const char* name, char* text, size_t bytes) {
    char spelling[name_bytes];
    return NEXT(readlinkat)(fd, spelled(fd, name, spelling), text, bytes);
}

int unlinkat(int fd, const char* name, int flags) { FOLDED(NEXT(unlinkat)(fd, spelled(fd, name, spelling), flags)); }

int linkat(int from, const char* name, int to, const char* new_name, int flags) {
    char other[name_bytes];
    FOLDED(NEXT(linkat)(from, spelled(from, name, other), to, spelled(to, new_name, spelling), flags));
}

int renameat2(int from, const char* name, int to, const char* new_name, unsigned flags) {
    char other[name_bytes];
    FOLDED(NEXT(renameat2)(from, spelled(from, name, other), to, spelled(to, new_name, spelling), flags));
}

int renameat(int from, const char* name, int to, const char* new_name) {
    return renameat2(from, name, to, new_name, 0);
}

/* Catches listxattrat, which the C library does not wrap yet. */
long syscall(long number, ...) {
    enum { listxattrat_call = 465, arguments = 6 };
    char spelling[name_bytes];
    long with[arguments];
    va_list rest;
    va_start(rest, number);
    for (int index = 0; index < arguments; ++index) with[index] = va_arg(rest, long);
    va_end(rest);
    if (number == listxattrat_call) with[1] = (long)spelled((int)with[0], (const char*)with[1], spelling);
    return NEXT(syscall)(number, with[0], with[1], with[2], with[3], with[4], with[5]);
}

/* Resolves the last name of "/proc/self/fd/3/name". */
static const char* spelled_path(const char* path, char* whole) {
    char spelling[name_bytes];
    int fd = -1, bytes = 0;
    if (sscanf(path, "/proc/self/fd/%d/%n", &fd, &bytes) != 1 || bytes == 0) return path;
    snprintf(whole, path_bytes, "%.*s%s", bytes, path, spelled(fd, path + bytes, spelling));
    return whole;
}

ssize_t llistxattr(const char* path, char* names_of, size_t bytes) {
    char whole[path_bytes];
    return NEXT(llistxattr)(spelled_path(path, whole), names_of, bytes);
}

ssize_t lgetxattr(const char* path, const char* name, void* value, size_t bytes) {
    char whole[path_bytes];
    return NEXT(lgetxattr)(spelled_path(path, whole), name, value, bytes);
}

int ioctl(int fd, unsigned long request, ...) {
    va_list rest;
    va_start(rest, request);
    void* const argument = va_arg(rest, void*);
    va_end(rest);
    const int done = NEXT(ioctl)(fd, request, argument);
    if (request == FS_IOC_GETFLAGS && done == 0 && folds(fd)) *(int*)argument |= FS_CASEFOLD_FL;
    return done;
}
