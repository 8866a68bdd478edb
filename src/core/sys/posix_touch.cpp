// Tests in a child whether a directory answers, and how fast: the child may hang there. Between fork and its end the
// child calls only functions that POSIX allows in the child of a threaded process: no allocation, no lock.

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/posix_fd.hpp"
#include "core/sys/posix_spawn.hpp"

namespace forebay::sys {

namespace {

// The child's report: the failed call and its errno; 0: no failure.
struct ChildFailure {
    const char* call = nullptr;
    int number = 0;
};
ChildFailure child_failure(const char* call) { return {call, errno}; }

// Closes every descriptor but `kept`. Linux has the system call from 5.9 on, glibc its function from 2.34
// on. On an older kernel each number below the limit is closed. The call has this number on every processor.
void close_all_but(int kept, rlim_t limit) {
    constexpr long close_range_call = 436;
    const auto after = static_cast<unsigned>(kept) + 1;
    if (::syscall(close_range_call, after, ~0u, 0) == 0) {
        if (kept > 0) ::syscall(close_range_call, 0, after - 2, 0);
        return;
    }
    for (int fd = 0; static_cast<rlim_t>(fd) < limit; ++fd)
        if (fd != kept) ::close(fd);
}

// `Answer` begins with a ChildFailure; its text constants are also valid in the parent. A pipe takes it in one piece.
template <class Answer, class Work>
Result<Answer> asked_of_child(const std::string& directory, std::chrono::milliseconds at_most, const Work& work) {
    static_assert(sizeof(Answer) <= 4096);
    const auto deadline = Clock::now() + at_most;
    Fd from, to;
    if (!new_pipe(from, to)) return posix_error("pipe", directory, errno);
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return posix_error("getrlimit", directory, errno);
    const pid_t child = ::fork();
    if (child < 0) return posix_error("fork", directory, errno);
    if (child == 0) {
        // If this child gets stuck, readers of the program's output must not wait for it: it closes all descriptors.
        close_all_but(to.get(), limit.rlim_cur);
        Answer answer{};
        work(answer);
        ::_exit(::write(to.get(), &answer, sizeof answer) == sizeof answer ? 0 : 1);
    }
    to.close_now();
    Answer answer{};
    ssize_t got = -1;
    while (true) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        struct pollfd ready {
            from.get(), POLLIN, 0
        };
        const int events = ::poll(&ready, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000)));
        if (events > 0) got = ::read(from.get(), &answer, sizeof answer);
        if (got >= 0 || (events <= 0 && left <= 0)) break;
    }
    if (got < 0) {
        ::kill(child, SIGKILL);
        // Not waited for: the child may be stuck in the kernel for good.
        ::waitpid(child, nullptr, WNOHANG);
        return Error{ErrorKind::retry, fmt::format("{} did not answer for {}", directory,
                                                   show_seconds(std::chrono::duration<double>(at_most).count()))};
    }
    static_cast<void>(end_of(child, Clock::now() + std::chrono::seconds(1)));
    if (got != sizeof answer) return Error{ErrorKind::broken, fmt::format("the check of {} was killed", directory)};
    if (answer.failed.number != 0) return posix_error(answer.failed.call, directory, answer.failed.number);
    return answer;
}

// A unique name that a person understands.
std::string child_name(const std::string& directory) {
    return fmt::format("{}/.forebay-preflight-{:016x}", directory, random_u64());
}

struct Touched {
    ChildFailure failed;
};

ChildFailure do_touch(const char* directory, const char* file, Touch how) {
    struct stat about {};
    if (::stat(directory, &about) != 0) return child_failure("stat");
    if (!S_ISDIR(about.st_mode)) return {"stat", ENOTDIR};
    if (how == Touch::look) return {};
    const int fd = open_no_intr(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd < 0) return child_failure("open");
    ::close(fd);
    return ::unlink(file) == 0 ? ChildFailure{} : child_failure("unlink");
}

struct ChildBlock {
    ChildFailure failed;
    std::uint64_t bytes = 0;
};

ChildFailure do_look_at_block(const char* file, std::uint64_t& bytes) {
    struct stat about {};
    const int fd = open_no_intr(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd < 0) return child_failure("open");
    const auto seen = ::fstat(fd, &about) == 0 ? ChildFailure{} : child_failure("fstat");
    bytes = static_cast<std::uint64_t>(about.st_blksize);
    ::close(fd);
    if (::unlink(file) != 0) return child_failure("unlink");
    return seen;
}

double child_seconds() {
    struct timespec now {};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct ChildWrite {
    ChildFailure failed;
    TimedWrite took;
};

ChildFailure write_to(int fd, std::span<const std::byte> piece, std::uint64_t bytes, double seconds_max,
                      TimedWrite& took) {
    const double begin = child_seconds();
    while (took.bytes < bytes && child_seconds() - begin < seconds_max) {
        const auto part = std::min<std::uint64_t>(piece.size(), bytes - took.bytes);
        const auto done = ::pwrite(fd, piece.data(), part, static_cast<off_t>(took.bytes));
        if (done < 0 && errno == EINTR) continue;
        // Some file systems accept the flag at the open, but refuse the write.
        if (done < 0 && errno == EINVAL && took.bytes == 0 && ::fcntl(fd, F_SETFL, 0) == 0) {
            if (::pwrite(fd, piece.data(), part, 0) == static_cast<ssize_t>(part)) took.bytes = part;
            else return child_failure("pwrite");
            continue;
        }
        if (done <= 0) return child_failure("pwrite");
        took.bytes += static_cast<std::uint64_t>(done);
    }
    if (::fdatasync(fd) != 0) return child_failure("fdatasync");
    took.seconds = child_seconds() - begin;
    return {};
}

ChildFailure do_write(const char* file, std::span<const std::byte> piece, std::uint64_t bytes, double seconds_max,
                      TimedWrite& took) {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
    int fd = open_no_intr(file, flags | O_DIRECT, 0600);
    if (fd < 0 && errno == EINVAL) fd = open_no_intr(file, flags, 0600);
    if (fd < 0) return child_failure("open");
    // Without a name before its first byte: no name stays, whatever ends this process.
    if (::unlink(file) != 0) return child_failure("unlink");
    const auto written = write_to(fd, piece, bytes, seconds_max, took);
    // DAOS keeps the bytes of a file that is written without a name until its container is destroyed.
    const bool is_empty = ::ftruncate(fd, 0) == 0;
    const auto emptied = is_empty ? ChildFailure{} : child_failure("ftruncate");
    const auto closed = ::close(fd) == 0 ? ChildFailure{} : child_failure("close");
    if (written.number != 0) return written;
    return is_empty ? closed : emptied;
}

struct ChildFiles {
    ChildFailure failed;
    std::size_t count = 0;
    std::array<double, timed_files_max> seconds{};
};

ChildFailure do_files(const char* own, const std::vector<std::string>& files, double seconds_max, ChildFiles& answer) {
    if (::mkdir(own, 0700) != 0) return child_failure("mkdir");
    const double end = child_seconds() + seconds_max;
    ChildFailure wrong;
    for (const auto& file : files) {
        const double begin = child_seconds();
        struct stat about {};
        const int fd = open_no_intr(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        if (fd < 0) wrong = child_failure("open");
        else if (::close(fd) != 0) wrong = child_failure("close");
        else if (::stat(file.c_str(), &about) != 0) wrong = child_failure("stat");
        if (fd >= 0 && ::unlink(file.c_str()) != 0) wrong = child_failure("unlink");
        if (wrong.number != 0) break;
        answer.seconds[answer.count++] = child_seconds() - begin;
        if (child_seconds() > end) break;
    }
    if (::rmdir(own) != 0 && wrong.number == 0) wrong = child_failure("rmdir");
    return wrong;
}

}  // namespace

Result<> touch(const std::string& directory, Touch how, std::chrono::milliseconds at_most) {
    const auto file = child_name(directory);
    FB_TRY(asked_of_child<Touched>(
        directory, at_most, [&](Touched& answer) { answer.failed = do_touch(directory.c_str(), file.c_str(), how); }));
    return {};
}

Result<std::uint64_t> file_block_bytes(const std::string& directory, std::chrono::milliseconds at_most) {
    const auto file = child_name(directory);
    FB_TRY_ASSIGN(answer, asked_of_child<ChildBlock>(directory, at_most, [&](ChildBlock& block) {
                      block.failed = do_look_at_block(file.c_str(), block.bytes);
                  }));
    return answer.bytes;
}

Result<TimedWrite> timed_write(const std::string& directory, std::span<const std::byte> piece, std::uint64_t bytes,
                               double seconds_max, std::chrono::milliseconds at_most) {
    const auto file = child_name(directory);
    FB_TRY_ASSIGN(written, asked_of_child<ChildWrite>(directory, at_most, [&](ChildWrite& answer) {
                      answer.failed = do_write(file.c_str(), piece, bytes, seconds_max, answer.took);
                  }));
    return written.took;
}

Result<std::vector<double>> timed_files(const std::string& directory, std::size_t count,
                                        std::chrono::milliseconds at_most) {
    const auto own = child_name(directory);
    std::vector<std::string> files;
    for (std::size_t i = 0; i < std::min(count, timed_files_max); ++i) files.push_back(fmt::format("{}/{}", own, i));
    const double seconds_max = std::chrono::duration<double>(at_most).count() / 2;
    FB_TRY_ASSIGN(touched, asked_of_child<ChildFiles>(directory, at_most, [&](ChildFiles& answer) {
                      answer.failed = do_files(own.c_str(), files, seconds_max, answer);
                  }));
    return std::vector<double>(touched.seconds.begin(),
                               touched.seconds.begin() + static_cast<std::ptrdiff_t>(touched.count));
}

}  // namespace forebay::sys
