// The copy answers over a pipe: a byte, 'g' for good or 'e' for an error, then a number. An error adds its three texts,
// each behind a NUL. A copy that ends without an answer has crashed.

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <array>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <new>
#include <string>
#include <vector>

#include "core/base/try.hpp"
#include "core/sys/apart.hpp"
#include "core/sys/posix_fd.hpp"

namespace forebay::sys {

namespace {

// Texts of errors have some hundred bytes; a library with damaged memory may write anything.
constexpr std::size_t answer_bytes_max = 256u << 10;

/// Signals from people, batch systems and a kernel without memory. They do not mean that the file is damaged.
bool is_from_outside(int signal) {
    return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT ||
           signal == SIGPIPE;
}

void bound_memory(std::uint64_t more_bytes) {
    std::uint64_t pages = 0;  // of the address space: the limit counts it
    std::ifstream("/proc/self/statm") >> pages;
    struct rlimit limit {};
    if (pages == 0 || ::getrlimit(RLIMIT_AS, &limit) != 0) return;
    limit.rlim_cur =
        std::min<rlim_t>(limit.rlim_cur, pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + more_bytes);
    ::setrlimit(RLIMIT_AS, &limit);
}

std::string answer_of(const Result<int>& outcome) {
    if (outcome) return fmt::format("g{}", *outcome);
    const auto& error = outcome.error();
    std::string text = fmt::format("e{}", static_cast<int>(error.kind));
    for (const auto* part : {&error.what, &error.safe, &error.next}) {
        text += '\0';
        text += *part;
    }
    return text;
}

Result<int> outcome_of(const std::string& answer) {
    int number = 0;
    std::from_chars(answer.data() + 1, answer.data() + answer.size(), number);
    if (answer[0] == 'g') return number;
    Error error{static_cast<ErrorKind>(number), "", "", ""};
    std::size_t begin = answer.find('\0');
    for (auto* part : {&error.what, &error.safe, &error.next}) {
        if (begin == std::string::npos) break;
        const auto end = answer.find('\0', ++begin);
        *part = answer.substr(begin, end - begin);
        begin = end;
    }
    return error;
}

Result<int> guarded(const std::function<Result<int>(const Alive&)>& work, const Alive& alive) {
    try {
        return work(alive);
    } catch (const std::bad_alloc&) {
        return Error{ErrorKind::full, "there is not enough memory for the data of the file"};
    } catch (const std::exception& error) {
        return Error{ErrorKind::broken, std::string("unexpected: ") + error.what()};
    }
}

[[noreturn]] void work_apart(const ApartBounds& bounds, int answer_to, pid_t parent,
                             const std::function<Result<int>(const Alive&)>& work) {
    // The copy ends with its parent. A parent that ended before this call shows in getppid().
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    // A crash on a damaged file leaves no core file.
    const struct rlimit no_core {};
    ::setrlimit(RLIMIT_CORE, &no_core);
    bound_memory(bounds.memory_bytes);
    // The application may ignore or handle SIGPROF, but here the timer must end the copy.
    std::signal(SIGPROF, SIG_DFL);
    const auto alive = [&bounds] {
        struct itimerval timer {};
        timer.it_value.tv_sec = bounds.processor_time.count();
        ::setitimer(ITIMER_PROF, &timer, nullptr);
    };
    alive();
    auto outcome = guarded(work, alive);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        outcome = Error{ErrorKind::full, "the output could not be written completely."};
    std::fflush(stderr);
    const auto answer = answer_of(outcome);
    for (std::size_t sent = 0; sent < answer.size();) {
        const auto wrote = ::write(answer_to, answer.data() + sent, answer.size() - sent);
        if (wrote < 0 && errno != EINTR) ::_exit(1);
        if (wrote > 0) sent += static_cast<std::size_t>(wrote);
    }
    ::_exit(0);  // no exit handlers: the memory of a library may be damaged
}

Result<std::string> read_answer(int from) {
    std::string answer;
    std::array<char, 4096> buffer;
    while (answer.size() < answer_bytes_max) {
        const auto got = ::read(from, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return posix_error("read", "a pipe", errno);
        if (got == 0) break;
        answer.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return answer;
}

}  // namespace

Result<int> run_apart(const ApartBounds& bounds, const std::function<Result<int>(const Alive& alive)>& work) {
    Fd from, to;
    if (!new_pipe(from, to)) return posix_error("pipe", "a copy of this process", errno);
    std::fflush(nullptr);  // else both print the buffered text
    const auto parent = ::getpid();
    const auto child = ::fork();
    if (child < 0) return posix_error("fork", "this process", errno);
    if (child == 0) work_apart(bounds, to.get(), parent, work);
    // While this process holds the writing end, the read below sees no end.
    to.close_now();
    const auto answer = read_answer(from.get());
    from.close_now();
    int status = 0;
    while (::waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return posix_error("waitpid", "a copy of this process", errno);
    FB_TRY(answer);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !answer->empty()) return outcome_of(*answer);
    if (!WIFSIGNALED(status))
        return Error{ErrorKind::corrupt,
                     fmt::format("the process that read it ended with exit code {}", WEXITSTATUS(status))};
    const int signal = WTERMSIG(status);
    if (signal == SIGPIPE) ::raise(SIGPIPE);  // nobody reads the output: end as if this process had written it
    if (is_from_outside(signal))
        return Error{ErrorKind::retry, fmt::format("the process that read it was ended by signal {}", signal)};
    if (signal == SIGPROF)
        return Error{ErrorKind::corrupt,
                     fmt::format("the process that read it did not end within {} s", bounds.processor_time.count())};
    return Error{ErrorKind::corrupt, fmt::format("the process that read it crashed, by signal {}", signal)};
}

}  // namespace forebay::sys
