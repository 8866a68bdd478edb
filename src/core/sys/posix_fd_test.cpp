// Goal: no file, socket, pipe or directory of ours ever has a number from 0 to 2, even if the application has closed
//       them: its output would land there.
// Method: a child closes them and does everything that needs a descriptor. This executable defines libc's calls that
//         return descriptors, and the library finds these first. They look at each descriptor.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <filesystem>
#include <functional>
#include <thread>

#include "core/base/bytes.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/mapping.hpp"
#include "core/sys/private_file.hpp"
#include "core/sys/process.hpp"
#include "core/sys/socket.hpp"
#include "core/sys/store.hpp"
#include "support/temp_directory.hpp"

using namespace forebay;
using namespace forebay::sys;
using namespace std::chrono_literals;

namespace {

std::atomic<int> opened, low;       // returned descriptors, and how many of them are not above 2
std::function<void()> before_open;  // an action of another thread of the application at that moment

int looked_at(long fd) {
    if (fd < 0) return static_cast<int>(fd);
    ++opened;
    if (fd < 3) ++low;
    return static_cast<int>(fd);
}

int open_here(int at, const char* path, int flags, mode_t mode) {
    // Nobody can write to or read from a descriptor of O_PATH.
    if ((flags & O_PATH) != 0) return static_cast<int>(::syscall(SYS_openat, at, path, flags, mode));
    if (before_open) std::exchange(before_open, nullptr)();
    return looked_at(::syscall(SYS_openat, at, path, flags, mode));
}

mode_t mode_in(int flags, va_list arguments) {
    return (flags & O_CREAT) != 0 ? static_cast<mode_t>(va_arg(arguments, int)) : 0;
}

}  // namespace

extern "C" {
int open(const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const auto mode = mode_in(flags, arguments);
    va_end(arguments);
    return open_here(AT_FDCWD, path, flags, mode);
}
int openat(int at, const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const auto mode = mode_in(flags, arguments);
    va_end(arguments);
    return open_here(at, path, flags, mode);
}
int socket(int family, int type, int protocol) noexcept {
    return looked_at(::syscall(SYS_socket, family, type, protocol));
}
int accept4(int fd, sockaddr* address, socklen_t* bytes, int flags) {
    return looked_at(::syscall(SYS_accept4, fd, address, bytes, flags));
}
int pipe2(int ends[2], int flags) noexcept {
    const long done = ::syscall(SYS_pipe2, ends, flags);
    if (done == 0) looked_at(ends[0]), looked_at(ends[1]);
    return static_cast<int>(done);
}
int socketpair(int family, int type, int protocol, int ends[2]) noexcept {
    const long done = ::syscall(SYS_socketpair, family, type, protocol, ends);
    if (done == 0) looked_at(ends[0]), looked_at(ends[1]);
    return static_cast<int>(done);
}
}

namespace {

/// The exit code of `body` in a child whose standard descriptors in `closed` are closed. 90 if a low number was
/// returned, 91 if fewer than `opened_min` descriptors were returned.
int without(std::initializer_list<int> closed, int opened_min, const std::function<int()>& body) {
    const pid_t child = ::fork();
    if (child == 0) {
        for (const int fd : closed) ::close(fd);
        opened = 0;
        low = 0;
        const int code = body();
        ::_exit(code != 0 ? code : low != 0 ? 90 : opened < opened_min ? 91 : 0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool nobody_prints() {
    for (const int fd : {0, 1, 2})
        if (::write(fd, "printed", 7) >= 0 || errno != EBADF) return false;
    return true;
}

int use_files(const test::TempDirectory& dir) {
    auto& store = posix_store();
    auto file = store.open(dir / "f", Access::create).value();
    auto direct = store.open(dir / "d", Access::create_direct).value();
    if (!nobody_prints()) return 11;
    file->write(0, bytes_of("abc")).value();
    store.sync_directory(dir.path()).value();
    write_text_durable(store, dir / "t", "text").value();
    if (!nobody_prints()) return 12;
    if (read_text(store, dir / "t", 100).value() != "text" || *file->size() != 3) return 13;
    if (store.list(dir.path()).value().size() != 3) return 14;
    make_directories_durable(store, dir / "a/b").value();
    store.remove_tree(dir / "a").value();
    forget_cached(dir / "f").value();
    write_private(dir / "p", "private").value();
    if (read_private(dir / "p").value() != "private") return 15;
    auto mapping = Mapping::create(dir / "m", 4096).value();
    const auto lock = FileLock::take(dir / "l").value();
    if (!lock_is_held(dir / "l") || !nobody_prints()) return 16;
    pin_to_cpus("all").value();
    if (own_object_path().empty() || !nobody_prints()) return 17;
    return 0;
}

int use_sockets() {
    auto listener = Listener::open("127.0.0.1:0").value();
    auto client = Connection::open("127.0.0.1:" + std::to_string(listener.port()), 10s).value();
    auto server = std::move(*listener.accept().value());
    if (!nobody_prints()) return 21;
    client.send(bytes_of("abc"), 10s).value();
    std::array<std::byte, 3> got{};
    server.receive(got, 10s).value();
    return text_of(got) == "abc" && !own_addresses("")->empty() && nobody_prints() ? 0 : 22;
}

int use_programs(const test::TempDirectory& dir) {
    if (output_of({"echo", "said"}, 10s).value() != "said\n") return 31;
    Spawn spawn{.program = "/bin/sh", .arguments = {"-c", "echo logged"}, .log_path = dir / "log"};
    spawn_daemon(spawn, 10s).value();
    return read_text(posix_store(), dir / "log", 100).value() == "logged\n" && nobody_prints() ? 0 : 32;
}

}  // namespace

TEST_CASE("files, directories, locks and mappings stay above the standard descriptors") {
    const test::TempDirectory dir;
    CHECK(without({0, 1, 2}, 15, [&] { return use_files(dir); }) == 0);
}

TEST_CASE("sockets of either side stay above them") { CHECK(without({0, 1, 2}, 3, use_sockets) == 0); }

TEST_CASE("pipes to programs, and their logs, stay above them") {
    const test::TempDirectory dir;
    CHECK(without({0, 1, 2}, 4, [&] { return use_programs(dir); }) == 0);
}

TEST_CASE("one that is closed alone, or in the moment in which we open, is no place for a file either") {
    const test::TempDirectory dir;
    for (const int closed : {0, 1, 2}) {
        CAPTURE(closed);
        CHECK(without({closed}, 1, [&] {
                  const auto file = posix_store().open(dir / "f", Access::create).value();
                  return ::write(closed, "printed", 7) >= 0 ? 1 : 0;
              }) == 0);
        CHECK(without({}, 0, [&] {
                  before_open = [&] { ::close(closed); };
                  const auto file = posix_store().open(dir / "f", Access::create).value();
                  low = 0;  // the kernel's number, before it was moved
                  if (::write(closed, "printed", 7) >= 0) return 1;
                  return file->write(0, bytes_of("abc")) && *file->size() == 3 ? 0 : 2;
              }) == 0);
    }
}

TEST_CASE("standard descriptors that are open stay what they are") {
    const test::TempDirectory dir;
    CHECK(without({0}, 1, [&] {
              const auto file = posix_store().open(dir / "f", Access::create).value();
              return ::fcntl(1, F_GETFL) >= 0 && (::fcntl(1, F_GETFL) & O_PATH) == 0 ? 0 : 1;
          }) == 0);
}

TEST_CASE("a program that holds them keeps the files of other libraries off them too") {
    CHECK(without({0, 1, 2}, 1, [] {
              hold_standard_descriptors();
              return ::open("/dev/null", O_RDWR) > 2 && nobody_prints() ? 0 : 1;
          }) == 0);
}
