// A process that was killed and needs some time to die: the kernel stops it on its way out, for its tracer, until it is
// let go. It keeps its files and locks so long, as a process does whose memory the kernel takes back. For test programs
// of doctest.

#pragma once

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace forebay::test {

/// All calls by the thread that made it, as ptrace(2) demands.
class DyingProcess {
public:
    /// Forks a process, which is ready when `body` has returned.
    explicit DyingProcess(const std::function<void()>& body) {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            body();
            if (::write(ends[1], "r", 1) != 1) ::_exit(2);
            for (;;) ::pause();
        }
        ::close(ends[1]);
        char word = 0;
        REQUIRE(::read(ends[0], &word, 1) == 1);
        ::close(ends[0]);
        REQUIRE(::ptrace(PTRACE_SEIZE, pid_, nullptr, PTRACE_O_TRACEEXIT) == 0);
    }
    DyingProcess(const DyingProcess&) = delete;
    DyingProcess& operator=(const DyingProcess&) = delete;
    ~DyingProcess() {
        if (pid_ <= 0) return;
        if (!is_dying_) kill();
        let_end();
    }

    pid_t pid() const { return pid_; }
    /// It is dying when this returns.
    void kill() {
        ::kill(pid_, SIGKILL);
        int status = 0;
        REQUIRE(::waitpid(pid_, &status, __WALL) == pid_);
        is_dying_ = true;
        const int event = status >> 8;
        REQUIRE(event == (SIGTRAP | (PTRACE_EVENT_EXIT << 8)));
    }
    /// It has ended when this returns.
    void let_end() {
        ::ptrace(PTRACE_DETACH, pid_, nullptr, nullptr);
        int status = 0;
        REQUIRE(::waitpid(pid_, &status, 0) == pid_);
        CHECK(WIFSIGNALED(status));
        pid_ = -1;
    }

private:
    pid_t pid_ = -1;
    bool is_dying_ = false;
};

}  // namespace forebay::test
