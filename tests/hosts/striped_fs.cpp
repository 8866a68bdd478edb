// A file system for tests: passes everything on to a directory, stripes files over storage targets as Lustre does, and
// writes at each target at a rate of its own.
//
//   striped_fs DIRECTORY MOUNT STRIPE_BYTES TARGETS BYTES_PER_SECOND [WHICH=RATIO...]
//
// Below a directory "target-7" all lies on target 7. What looks at "hanging" waits for ever.
// WHICH is the number of a target, or a part of the names of files, such as "node-00003", or "agent-3", the agent whose
// staging directory ends with that number: what it writes goes at RATIO of the rate. Of RATIO@ that is so only after an
// odd number of SIGUSR1. WHICH "noise": the rate of each write is lognormal about that, RATIO being its deviation.
// The attribute "lustre.lov" of a file tells its layout, by the structure lov_user_md_v1 of Lustre's lustre_user.h;
// given to an empty file, with a list of targets, it is obeyed. Prints "mounted", and takes the mount down at SIGTERM.
// With daos.PATH=POOL/CONTAINER it is mounted as dfuse is: PATH has the attribute by which dfuse tells a container's
// root, other attributes are those of the directory, and there is nothing but files, directories and symbolic links.

#define FUSE_USE_VERSION 35

#include <dirent.h>
#include <fcntl.h>
#include <fuse.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

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
    std::map<std::string, std::string> containers = {};  // the attributes of their roots, by path
};
Options options;

std::mutex alone;
std::mt19937_64 chance(1);
std::vector<Clock::time_point> busy_until;       // of each target
std::map<ino_t, std::vector<unsigned>> layouts;  // that were asked for
volatile std::sig_atomic_t is_sometimes = 0;

std::string real(const char* path) { return options.directory + path; }
int answer(long outcome) { return outcome < 0 ? -errno : 0; }
int fd_of(const fuse_file_info* info) { return static_cast<int>(info->fh); }

double ratio_of(const std::string& which) {
    const auto& ratios = is_sometimes != 0 && options.sometimes.contains(which) ? options.sometimes : options.ratios;
    const auto found = ratios.find(which);
    return found == ratios.end() ? 1 : found->second;
}

// Whether the process that writes has a command line with that end.
bool writer_ends_with(const std::string& end) {
    std::ifstream file("/proc/" + std::to_string(fuse_get_context()->pid) + "/cmdline");
    std::string command{std::istreambuf_iterator<char>(file), {}};
    command.erase(std::find_if(command.rbegin(), command.rend(), [](char c) { return c != '\0'; }).base(),
                  command.end());
    return command.ends_with(end);
}

// Of who writes, such as a node with a slow link.
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

// Files begin at targets of their own, so that not all begin at one.
unsigned first_target(const struct stat& about) { return static_cast<unsigned>(about.st_ino % options.targets); }

unsigned target_of(const struct stat& about, std::uint64_t stripe) {
    const std::lock_guard lock(alone);
    const auto asked = layouts.find(about.st_ino);
    if (asked == layouts.end()) return static_cast<unsigned>((stripe + first_target(about)) % options.targets);
    return asked->second[stripe % asked->second.size()];
}

// The target that a path names.
unsigned target_in(const char* path, unsigned otherwise) {
    const char* named = std::strstr(path, "/target-");
    return named == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(named + 8, nullptr, 10)) % options.targets;
}

// A server that is gone.
void hang_in(const char* path) {
    if (std::strncmp(path, "/hanging", 8) == 0)
        while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

// A target takes one write after the other.
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
    // The target is free for others meanwhile.
    const std::chrono::duration<double> longer(seconds / ratio_of_writer(path) - seconds);
    std::this_thread::sleep_until(until + std::chrono::duration_cast<Clock::duration>(longer));
}

int do_getattr(const char* path, struct stat* about, fuse_file_info*) {
    hang_in(path);
    return answer(::lstat(real(path).c_str(), about));
}
int do_readdir(const char* path, void* buffer, fuse_fill_dir_t fill, off_t, fuse_file_info*, fuse_readdir_flags) {
    DIR* open = ::opendir(real(path).c_str());
    if (open == nullptr) return -errno;
    while (const dirent* entry = ::readdir(open)) fill(buffer, entry->d_name, nullptr, 0, fuse_fill_dir_flags{});
    ::closedir(open);
    return 0;
}
int opened(int fd, fuse_file_info* info) {
    if (fd < 0) return -errno;
    info->fh = static_cast<std::uint64_t>(fd);
    info->direct_io = 1;  // each write comes here as the agent made it, and when it did
    return 0;
}
int do_open(const char* path, fuse_file_info* info) {
    return opened(::open(real(path).c_str(), info->flags & ~O_DIRECT), info);
}
int do_create(const char* path, mode_t mode, fuse_file_info* info) {
    return opened(::open(real(path).c_str(), (info->flags & ~O_DIRECT) | O_CREAT, mode), info);
}
int do_read(const char*, char* buffer, std::size_t bytes, off_t offset, fuse_file_info* info) {
    const auto got = ::pread(fd_of(info), buffer, bytes, offset);
    return got < 0 ? -errno : static_cast<int>(got);
}
int do_write(const char* path, const char* buffer, std::size_t bytes, off_t offset, fuse_file_info* info) {
    take_time(path, fd_of(info), bytes, offset);
    const auto wrote = ::pwrite(fd_of(info), buffer, bytes, offset);
    return wrote < 0 ? -errno : static_cast<int>(wrote);
}
int do_release(const char*, fuse_file_info* info) { return answer(::close(fd_of(info))); }
int do_fsync(const char*, int, fuse_file_info* info) { return answer(::fdatasync(fd_of(info))); }
int do_truncate(const char* path, off_t size, fuse_file_info*) { return answer(::truncate(real(path).c_str(), size)); }
int do_mkdir(const char* path, mode_t mode) { return answer(::mkdir(real(path).c_str(), mode)); }
int do_rmdir(const char* path) { return answer(::rmdir(real(path).c_str())); }
int do_unlink(const char* path) {
    struct stat about {};
    if (::lstat(real(path).c_str(), &about) == 0 && about.st_nlink == 1) {
        const std::lock_guard lock(alone);
        layouts.erase(about.st_ino);
    }
    return answer(::unlink(real(path).c_str()));
}
int do_mknod(const char* path, mode_t mode, dev_t device) {
    if (!options.containers.empty() && !S_ISREG(mode)) return -EOPNOTSUPP;
    return answer(::mknod(real(path).c_str(), mode, device));
}
int do_symlink(const char* to, const char* path) { return answer(::symlink(to, real(path).c_str())); }
int do_readlink(const char* path, char* to, std::size_t bytes) {
    const auto got = ::readlink(real(path).c_str(), to, bytes - 1);
    if (got < 0) return -errno;
    to[got] = '\0';
    return 0;
}
int do_rename(const char* from, const char* to, unsigned flags) {
    return answer(::renameat2(AT_FDCWD, real(from).c_str(), AT_FDCWD, real(to).c_str(), flags));
}
int do_chmod(const char* path, mode_t mode, fuse_file_info*) { return answer(::chmod(real(path).c_str(), mode)); }
int do_utimens(const char* path, const timespec times[2], fuse_file_info*) {
    return answer(::utimensat(AT_FDCWD, real(path).c_str(), times, AT_SYMLINK_NOFOLLOW));
}
int do_statfs(const char* path, struct statvfs* about) { return answer(::statvfs(real(path).c_str(), about)); }

int give(const std::string& text, char* value, std::size_t size) {
    if (size == 0) return static_cast<int>(text.size());
    if (size < text.size()) return -ERANGE;
    std::memcpy(value, text.data(), text.size());
    return static_cast<int>(text.size());
}

int do_listxattr(const char* path, char* names, std::size_t size) {
    if (options.containers.empty()) return -EOPNOTSUPP;
    char own[65536];
    const auto bytes = ::llistxattr(real(path).c_str(), own, sizeof own);
    if (bytes < 0) return -errno;
    std::string all(own, static_cast<std::size_t>(bytes));
    if (options.containers.contains(path)) all.append("user.daos", 10);
    return give(all, names, size);
}
int own_xattr(const char* path, const char* name, char* value, std::size_t size) {
    const auto root = options.containers.find(path);
    if (root != options.containers.end() && std::strcmp(name, "user.daos") == 0) return give(root->second, value, size);
    const auto bytes = ::lgetxattr(real(path).c_str(), name, value, size);
    return bytes < 0 ? -errno : static_cast<int>(bytes);
}
int do_removexattr(const char* path, const char* name) {
    return options.containers.empty() ? -EOPNOTSUPP : answer(::lremovexattr(real(path).c_str(), name));
}

template <class T>
void put(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

int do_getxattr(const char* path, const char* name, char* value, std::size_t size) {
    struct stat about {};
    if (!options.containers.empty()) return own_xattr(path, name, value, size);
    if (std::strcmp(name, "lustre.lov") != 0) return -ENODATA;
    if (::lstat(real(path).c_str(), &about) != 0) return -errno;
    std::string layout;
    put<std::uint32_t>(layout, 0x0BD10BD0);
    put<std::uint32_t>(layout, 1);
    layout.append(16, '\0');
    put(layout, static_cast<std::uint32_t>(options.stripe_bytes));
    std::vector<unsigned> targets;
    {
        const std::lock_guard lock(alone);
        if (const auto asked = layouts.find(about.st_ino); asked != layouts.end()) targets = asked->second;
    }
    if (targets.empty())
        for (unsigned i = 0; i < options.targets; ++i) targets.push_back((i + first_target(about)) % options.targets);
    put(layout, static_cast<std::uint16_t>(targets.size()));
    put<std::uint16_t>(layout, 0);
    for (const auto target : targets) {
        layout.append(20, '\0');
        put(layout, static_cast<std::uint32_t>(target));
    }
    return give(layout, value, size);
}

// lov_user_md_v3 with LOV_USER_MAGIC_SPECIFIC: 48 bytes, of which those at 28 count the objects; 24 bytes each, the
// last 4 of which number the target.
int do_setxattr(const char* path, const char* name, const char* value, std::size_t size, int flags) {
    struct stat about {};
    if (!options.containers.empty())
        return std::strncmp(name, "user.", 5) != 0 ? -EOPNOTSUPP
                                                   : answer(::lsetxattr(real(path).c_str(), name, value, size, flags));
    if (std::strcmp(name, "lustre.lov") != 0) return -EOPNOTSUPP;
    if (::lstat(real(path).c_str(), &about) != 0) return -errno;
    if (about.st_size > 0) return -EEXIST;
    std::uint32_t magic = 0;
    std::uint16_t count = 0;
    if (size < 48) return -EINVAL;
    std::memcpy(&magic, value, sizeof magic);
    std::memcpy(&count, value + 28, sizeof count);
    if (magic != 0x0BD50BD0 || count == 0 || size != 48 + 24u * count) return -EINVAL;
    std::vector<unsigned> targets(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(&targets[i], value + 48 + 24 * i + 20, 4);
        if (targets[i] >= options.targets) return -ERANGE;
    }
    const std::lock_guard lock(alone);
    layouts[about.st_ino] = targets;
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
    all.mknod = do_mknod;
    all.init = [](fuse_conn_info*, fuse_config*) -> void* {
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
            if (which.starts_with("daos.")) {
                options.containers[which.substr(5)] = std::string("DAOS.POSIX://") + (equals + 1);
                continue;
            }
            if (which == "noise") {
                options.noise = std::strtod(equals + 1, nullptr);
                continue;
            }
            auto& ratios = std::strchr(equals, '@') != nullptr ? options.sometimes : options.ratios;
            ratios[which] = std::strtod(equals + 1, nullptr);
        }
    busy_until.resize(options.targets);
    std::signal(SIGUSR1, [](int) { is_sometimes = is_sometimes == 0 ? 1 : 0; });
    const auto all = operations();
    // A write holds a thread for as long as the target takes; of libfuse's own number, 10, others would wait for one.
    char foreground[] = "-f", threads[] = "-omax_threads=256,max_idle_threads=256";
    char dfuse[] = "-ofsname=dfuse,subtype=daos";
    char* words[] = {arguments[0], arguments[2], foreground, threads, dfuse, nullptr};
    return fuse_main(options.containers.empty() ? 4 : 5, words, &all, nullptr);
}
