// Goal: the system calls of a save stay an exact list.
// Method: a child process traces its calls (ptrace) between two marks.

#include <doctest/doctest.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "support/sessions.hpp"

using namespace forebay;

namespace {

constexpr long mark = SYS_getppid;  // a call that nothing else makes

// The system calls of `body`'s thread between the marks. Empty if this machine forbids tracing.
std::optional<std::vector<std::uint64_t>> calls_of(const std::function<void(const std::function<void()>&)>& body) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(77);
        ::raise(SIGSTOP);
        body([] { ::syscall(mark); });
        ::_exit(0);
    }
    std::vector<std::uint64_t> calls;
    bool between = false;
    int status = 0;
    for (;;) {
        REQUIRE(::waitpid(child, &status, 0) == child);
        if (WIFEXITED(status) || WIFSIGNALED(status)) break;
        const int stop = WSTOPSIG(status);
        if (stop == SIGSTOP) ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD);
        struct __ptrace_syscall_info info {};
        const bool is_call = stop == (SIGTRAP | 0x80) &&
                             ::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) > 0 &&
                             info.op == PTRACE_SYSCALL_INFO_ENTRY;
        if (is_call && info.entry.nr == mark) between = !between;
        else if (is_call && between) calls.push_back(info.entry.nr);
        const bool is_ours = stop == SIGSTOP || stop == SIGTRAP || stop == (SIGTRAP | 0x80);
        ::ptrace(PTRACE_SYSCALL, child, nullptr, is_ours ? 0 : stop);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) return std::nullopt;
    REQUIRE(WIFEXITED(status));
    REQUIRE(WEXITSTATUS(status) == 0);
    return calls;
}

}  // namespace

TEST_CASE("a save whose slot is known makes four system calls") {
    const auto calls = calls_of([](const std::function<void()>& here) {
        const test::TempDirectory folder("/dev/shm");
        auto options = test::options_in(folder, 1);
        options.agent.mode = AgentMode::process;
        options.copy_threads = 1;  // each further thread is woken, and may be waited for
        auto session = detail::open_over(std::make_unique<GroupHolder>(comm::alone()), options).value();
        auto stream = session.stream("restart", {.slots = 1}).value();
        std::vector<double> u(2u << 20, 1.0);
        stream.array("u", f64, {u.size()}, {packed({{0}, {u.size()}}, u.data())}).value();
        auto table = stream.particles("dm", {{"x", f64}}).value();
        for (std::int64_t step = 0; step < 3; ++step) {
            table.bind(900'000 + static_cast<std::uint64_t>(step), {u.data()}).value();
            stream.wait_committed(std::chrono::seconds(60)).value();
            if (step == 2) here();
            const bool kept = stream.save(step).value().kept;
            if (step == 2) here();
            if (!kept) ::_exit(1);
        }
        session.close().value();
    });
    if (!calls) {
        MESSAGE("not tried: this machine lets no process trace another");
        return;
    }
    // At its beginning and before it copies, a save checks that this process opened the session. The first rank of a
    // node wakes the ranks that wait for its decision about the slot and, after the seal, the agent.
    CHECK(*calls == std::vector<std::uint64_t>{SYS_getpid, SYS_getpid, SYS_futex, SYS_futex});
}
