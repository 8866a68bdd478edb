// Goal: a run's lock works with and without locks of the target's file system: one holder, and free after its death.
// Without locks, a lock that another host may hold is held, and its error names the next step.
// Method: this executable defines fcntl, which the library finds first; it fails below a directory with each errno of
// such file systems. Holders are forked and killed; another host is simulated by the name that its process would leave.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <filesystem>

#include "core/sys/private_file.hpp"
#include "path/node/run_lock.hpp"
#include "path/node/staging.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::node;

namespace {

std::string without_locks;  // the directory
int number_of_none = 0;

bool has_none(int fd) {
    std::array<char, 4096> path{};
    const auto link = "/proc/self/fd/" + std::to_string(fd);
    if (without_locks.empty() || ::readlink(link.c_str(), path.data(), path.size() - 1) < 0) return false;
    return std::string_view(path.data()).starts_with(without_locks);
}

int control(int fd, int command, void* argument) {
    const bool locks = command == F_OFD_SETLK || command == F_OFD_GETLK;
    if (!locks || !has_none(fd)) return static_cast<int>(::syscall(SYS_fcntl, fd, command, argument));
    errno = number_of_none;
    return -1;
}

}  // namespace

extern "C" int fcntl(int fd, int command, ...) {
    std::va_list arguments;
    va_start(arguments, command);
    void* const argument = va_arg(arguments, void*);
    va_end(arguments);
    return control(fd, command, argument);
}
extern "C" int fcntl64(int fd, int command, ...) {
    std::va_list arguments;
    va_start(arguments, command);
    void* const argument = va_arg(arguments, void*);
    va_end(arguments);
    return control(fd, command, argument);
}

namespace {

// A target without locks, while the object lives.
struct Target {
    explicit Target(int number = ENOSYS) {
        without_locks = folder.path();
        number_of_none = number;
    }
    ~Target() { without_locks.clear(); }
    test::TempDirectory folder;
    std::string lock = folder / "lock", record = lock + ".host";
};

// A process that holds the lock until it is killed.
class Holder {
public:
    explicit Holder(const std::string& path) {
        std::array<int, 2> ends{};
        REQUIRE(::pipe(ends.data()) == 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            const auto lock = RunLock::take(path);
            const char word = lock ? 'y' : 'n';
            if (::write(ends[1], &word, 1) != 1) ::_exit(1);
            for (;;) ::pause();
        }
        char word = 0;
        REQUIRE(::read(ends[0], &word, 1) == 1);
        CHECK(word == 'y');
        ::close(ends[0]);
        ::close(ends[1]);
    }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    ~Holder() { kill(); }
    void kill() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }

private:
    pid_t pid_ = -1;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void leave_word(const Target& target, const std::string& host) {
    REQUIRE(sys::create_private(target.lock, "").value());
    REQUIRE(sys::create_private(target.record, host).value());
}

}  // namespace

TEST_CASE("one holder at a time, of threads and processes, with locks at the target and without") {
    for (const int number : {0, ENOSYS, ENOLCK, EOPNOTSUPP}) {
        CAPTURE(number);
        const Target target(number);
        if (number == 0) without_locks.clear();
        CHECK_FALSE(run_lock_is_held(target.lock));  // does not exist yet
        auto lock = RunLock::take(target.lock).value();
        CHECK(lock.held());
        CHECK(lock.is_of_host() == (number != 0));
        CHECK(run_lock_is_held(target.lock));
        CHECK(RunLock::take(target.lock).error().kind == ErrorKind::retry);
        CHECK(run_lock_doubt(target.lock).empty());
        CHECK(std::filesystem::exists(target.record) == (number != 0));
        auto moved = std::move(lock);
        CHECK(moved.held());
        CHECK(run_lock_is_held(target.lock));
        moved.release();
        CHECK_FALSE(run_lock_is_held(target.lock));
        CHECK_FALSE(std::filesystem::exists(target.record));
        {
            Holder holder(target.lock);
            CHECK(run_lock_is_held(target.lock));
            CHECK(RunLock::take(target.lock).error().kind == ErrorKind::retry);
            holder.kill();
        }
        CHECK_FALSE(run_lock_is_held(target.lock));
        const auto again = RunLock::take(target.lock).value();
        CHECK(run_lock_is_held(target.lock));
    }
}

TEST_CASE("without locks: another name of the directory is no other lock") {
    const Target target;
    std::filesystem::create_directory(target.folder / "run");
    std::filesystem::create_directory_symlink(target.folder / "run", target.folder / "alias");
    const auto lock = RunLock::take(target.folder / "run/lock").value();
    CHECK(run_lock_is_held(target.folder / "alias/lock"));
    CHECK(RunLock::take(target.folder / "alias/lock").error().kind == ErrorKind::retry);
}

TEST_CASE("without locks: what a process of another host may hold is held, until its word is taken away") {
    for (const char* host : {"other-host\n", ""}) {  // cut off at the begin of its name
        const Target target;
        leave_word(target, host);
        CHECK(run_lock_is_held(target.lock));
        const auto refused = RunLock::take(target.lock);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == ErrorKind::retry);
        const auto text = refused.error().text();
        CHECK_MESSAGE(contains(text, *host != '\0' ? "other-host" : "another host"), text);
        CHECK_MESSAGE(contains(text, "no working locks"), text);
        CHECK_MESSAGE(contains(text, "remove " + target.record), text);
        CHECK(contains(text, run_lock_doubt(target.lock)));
        CHECK(std::filesystem::exists(target.record));
        std::filesystem::remove(target.record);
        CHECK_FALSE(run_lock_is_held(target.lock));
        CHECK(RunLock::take(target.lock));
    }
    const Target target;
    without_locks.clear();
    leave_word(target, "other-host\n");
    CHECK_FALSE(run_lock_is_held(target.lock));  // on a target with locks only they count
    CHECK(run_lock_doubt(target.lock).empty());
}

TEST_CASE("without locks: a child that was forked ends nothing for its parent") {
    const Target target;
    auto lock = RunLock::take(target.lock).value();
    const pid_t child = ::fork();
    if (child == 0) {
        lock.release();
        ::_exit(0);
    }
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    CHECK(std::filesystem::exists(target.record));
    CHECK(run_lock_is_held(target.lock));
}

TEST_CASE("without the run there is nothing to lock") {
    for (const bool locks : {true, false}) {
        const Target target;
        if (locks) without_locks.clear();
        CHECK(RunLock::take(target.folder / "none/lock").error().kind == ErrorKind::missing);
        CHECK_FALSE(run_lock_is_held(target.folder / "none/lock"));
    }
}
