// Goal: a lock lives as long as the process that took it, whatever that process forks, and whenever.
// Method: separate processes take locks, fork children that sleep, and are killed. This executable defines open(2) and
//         forks between the opening of a lock's file and its locking.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdarg>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/sys/lock.hpp"
#include "support/soon.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::sys;

namespace {

std::function<void()> after_open;

// A process that reports when it is ready, with its forked children in a separate group.
class Family {
public:
    explicit Family(const std::function<void()>& parent) {
        int ready[2];
        REQUIRE(::pipe(ready) == 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            ::setpgid(0, 0);
            parent();
            (void)!::write(ready[1], "r", 1);
            for (;;) ::pause();
        }
        ::close(ready[1]);
        char byte = 0;
        REQUIRE(::read(ready[0], &byte, 1) == 1);
        ::close(ready[0]);
    }
    Family(const Family&) = delete;
    Family& operator=(const Family&) = delete;
    ~Family() { ::kill(-pid_, SIGKILL); }

    void kill_parent() const {
        ::kill(pid_, SIGKILL);
        REQUIRE(::waitpid(pid_, nullptr, 0) == pid_);
        REQUIRE(::kill(-pid_, 0) == 0);  // the child is alive
    }

private:
    pid_t pid_ = -1;
};

pid_t sleeping_child() {
    const pid_t child = ::fork();
    if (child == 0)
        for (;;) ::pause();
    return child;
}

// A child just forked may still wait for its first CPU.
bool becomes_free(const std::string& path) {
    return test::soon([&] { return !lock_is_held(path); });
}

}  // namespace

extern "C" int open(const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const auto mode = (flags & O_CREAT) != 0 ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
    va_end(arguments);
    const auto fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
    if (after_open && (flags & O_CREAT) != 0) std::exchange(after_open, nullptr)();
    return fd;
}

TEST_CASE("a parent that is killed leaves its locks to nobody, though a child of its lives") {
    const test::TempDirectory dir;
    const Family family([&] {
        static auto first = FileLock::take(dir / "a"), second = FileLock::take(dir / "b");
        if (!first || !second) ::_exit(1);
        sleeping_child();
    });
    CHECK(lock_is_held(dir / "a"));
    CHECK(lock_is_held(dir / "b"));
    family.kill_parent();
    CHECK(becomes_free(dir / "a"));
    CHECK(becomes_free(dir / "b"));
    CHECK(FileLock::take(dir / "a"));
}

TEST_CASE("a child that is forked while a lock is being taken does not get it either") {
    const test::TempDirectory dir;
    const Family family([&] {
        after_open = [] { sleeping_child(); };
        static auto lock = FileLock::take(dir / "a");
        if (!lock || after_open) ::_exit(1);
    });
    CHECK(lock_is_held(dir / "a"));
    family.kill_parent();
    CHECK(becomes_free(dir / "a"));
}

TEST_CASE("a child closes nothing of its own when it drops what it inherited, and takes locks itself") {
    const test::TempDirectory dir;
    auto lock = FileLock::take(dir / "a").value();
    const pid_t child = ::fork();
    if (child == 0) {
        const int own = ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // gets the number that the lock had
        if (lock_is_held(dir / "a") != true || FileLock::take(dir / "a")) ::_exit(1);
        lock.release();
        if (::fcntl(own, F_GETFD) < 0) ::_exit(2);
        auto own_lock = FileLock::take(dir / "b");
        const pid_t grandchild = sleeping_child();
        if (!own_lock || !lock_is_held(dir / "b")) ::_exit(3);
        own_lock->release();
        const bool is_free = !lock_is_held(dir / "b");
        ::kill(grandchild, SIGKILL);
        ::_exit(is_free ? 0 : 4);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(lock_is_held(dir / "a"));
}

TEST_CASE("forks beside threads that take and release locks: none hangs, and none is left") {
    const test::TempDirectory dir;
    std::atomic<bool> stop = false;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t)
        threads.emplace_back([&, t] {
            while (!stop) CHECK(FileLock::take(dir / std::to_string(t)));
        });
    std::vector<pid_t> children;
    for (int i = 0; i < 50; ++i) children.push_back(sleeping_child());
    stop = true;
    threads.clear();
    for (int t = 0; t < 3; ++t) CHECK(becomes_free(dir / std::to_string(t)));
    for (const pid_t child : children) {
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
}
