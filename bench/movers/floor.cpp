// The floor of bench/movers: what two bare threads need to walk, copy, compare or delete a tree of files.
//
//     movers_floor walk SOURCE | copy SOURCE TARGET | compare SOURCE TARGET | delete TARGET
//
// It makes the calls of the system that the work cannot do without, and no others. It keeps bytes, extended attributes,
// owners, permissions and times, but neither hard links nor holes, makes no temporary names, and ends at the first error:
// a limit to compare with, and no tool.

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t buffer_bytes = 1 << 17;
constexpr std::size_t thread_count = 2;

void need(bool good, const char* call, const std::string& path) {
    if (good) return;
    std::perror((std::string(call) + " " + path).c_str());
    std::_Exit(1);
}

/// A folder in the making: where it lies below both tops, and how many folders in it are not done.
struct Branch {
    std::string path;
    Branch* parent = nullptr;
    struct stat status {};
    std::atomic<int> pending{1};
};

class Floor {
public:
    Floor(std::string verb, std::string source, std::string target)
        : verb_(std::move(verb)), source_(std::move(source)), target_(std::move(target)) {}

    int run() {
        if (verb_ == "copy") need(::mkdir(target_.c_str(), 0700) == 0, "mkdir", target_);
        struct stat status {};
        need(::lstat(source_.c_str(), &status) == 0, "lstat", source_);
        add("", nullptr, status);
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < thread_count; ++i) threads.emplace_back([this] { work(); });
        for (auto& thread : threads) thread.join();
        std::printf("%llu entries, %llu bytes, %llu differ\n", static_cast<unsigned long long>(entries_),
                    static_cast<unsigned long long>(bytes_), static_cast<unsigned long long>(different_));
        return different_ == 0 ? 0 : 1;
    }

private:
    void add(const std::string& path, Branch* parent, const struct stat& status) {
        const std::lock_guard lock(mutex_);
        auto& branch = branches_.emplace_back();
        branch.path = path;
        branch.parent = parent;
        branch.status = status;
        waiting_.push_back(&branch);
        ++unfinished_;
        more_.notify_one();
    }

    void work() {
        std::vector<char> first(buffer_bytes), other(buffer_bytes);
        for (;;) {
            std::unique_lock lock(mutex_);
            more_.wait(lock, [this] { return !waiting_.empty() || unfinished_ == 0; });
            if (waiting_.empty()) return;
            auto* const branch = waiting_.back();  // the newest: few folders wait
            waiting_.pop_back();
            lock.unlock();
            list(branch, first, other);
            finish(branch);
            lock.lock();
            if (--unfinished_ == 0) more_.notify_all();
        }
    }

    void list(Branch* branch, std::vector<char>& first, std::vector<char>& other) {
        const auto from = source_ + branch->path, to = target_ + branch->path;
        auto* const folder = ::opendir(from.c_str());
        need(folder != nullptr, "opendir", from);
        const int in = ::dirfd(folder), out = verb_ == "copy" || verb_ == "compare" ? ::open(to.c_str(), O_PATH) : -1;
        while (const auto* entry = ::readdir(folder)) {
            const char* const name = entry->d_name;
            if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
            ++entries_;
            struct stat status {};
            if (verb_ != "delete") need(::fstatat(in, name, &status, AT_SYMLINK_NOFOLLOW) == 0, "stat", name);
            if (verb_ == "delete" ? entry->d_type == DT_DIR : S_ISDIR(status.st_mode)) {
                if (verb_ == "copy") need(::mkdirat(out, name, 0700) == 0, "mkdir", name);
                ++branch->pending;
                add(branch->path + "/" + name, branch, status);
            } else if (verb_ == "delete") {
                need(::unlinkat(in, name, 0) == 0, "unlink", name);
            } else if (verb_ == "copy") {
                copy(in, out, name, status, first);
            } else if (verb_ == "compare") {
                compare(in, out, name, status, first, other);
            }
        }
        ::closedir(folder);
        if (out >= 0) ::close(out);
    }

    /// The last of a folder's folders finishes it: then it gets its time, or goes.
    void finish(Branch* branch) {
        for (; branch != nullptr && --branch->pending == 0; branch = branch->parent) {
            const auto path = (verb_ == "copy" ? target_ : source_) + branch->path;
            if (verb_ == "delete") need(::rmdir(path.c_str()) == 0, "rmdir", path);
            if (verb_ == "copy") give_all(AT_FDCWD, path.c_str(), branch->status);
        }
    }

    void copy(int in, int out, const char* name, const struct stat& status, std::vector<char>& buffer) {
        if (S_ISREG(status.st_mode)) return copy_file(in, out, name, status, buffer);
        if (S_ISLNK(status.st_mode)) {
            const auto length = ::readlinkat(in, name, buffer.data(), buffer.size() - 1);
            buffer[static_cast<std::size_t>(length)] = 0;
            need(::symlinkat(buffer.data(), out, name) == 0, "symlink", name);
        } else {
            need(::mknodat(out, name, status.st_mode, status.st_rdev) == 0, "mknod", name);
        }
        give_all(out, name, status);
    }

    void copy_file(int in, int out, const char* name, const struct stat& status, std::vector<char>& buffer) {
        const int from = ::openat(in, name, O_RDONLY);
        const int to = ::openat(out, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
        need(from >= 0 && to >= 0, "open", name);
        for (off_t left = status.st_size; left > 0;) {
            const auto count = ::read(from, buffer.data(), buffer.size());
            need(count > 0 && ::write(to, buffer.data(), static_cast<std::size_t>(count)) == count, "copy", name);
            left -= count;
            bytes_ += static_cast<unsigned long long>(count);
        }
        char names[4096], value[4096];
        const auto length = ::flistxattr(from, names, sizeof names);
        for (ssize_t at = 0; at < length; at += static_cast<ssize_t>(std::strlen(names + at)) + 1) {
            const auto count = ::fgetxattr(from, names + at, value, sizeof value);
            ::fsetxattr(to, names + at, value, static_cast<std::size_t>(count), 0);
        }
        need(::fchown(to, status.st_uid, status.st_gid) == 0, "chown", name);
        need(::fchmod(to, status.st_mode & 07777u) == 0, "chmod", name);
        const timespec times[2] = {status.st_atim, status.st_mtim};
        need(::futimens(to, times) == 0, "utimens", name);
        ::close(from);
        ::close(to);
    }

    static void give_all(int at, const char* name, const struct stat& status) {
        need(::fchownat(at, name, status.st_uid, status.st_gid, AT_SYMLINK_NOFOLLOW) == 0, "chown", name);
        if (!S_ISLNK(status.st_mode)) need(::fchmodat(at, name, status.st_mode & 07777u, 0) == 0, "chmod", name);
        const timespec times[2] = {status.st_atim, status.st_mtim};
        need(::utimensat(at, name, times, AT_SYMLINK_NOFOLLOW) == 0, "utimens", name);
    }

    void compare(int in, int out, const char* name, const struct stat& status, std::vector<char>& first,
                 std::vector<char>& other) {
        struct stat second {};
        need(::fstatat(out, name, &second, AT_SYMLINK_NOFOLLOW) == 0, "stat", name);
        if (second.st_mode != status.st_mode || second.st_size != status.st_size) ++different_;
        if (!S_ISREG(status.st_mode) || status.st_size == 0 || second.st_size != status.st_size) return;
        const int first_file = ::openat(in, name, O_RDONLY), second_file = ::openat(out, name, O_RDONLY);
        need(first_file >= 0 && second_file >= 0, "open", name);
        for (off_t left = status.st_size; left > 0;) {
            const auto count = ::read(first_file, first.data(), first.size());
            need(count > 0 && ::read(second_file, other.data(), other.size()) == count, "read", name);
            if (std::memcmp(first.data(), other.data(), static_cast<std::size_t>(count)) != 0) ++different_;
            left -= count;
        }
        ::close(first_file);
        ::close(second_file);
    }

    const std::string verb_, source_, target_;
    std::mutex mutex_;
    std::deque<Branch> branches_;  // all that ever were: few, and where they are they stay
    std::condition_variable more_;
    std::vector<Branch*> waiting_;
    std::size_t unfinished_ = 0;
    std::atomic<unsigned long long> entries_{0}, bytes_{0}, different_{0};
};

}  // namespace

int main(int count, char** words) {
    const std::string verb = count > 1 ? words[1] : "";
    const bool of_two = verb == "copy" || verb == "compare";
    if ((!of_two && verb != "walk" && verb != "delete") || count != (of_two ? 4 : 3)) {
        std::fputs("usage: movers_floor walk SOURCE | copy SOURCE TARGET | compare SOURCE TARGET | delete TARGET\n",
                   stderr);
        return 2;
    }
    return Floor(verb, words[2], of_two ? words[3] : "").run();
}
