// A killed process that needs time to die. As its tracer we stop it during its exit until let_end(). It keeps its files
// and locks until then, as a process does while the kernel frees its memory. For doctest programs.

#pragma once

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace forebay::test {

/// Call everything from the thread that made it: ptrace(2) requires that.
class DyingProcess {
public:
    /// Forks a process. When the constructor returns, `body` has returned in it.
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
    /// When this returns, the process is dying.
    void kill() {
        ::kill(pid_, SIGKILL);
        int status = 0;
        REQUIRE(::waitpid(pid_, &status, __WALL) == pid_);
        is_dying_ = true;
        const int event = status >> 8;
        REQUIRE(event == (SIGTRAP | (PTRACE_EVENT_EXIT << 8)));
    }
    /// When this returns, the process has ended.
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
