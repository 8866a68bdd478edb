// A file system for tests. It passes everything on to a directory, and caches like clients of other file systems.
//
//   caching_fs LIKE SECONDS DIRECTORY MOUNT...
//
// Each MOUNT is a separate client. Prints "mounted" when all are mounted; SIGTERM unmounts them. LIKE is:
//
//   ceph   ceph-fuse: a client keeps the pages of buffered reads and serves buffered reads from them. Its own direct
//          writes (O_DIRECT) bypass them. Writes of other clients drop them, but not the kernel's own pages: a page
//          that was read too early stays there until POSIX_FADV_DONTNEED.
//   nfs    a client lists a directory up to SECONDS late, and a name that it did not find stays absent as long. Its own
//          changes show at once.
//   sshfs  only listings are late.

#define FUSE_USE_VERSION 35

#include <dirent.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

enum class Like { ceph, nfs, sshfs };
constexpr std::size_t page_bytes = 4096;
using Page = std::array<char, page_bytes>;

struct Options {
    Like like = Like::ceph;
    std::chrono::duration<double> seconds{};
    std::string directory;
};

/// A file or directory known to the kernel of a client.
struct Node {
    int fd = -1;  // O_PATH
    std::uint64_t lookups = 0;
    std::map<std::uint64_t, Page> pages;  // LIKE ceph: by page number
};

/// The cached state of a directory.
struct Listing {
    Clock::time_point seen{};
    std::map<std::string, unsigned char> names = {};       // with their d_type
    std::map<std::string, Clock::time_point> absent = {};  // with the time of the failed lookup
};

struct Client {
    const Options& options;
    fuse_session* session = nullptr;
    std::map<fuse_ino_t, Node> nodes = {};
    std::map<fuse_ino_t, Listing> listings = {};

    int fd_of(fuse_ino_t node) { return nodes.at(node).fd; }
};

std::mutex all_mutex;  // guards everything: the tests are small
std::vector<std::unique_ptr<Client>> clients;

std::string by_fd(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

/// A request. It locks all clients.
class Call {
public:
    explicit Call(fuse_req_t request) : request_(request) {}
    Client& client() { return *static_cast<Client*>(fuse_req_userdata(request_)); }
    int fd_of(fuse_ino_t node) { return client().fd_of(node); }
    /// `outcome` is the result of a system call: -1 with errno, or success.
    void answer(long outcome) { fuse_reply_err(request_, outcome < 0 ? errno : 0); }

    void answer_entry(fuse_ino_t parent, const char* name, fuse_file_info* opened = nullptr) {
        const int fd = ::openat(fd_of(parent), name, O_PATH | O_NOFOLLOW);
        struct stat about {};
        if (fd < 0 || ::fstat(fd, &about) != 0) return answer(-1);
        auto& node = client().nodes[about.st_ino];
        if (node.lookups++ == 0) node.fd = fd;
        else ::close(fd);
        fuse_entry_param entry{};  // no timeouts: the kernel asks every time
        entry.ino = about.st_ino;
        entry.attr = about;
        if (opened != nullptr) fuse_reply_create(request_, &entry, opened);
        else fuse_reply_entry(request_, &entry);
    }

    /// The directory as the client sees it: the cached listing if it is fresh enough.
    const Listing& listing(fuse_ino_t directory) {
        auto& seen = client().listings[directory];
        if (client().options.like != Like::ceph && remembers(seen.seen)) return seen;
        seen.seen = Clock::now();
        seen.names.clear();
        if (DIR* open = ::opendir(by_fd(fd_of(directory)).c_str())) {
            while (const dirent* entry = ::readdir(open)) seen.names.emplace(entry->d_name, entry->d_type);
            ::closedir(open);
        }
        return seen;
    }
    bool remembers(Clock::time_point seen) { return Clock::now() - seen < client().options.seconds; }
    /// The client itself has changed the directory.
    void forget_listing(fuse_ino_t directory) { client().listings.erase(directory); }

    /// Bytes were written to the directory. The writer updates its pages unless the write was direct; the rest of the
    /// clients drop theirs.
    void wrote(fuse_ino_t file, const char* bytes, std::size_t size, std::uint64_t offset, bool direct) {
        for (const auto& each : clients) {
            const auto node = each->nodes.find(file);
            if (node == each->nodes.end()) continue;
            if (each.get() != &client()) node->second.pages.clear();
            else if (!direct) write_pages(node->second, bytes, size, offset);
        }
    }

private:
    static void write_pages(Node& node, const char* bytes, std::size_t size, std::uint64_t offset) {
        for (auto& [number, page] : node.pages)
            for (std::size_t i = 0; i < page_bytes; ++i)
                if (const auto at = number * page_bytes + i; at >= offset && at < offset + size)
                    page[i] = bytes[at - offset];
    }

    const std::lock_guard<std::mutex> lock_{all_mutex};
    fuse_req_t request_;
};

void do_init(void*, fuse_conn_info* connection) {
    // Otherwise the kernel drops its pages when the modification time of a file changes.
    connection->want &= ~static_cast<unsigned>(FUSE_CAP_AUTO_INVAL_DATA);
}

void do_lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
    Call call(request);
    struct stat about {};
    const bool is_found = ::fstatat(call.fd_of(parent), name, &about, AT_SYMLINK_NOFOLLOW) == 0;
    if (call.client().options.like == Like::nfs) {
        auto& absent = call.client().listings[parent].absent;
        const auto missed = absent.find(name);
        if (missed != absent.end() && call.remembers(missed->second)) {
            errno = ENOENT;
            return call.answer(-1);
        }
        if (!is_found) absent[name] = Clock::now();
        else absent.erase(name);
    }
    call.answer_entry(parent, name);
}

void do_forget(fuse_req_t request, fuse_ino_t node, std::uint64_t lookups) {
    {
        Call call(request);
        const auto match = call.client().nodes.find(node);
        if (node != FUSE_ROOT_ID && match != call.client().nodes.end() && (match->second.lookups -= lookups) == 0) {
            ::close(match->second.fd);
            call.client().nodes.erase(match);
            call.client().listings.erase(node);
        }
    }
    fuse_reply_none(request);
}

void do_getattr(fuse_req_t request, fuse_ino_t node, fuse_file_info*) {
    Call call(request);
    struct stat about {};
    if (::fstat(call.fd_of(node), &about) != 0) return call.answer(-1);
    fuse_reply_attr(request, &about, 0);
}

void do_setattr(fuse_req_t request, fuse_ino_t node, struct stat* wanted, int what, fuse_file_info*) {
    Call call(request);
    const auto path = by_fd(call.fd_of(node));
    int outcome = 0;
    if ((what & FUSE_SET_ATTR_MODE) != 0) outcome = ::chmod(path.c_str(), wanted->st_mode);
    if (outcome == 0 && (what & FUSE_SET_ATTR_SIZE) != 0) {
        outcome = ::truncate(path.c_str(), wanted->st_size);
        for (const auto& each : clients)
            if (const auto match = each->nodes.find(node); match != each->nodes.end()) match->second.pages.clear();
    }
    if (outcome == 0 && (what & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME)) != 0) {
        const auto time = [&](int set, int now, const timespec& given) {
            if ((what & now) != 0) return timespec{0, UTIME_NOW};
            return (what & set) != 0 ? given : timespec{0, UTIME_OMIT};
        };
        const timespec times[] = {time(FUSE_SET_ATTR_ATIME, FUSE_SET_ATTR_ATIME_NOW, wanted->st_atim),
                                  time(FUSE_SET_ATTR_MTIME, FUSE_SET_ATTR_MTIME_NOW, wanted->st_mtim)};
        outcome = ::utimensat(AT_FDCWD, path.c_str(), times, 0);
    }
    struct stat about {};
    if (outcome != 0 || ::stat(path.c_str(), &about) != 0) return call.answer(-1);
    fuse_reply_attr(request, &about, 0);
}

void do_mkdir(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode) {
    Call call(request);
    call.forget_listing(parent);
    if (::mkdirat(call.fd_of(parent), name, mode) != 0) return call.answer(-1);
    call.answer_entry(parent, name);
}

void do_unlink(fuse_req_t request, fuse_ino_t parent, const char* name) {
    Call call(request);
    call.forget_listing(parent);
    call.answer(::unlinkat(call.fd_of(parent), name, 0));
}

void do_rmdir(fuse_req_t request, fuse_ino_t parent, const char* name) {
    Call call(request);
    call.forget_listing(parent);
    call.answer(::unlinkat(call.fd_of(parent), name, AT_REMOVEDIR));
}

void do_rename(fuse_req_t request, fuse_ino_t from, const char* name, fuse_ino_t to, const char* new_name,
               unsigned flags) {
    Call call(request);
    call.forget_listing(from);
    call.forget_listing(to);
    call.answer(::renameat2(call.fd_of(from), name, call.fd_of(to), new_name, flags));
}

void do_open(fuse_req_t request, fuse_ino_t node, fuse_file_info* info) {
    Call call(request);
    const int fd = ::open(by_fd(call.fd_of(node)).c_str(), info->flags & ~(O_DIRECT | O_NOFOLLOW | O_CREAT | O_EXCL));
    if (fd < 0) return call.answer(-1);
    info->fh = static_cast<std::uint64_t>(fd);
    info->keep_cache = call.client().options.like == Like::ceph ? 1 : 0;
    fuse_reply_open(request, info);
}

void do_create(fuse_req_t request, fuse_ino_t parent, const char* name, mode_t mode, fuse_file_info* info) {
    Call call(request);
    call.forget_listing(parent);
    const int fd = ::openat(call.fd_of(parent), name, (info->flags & ~O_DIRECT) | O_CREAT, mode);
    if (fd < 0) return call.answer(-1);
    info->fh = static_cast<std::uint64_t>(fd);
    info->keep_cache = call.client().options.like == Like::ceph ? 1 : 0;
    call.answer_entry(parent, name, info);
}

void do_read(fuse_req_t request, fuse_ino_t node, std::size_t size, off_t offset, fuse_file_info* info) {
    Call call(request);
    const auto fd = static_cast<int>(info->fh);
    const bool kept = call.client().options.like == Like::ceph && (info->flags & O_DIRECT) == 0;
    std::vector<char> bytes(size);
    auto got = ::pread(fd, bytes.data(), size, offset);
    if (got < 0) return call.answer(-1);
    auto& pages = call.client().nodes.at(node).pages;
    for (std::size_t done = 0; kept && done < static_cast<std::size_t>(got);) {
        const auto at = static_cast<std::uint64_t>(offset) + done, number = at / page_bytes, within = at % page_bytes;
        auto [page, is_new] = pages.try_emplace(number);
        if (is_new && ::pread(fd, page->second.data(), page_bytes, static_cast<off_t>(number * page_bytes)) < 0)
            return call.answer(-1);
        const auto now = std::min(page_bytes - within, static_cast<std::size_t>(got) - done);
        std::memcpy(bytes.data() + done, page->second.data() + within, now);
        done += now;
    }
    fuse_reply_buf(request, bytes.data(), static_cast<std::size_t>(got));
}

void do_write(fuse_req_t request, fuse_ino_t node, const char* bytes, std::size_t size, off_t offset,
              fuse_file_info* info) {
    Call call(request);
    const auto wrote = ::pwrite(static_cast<int>(info->fh), bytes, size, offset);
    if (wrote < 0) return call.answer(-1);
    call.wrote(node, bytes, static_cast<std::size_t>(wrote), static_cast<std::uint64_t>(offset),
               (info->flags & O_DIRECT) != 0);
    fuse_reply_write(request, static_cast<std::size_t>(wrote));
}

void do_release(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
    Call call(request);
    call.answer(::close(static_cast<int>(info->fh)));
}

void do_fsync(fuse_req_t request, fuse_ino_t, int, fuse_file_info*) {
    Call(request).answer(0);
}  // no test cuts the power

// Makes the whole listing at opendir, in the form that readdir(3) needs.
void do_opendir(fuse_req_t request, fuse_ino_t node, fuse_file_info* info) {
    Call call(request);
    auto bytes = std::make_unique<std::vector<char>>();
    for (const auto& [name, type] : call.listing(node).names) {
        struct stat about {};
        about.st_ino = 1;  // the kernel skips entries without a number
        about.st_mode = static_cast<mode_t>(DTTOIF(type));
        const auto at = bytes->size(), entry = fuse_add_direntry(request, nullptr, 0, name.c_str(), nullptr, 0);
        bytes->resize(at + entry);
        fuse_add_direntry(request, bytes->data() + at, entry, name.c_str(), &about, static_cast<off_t>(at + entry));
    }
    info->fh = reinterpret_cast<std::uint64_t>(bytes.release());
    fuse_reply_open(request, info);
}

void do_readdir(fuse_req_t request, fuse_ino_t, std::size_t size, off_t offset, fuse_file_info* info) {
    const auto& bytes = *reinterpret_cast<std::vector<char>*>(info->fh);
    const auto from = std::min(static_cast<std::size_t>(offset), bytes.size());
    // Only whole entries: each entry holds the offset of the next.
    std::size_t end = from;
    while (end < bytes.size()) {
        std::uint64_t next = 0;  // fuse_dirent begins with ino, then off
        std::memcpy(&next, bytes.data() + end + sizeof(std::uint64_t), sizeof(next));
        if (next - from > size) break;
        end = next;
    }
    fuse_reply_buf(request, bytes.data() + from, end - from);
}

void do_releasedir(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
    delete reinterpret_cast<std::vector<char>*>(info->fh);
    fuse_reply_err(request, 0);
}

void do_statfs(fuse_req_t request, fuse_ino_t) {
    Call call(request);
    struct statvfs about {};
    if (::statvfs(call.client().options.directory.c_str(), &about) != 0) return call.answer(-1);
    fuse_reply_statfs(request, &about);
}

int mount_all(const Options& options, int count, char** mounts) {
    fuse_lowlevel_ops ops{};
    ops.init = do_init, ops.lookup = do_lookup, ops.forget = do_forget, ops.getattr = do_getattr;
    ops.setattr = do_setattr, ops.mkdir = do_mkdir, ops.unlink = do_unlink, ops.rmdir = do_rmdir;
    ops.rename = do_rename, ops.open = do_open, ops.create = do_create, ops.read = do_read, ops.write = do_write;
    ops.release = do_release, ops.fsync = do_fsync, ops.opendir = do_opendir, ops.readdir = do_readdir;
    ops.releasedir = do_releasedir, ops.fsyncdir = do_fsync, ops.statfs = do_statfs;
    for (int i = 0; i < count; ++i) {
        auto client = std::make_unique<Client>(options);
        client->nodes[FUSE_ROOT_ID] = {.fd = ::open(options.directory.c_str(), O_PATH), .lookups = 1, .pages = {}};
        char name[] = "caching_fs";
        char* arguments[] = {name};
        fuse_args args FUSE_ARGS_INIT(1, arguments);
        client->session = fuse_session_new(&args, &ops, sizeof ops, client.get());
        if (client->session == nullptr || fuse_session_mount(client->session, mounts[i]) != 0) return 1;
        clients.push_back(std::move(client));
    }
    std::vector<std::thread> threads;
    for (const auto& client : clients) threads.emplace_back([&] { fuse_session_loop(client->session); });
    std::puts("mounted");
    std::fflush(stdout);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    int signal = 0;
    sigwait(&signals, &signal);
    for (int i = 0; i < count; ++i) ::umount2(mounts[i], MNT_DETACH);
    for (auto& thread : threads) thread.join();  // a loop ends when nothing is open on its mount
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 5) return std::fprintf(stderr, "usage: caching_fs ceph|nfs|sshfs SECONDS DIRECTORY MOUNT...\n"), 2;
    const std::string like = arguments[1];
    const Options options{.like = like == "nfs"     ? Like::nfs
                                  : like == "sshfs" ? Like::sshfs
                                                    : Like::ceph,
                          .seconds = std::chrono::duration<double>(std::strtod(arguments[2], nullptr)),
                          .directory = arguments[3]};
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // the threads inherit the mask
    ::umask(0);
    return mount_all(options, count - 4, arguments + 4);
}
