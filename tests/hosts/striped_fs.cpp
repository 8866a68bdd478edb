// A file system for tests. It passes everything on to a directory, stripes files over storage targets like Lustre, and
// limits the write rate of each target.
//
//   striped_fs DIRECTORY MOUNT STRIPE_BYTES TARGETS BYTES_PER_SECOND [WHICH=RATIO...]
//
// Files below a directory "target-7" lie on target 7. A stat of "hanging" waits forever. Files in "stubborn" ignore
// layout requests. WHICH is the number of a target, a part of a file name such as "node-00003", or "agent-3": the agent
// whose staging directory ends with that number. It writes at RATIO of the rate; with RATIO@ only after an odd number
// of SIGUSR1. WHICH "noise": the rate of each write is lognormal with the deviation RATIO. The attribute "lustre.lov"
// reports the layout of a file. If you set it on a file without objects (made by mknod or O_LOV_DELAY_CREATE), the file
// gets that layout; on another file it changes nothing and succeeds, as on Lustre. A directory passes its layout to new
// entries. With HS_RELEASED in "trusted.hsm" the bytes are only in an archive until a read. The attribute
// "lustre.opens" counts the opens. Prints "mounted"; SIGTERM unmounts. With daos.PATH=POOL/CONTAINER the mount is like
// dfuse: PATH has the attribute of a container's root, other attributes are those of the directory, and there are only
// files, directories and symbolic links. dfuse_ways.hpp has its other ways.

#define FUSE_USE_VERSION 35

#include <dirent.h>
#include <fcntl.h>
#include <fuse.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "dfuse_attributes.hpp"
#include "dfuse_ways.hpp"
#include "lustre_layouts.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
    std::string directory;
    std::uint64_t stripe_bytes = 0;
    unsigned targets = 0;
    double rate = 0, noise = 0;
    std::map<std::string, double> ratios = {}, sometimes = {};
    std::map<std::string, std::string> containers = {};  // the attributes of container roots, by path

    bool is_dfuse() const { return !containers.empty(); }
};
Options options;

std::mutex alone;
std::mt19937_64 chance(1);
std::vector<Clock::time_point> busy_until;  // by target
struct Known {
    striped::Layout layout;     // requested for it or its directory; empty: all targets
    bool lies_nowhere = false;  // it has no objects yet
    bool is_released = false;
    unsigned opens = 0;
};
std::map<ino_t, Known> known;  // by inode of files and directories
volatile std::sig_atomic_t is_sometimes = 0;

std::string real(const char* path) { return options.directory + path; }
int answer(long outcome) { return outcome < 0 ? -errno : 0; }
int fd_of(const fuse_file_info* info) { return static_cast<int>(info->fh); }

double ratio_of(const std::string& which) {
    const auto& ratios = is_sometimes != 0 && options.sometimes.contains(which) ? options.sometimes : options.ratios;
    const auto ratio = ratios.find(which);
    return ratio == ratios.end() ? 1 : ratio->second;
}

// True if the command line of the writing process ends with `end`.
bool writer_ends_with(const std::string& end) {
    std::ifstream file("/proc/" + std::to_string(fuse_get_context()->pid) + "/cmdline");
    std::string command{std::istreambuf_iterator<char>(file), {}};
    command.erase(std::find_if(command.rbegin(), command.rend(), [](char c) { return c != '\0'; }).base(),
                  command.end());
    return command.ends_with(end);
}

// The ratio of the writer, such as a node with a slow link.
double ratio_of_writer(const std::string& path) {
    for (const auto* ratios : {&options.ratios, &options.sometimes}) {
        if (ratios == &options.sometimes && is_sometimes == 0) continue;
        for (const auto& [which, ratio] : *ratios)
            if (which.starts_with("agent-") ? writer_ends_with(which.substr(5))
                                            : which.size() > 3 && path.find(which) != std::string::npos)
                return ratio;
    }
    return 1;
}

// The inode spreads the first targets of files.
unsigned first_target(const struct stat& about) { return static_cast<unsigned>(about.st_ino % options.targets); }

// Looks only at the first component.
unsigned target_of(const struct stat& about, std::uint64_t stripe) {
    const std::lock_guard lock(alone);
    const auto& components = known[about.st_ino].layout.components;
    if (components.empty() || components.front().plain.targets.empty())
        return static_cast<unsigned>((stripe + first_target(about)) % options.targets);
    const auto& targets = components.front().plain.targets;
    return targets[stripe % targets.size()];
}

// A new entry gets the layout of its directory.
void inherit(const char* path, bool lies_nowhere) {
    struct stat about {
    }, above{};
    const std::string name = real(path);
    if (::lstat(name.c_str(), &about) != 0 || ::lstat(name.substr(0, name.rfind('/')).c_str(), &above) != 0) return;
    const std::lock_guard lock(alone);
    auto& file = known[about.st_ino] = {.layout = known[above.st_ino].layout, .lies_nowhere = lies_nowhere};
    if (S_ISREG(about.st_mode) && !lies_nowhere) striped::lay(file.layout, options.targets, first_target(about));
}

// A file gets its objects when it is opened for writing.
void count_open(int fd, const fuse_file_info* info) {
    struct stat about {};
    if (fd < 0 || ::fstat(fd, &about) != 0) return;
    const std::lock_guard lock(alone);
    auto& file = known[about.st_ino];
    ++file.opens;
    if (!file.lies_nowhere || (info->flags & O_ACCMODE) == O_RDONLY) return;
    file.lies_nowhere = false;
    striped::lay(file.layout, options.targets, first_target(about));
}

// The target in the path, if it has one.
unsigned target_in(const char* path, unsigned otherwise) {
    const char* named = std::strstr(path, "/target-");
    return named == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(named + 8, nullptr, 10)) % options.targets;
}

// Behaves like a server that is gone.
void hang_in(const char* path) {
    if (std::strncmp(path, "/hanging", 8) == 0)
        while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

// A target performs one write after another.
void take_time(const char* path, int fd, std::size_t bytes, off_t offset) {
    struct stat about {};
    if (::fstat(fd, &about) != 0) return;
    const auto stripe = static_cast<std::uint64_t>(offset) / options.stripe_bytes;
    const auto target = target_in(path, target_of(about, stripe));
    const double seconds = static_cast<double>(bytes) / options.rate;
    std::chrono::duration<double> took(seconds / ratio_of(std::to_string(target)));
    Clock::time_point until;
    {
        const std::lock_guard lock(alone);
        if (options.noise > 0) took *= std::lognormal_distribution<double>(0, options.noise)(chance);
        until = std::max(busy_until[target], Clock::now()) + std::chrono::duration_cast<Clock::duration>(took);
        busy_until[target] = until;
    }
    // A slow writer does not occupy the target: it is free for other writes meanwhile.
    const std::chrono::duration<double> longer(seconds / ratio_of_writer(path) - seconds);
    std::this_thread::sleep_until(until + std::chrono::duration_cast<Clock::duration>(longer));
}

int do_getattr(const char* path, struct stat* about, fuse_file_info*) {
    hang_in(path);
    if (options.is_dfuse()) return dfuse::ways.status(real(path), about);
    if (::lstat(real(path).c_str(), about) != 0) return -errno;
    const std::lock_guard lock(alone);
    if (const auto match = known.find(about->st_ino); match != known.end() && match->second.is_released)
        about->st_blocks = 1;  // as Lustre reports a released file (LU-3864)
    return 0;
}
int do_readdir(const char* path, void* buffer, fuse_fill_dir_t fill, off_t, fuse_file_info*, fuse_readdir_flags) {
    DIR* open = ::opendir(real(path).c_str());
    if (open == nullptr) return options.is_dfuse() && dfuse::ways.is_second(real(path)) ? 0 : -errno;
    while (const dirent* entry = ::readdir(open)) fill(buffer, entry->d_name, nullptr, 0, fuse_fill_dir_flags{});
    ::closedir(open);
    return 0;
}
int opened(int fd, fuse_file_info* info) {
    if (fd < 0) return -errno;
    info->fh = static_cast<std::uint64_t>(fd);
    info->direct_io = 1;  // writes arrive here at once, in the agent's sizes
    return 0;
}
int do_open(const char* path, fuse_file_info* info) {
    const int fd = ::open(real(path).c_str(), info->flags & ~O_DIRECT);
    count_open(fd, info);
    dfuse::ways.opened(real(path), 0);
    return opened(fd, info);
}
int do_create(const char* path, mode_t mode, fuse_file_info* info) {
    const int fd = ::open(real(path).c_str(), (info->flags & ~O_DIRECT) | O_CREAT, mode);
    // FUSE turns mknod into this call with exactly these flags. O_ASYNC is part of O_LOV_DELAY_CREATE.
    const bool is_mknod = info->flags == (O_CREAT | O_EXCL | O_WRONLY);
    if (fd >= 0) inherit(path, is_mknod || (info->flags & O_ASYNC) != 0);
    dfuse::ways.opened(real(path), 1);
    return opened(fd, info);
}
int do_read(const char*, char* buffer, std::size_t bytes, off_t offset, fuse_file_info* info) {
    struct stat about {};
    if (::fstat(fd_of(info), &about) == 0) {
        const std::lock_guard lock(alone);
        known[about.st_ino].is_released = false;  // recalled
    }
    const auto got = ::pread(fd_of(info), buffer, bytes, offset);
    return got < 0 ? -errno : static_cast<int>(got);
}
int do_write(const char* path, const char* buffer, std::size_t bytes, off_t offset, fuse_file_info* info) {
    struct stat about {};
    if (::fstat(fd_of(info), &about) == 0) {
        const std::lock_guard lock(alone);
        if (known[about.st_ino].lies_nowhere) return -EBADF;
    }
    take_time(path, fd_of(info), bytes, offset);
    const auto wrote = ::pwrite(fd_of(info), buffer, bytes, offset);
    return wrote < 0 ? -errno : static_cast<int>(wrote);
}
int do_release(const char*, fuse_file_info* info) { return answer(::close(fd_of(info))); }
int do_fsync(const char*, int, fuse_file_info* info) { return answer(::fdatasync(fd_of(info))); }
int do_truncate(const char* path, off_t size, fuse_file_info*) { return answer(::truncate(real(path).c_str(), size)); }
int do_mkdir(const char* path, mode_t mode) {
    if (::mkdir(real(path).c_str(), mode) != 0) return -errno;
    inherit(path, false);
    return 0;
}
int do_rmdir(const char* path) { return dfuse::ways.remove(real(path), true); }
int do_unlink(const char* path) {
    struct stat about {};
    if (::lstat(real(path).c_str(), &about) == 0 && about.st_nlink == 1) {
        const std::lock_guard lock(alone);
        known.erase(about.st_ino);
    }
    return dfuse::ways.remove(real(path), false);
}
int do_mknod(const char* path, mode_t mode, dev_t device) {
    if (options.is_dfuse() && !S_ISREG(mode)) return -EOPNOTSUPP;
    if (::mknod(real(path).c_str(), mode, device) != 0) return -errno;
    if (S_ISREG(mode)) inherit(path, true);
    return 0;
}
int do_chown(const char* path, uid_t user, gid_t group, fuse_file_info*) {
    return answer(::lchown(real(path).c_str(), user, group));
}
int do_symlink(const char* to, const char* path) { return answer(::symlink(to, real(path).c_str())); }
int do_readlink(const char* path, char* to, std::size_t bytes) {
    const auto got = ::readlink(real(path).c_str(), to, bytes - 1);
    if (got < 0) return -errno;
    to[got] = '\0';
    return 0;
}
int do_rename(const char* from, const char* to, unsigned flags) {
    if (options.is_dfuse()) return dfuse::ways.rename(real(from), real(to), flags);
    return answer(::renameat2(AT_FDCWD, real(from).c_str(), AT_FDCWD, real(to).c_str(), flags));
}
int do_chmod(const char* path, mode_t mode, fuse_file_info*) { return answer(::chmod(real(path).c_str(), mode)); }
int do_utimens(const char* path, const timespec times[2], fuse_file_info*) {
    return answer(::utimensat(AT_FDCWD, real(path).c_str(), times, AT_SYMLINK_NOFOLLOW));
}
int do_statfs(const char* path, struct statvfs* about) {
    return options.is_dfuse() ? dfuse::ways.room(real(path), about) : answer(::statvfs(real(path).c_str(), about));
}

int do_getxattr(const char* path, const char* name, char* value, std::size_t size) {
    struct stat about {};
    if (options.is_dfuse()) {
        const auto root = options.containers.find(path);
        return dfuse::get(real(path), root == options.containers.end() ? nullptr : &root->second, name, value, size);
    }
    const bool is_layout = std::strcmp(name, "lustre.lov") == 0, is_opens = std::strcmp(name, "lustre.opens") == 0;
    if (!is_layout && !is_opens) return -ENODATA;
    if (::lstat(real(path).c_str(), &about) != 0) return -errno;
    if (is_layout && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) return -ENODATA;
    const std::lock_guard lock(alone);
    const auto& file = known[about.st_ino];
    if (is_opens) return dfuse::give(std::to_string(file.opens), value, size);
    if (file.lies_nowhere) return -ENODATA;
    auto layout = file.layout;
    if (layout.components.empty()) {
        striped::Plain plain{.stripe_bytes = static_cast<std::uint32_t>(options.stripe_bytes),
                             .count = static_cast<std::uint16_t>(options.targets)};
        if (S_ISREG(about.st_mode)) striped::lay(plain, options.targets, first_target(about));
        layout.components.push_back({.plain = plain});
    }
    return dfuse::give(striped::attribute_of(layout, file.is_released), value, size);
}

int do_listxattr(const char* path, char* names, std::size_t size) {
    if (options.is_dfuse()) return dfuse::list(real(path), options.containers.contains(path), names, size);
    struct stat about {};
    if (::lstat(real(path).c_str(), &about) != 0) return -errno;
    const bool is_laid = S_ISREG(about.st_mode) || S_ISDIR(about.st_mode);
    return dfuse::give(is_laid ? std::string("lustre.lov\0", 11) : "", names, size);
}

int do_removexattr(const char* path, const char* name) {
    return options.is_dfuse() ? dfuse::remove(real(path), name) : -EOPNOTSUPP;
}

int do_setxattr(const char* path, const char* name, const char* value, std::size_t size, int flags) {
    if (options.is_dfuse()) return dfuse::set(real(path), name, value, size, flags);
    constexpr std::uint32_t hs_released = 4;  // a bit of hsm_flags in hsm_attrs
    struct stat about {};
    if (::lstat(real(path).c_str(), &about) != 0) return -errno;
    const std::string given(value, size);
    const std::lock_guard lock(alone);
    auto& file = known[about.st_ino];
    if (std::strcmp(name, "trusted.hsm") == 0) {
        if (size != 24) return -EINVAL;
        file.is_released = (striped::get<std::uint32_t>(given, 4) & hs_released) != 0;
        return 0;
    }
    if (std::strcmp(name, "lustre.lov") != 0) return -EOPNOTSUPP;
    auto layout = striped::layout_from(given, options.targets);
    if (!layout) return -EINVAL;
    for (auto& component : layout->components)
        if (component.plain.stripe_bytes == 0)
            component.plain.stripe_bytes = static_cast<std::uint32_t>(options.stripe_bytes);
    if (S_ISREG(about.st_mode)) {
        if (!file.lies_nowhere || std::strncmp(path, "/stubborn/", 10) == 0) return 0;
        striped::lay(*layout, options.targets, first_target(about));
        file.lies_nowhere = false;
    }
    file.layout = *layout;
    return 0;
}

fuse_operations operations() {
    fuse_operations all{};
    all.getattr = do_getattr;
    all.readdir = do_readdir;
    all.open = do_open;
    all.create = do_create;
    all.read = do_read;
    all.write = do_write;
    all.release = do_release;
    all.fsync = do_fsync;
    all.truncate = do_truncate;
    all.mkdir = do_mkdir;
    all.rmdir = do_rmdir;
    all.unlink = do_unlink;
    all.symlink = do_symlink;
    all.readlink = do_readlink;
    all.rename = do_rename;
    all.chmod = do_chmod;
    all.utimens = do_utimens;
    all.statfs = do_statfs;
    all.getxattr = do_getxattr;
    all.setxattr = do_setxattr;
    all.listxattr = do_listxattr;
    all.removexattr = do_removexattr;
    all.chown = do_chown;
    all.mknod = do_mknod;
    all.init = [](fuse_conn_info*, fuse_config* config) -> void* {
        config->use_ino = 1;
        config->attr_timeout = 0;  // a released file shows it at once
        std::puts("mounted");
        std::fflush(stdout);
        return nullptr;
    };
    return all;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 6) {
        std::fputs("striped_fs DIRECTORY MOUNT STRIPE_BYTES TARGETS BYTES_PER_SECOND [WHICH=RATIO...]\n", stderr);
        return 2;
    }
    options = {arguments[1], std::strtoull(arguments[3], nullptr, 10),
               static_cast<unsigned>(std::strtoul(arguments[4], nullptr, 10)), std::strtod(arguments[5], nullptr)};
    for (int i = 6; i < count; ++i)
        if (const char* equals = std::strchr(arguments[i], '=')) {
            const std::string which(arguments[i], static_cast<std::size_t>(equals - arguments[i]));
            auto& ratios = std::strchr(equals, '@') != nullptr ? options.sometimes : options.ratios;
            if (which.starts_with("daos."))
                options.containers[which.substr(5)] = std::string("DAOS.POSIX://") + (equals + 1);
            else if (which == "noise") options.noise = std::strtod(equals + 1, nullptr);
            else ratios[which] = std::strtod(equals + 1, nullptr);
        }
    busy_until.resize(options.targets);
    std::signal(SIGUSR1, [](int) { is_sometimes = is_sometimes == 0 ? 1 : 0; });
    const auto all = operations();
    // A write holds a thread as long as the target takes. libfuse's default of 10 threads would make writes wait.
    char foreground[] = "-f", threads[] = "-omax_threads=256,max_idle_threads=256";
    char dfuse[] = "-ofsname=dfuse,subtype=daos";
    char* words[] = {arguments[0], arguments[2], foreground, threads, dfuse, nullptr};
    return fuse_main(options.is_dfuse() ? 5 : 4, words, &all, nullptr);
}
