// Goal: a killed process counts as ending until the kernel has ended it, and a living process counts as living in each
//       of its states.
// Method: children in each of these states.

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "core/sys/process.hpp"
#include "core/sys/process_state.hpp"
#include "support/dying_process.hpp"
#include "support/soon.hpp"

using namespace forebay;
using sys::ProcessState;
using sys::state_of_process;

namespace {

void collect(pid_t child) { CHECK(::waitpid(child, nullptr, 0) == child); }

}  // namespace

TEST_CASE("this process lives, and numbers of no process are gone") {
    CHECK(state_of_process(sys::process_id()) == ProcessState::living);
    CHECK(state_of_process(0) == ProcessState::gone);
    CHECK(state_of_process(-1) == ProcessState::gone);
    CHECK(state_of_process(0x3fffffff) == ProcessState::gone);
}

TEST_CASE("a process that was killed is ending until nothing of it is left") {
    test::DyingProcess child([] {});
    const auto pid = child.pid();
    CHECK(state_of_process(pid) == ProcessState::living);
    child.kill();
    CHECK(state_of_process(pid) == ProcessState::ending);
    child.let_end();
    CHECK(state_of_process(pid) == ProcessState::gone);
}

TEST_CASE("one that is stopped lives; one that nobody collects is ending") {
    const pid_t child = ::fork();
    if (child == 0)
        for (;;) ::pause();
    ::kill(child, SIGSTOP);
    CHECK(::waitpid(child, nullptr, WUNTRACED) == child);
    CHECK(state_of_process(child) == ProcessState::living);
    ::kill(child, SIGKILL);
    CHECK(test::soon([&] { return state_of_process(child) == ProcessState::ending; }));
    siginfo_t ended{};
    CHECK(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
    CHECK(state_of_process(child) == ProcessState::ending);
    collect(child);
    CHECK(state_of_process(child) == ProcessState::gone);
}

TEST_CASE("one whose first thread has ended lives as long as another thread does") {
    const pid_t child = ::fork();
    if (child == 0) {
        std::thread([] {
            for (;;) ::pause();
        }).detach();
        ::syscall(SYS_exit, 0);  // ends only this thread, without unwinding the test
    }
    const auto first_has_ended = [&] {
        std::ifstream file("/proc/" + std::to_string(child) + "/task/" + std::to_string(child) + "/stat");
        std::string text;
        std::getline(file, text);
        return text.find(") Z") != text.npos;
    };
    CHECK(test::soon(first_has_ended));
    CHECK(state_of_process(child) == ProcessState::living);
    ::kill(child, SIGKILL);
    collect(child);
}
