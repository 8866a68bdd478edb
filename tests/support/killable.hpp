// An application in its own process with threads as ranks, its agents, and the program `forebay`. Tests start them,
// kill them and read their answers. For doctest programs.

#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "bindings/api/state.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/process.hpp"
#include "path/node/watch.hpp"
#include "support/row_rank.hpp"
#include "support/soon.hpp"
#include "support/staging_of.hpp"
#include "support/thread_group.hpp"

namespace forebay::test {

// A process that runs `body` and then waits to be killed. It sends numbers to its parent through a pipe.
class Application {
public:
    using Tell = std::function<void(std::int64_t)>;
    explicit Application(const std::function<void(const Tell&)>& body) {
        int ends[2];
        // Closed at exec: otherwise an agent that outlives the application would hold the pipe open.
        REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            try {
                body([&](std::int64_t number) {
                    if (::write(ends[1], &number, sizeof(number)) != sizeof(number)) ::_exit(2);
                });
                for (;;) ::pause();
            } catch (const std::exception& thrown) {
                std::fprintf(stderr, "the application failed: %s\n", thrown.what());
                ::_exit(1);
            }
        }
        ::close(ends[1]);
        from_ = ends[0];
    }
    Application(const Application&) = delete;
    Application& operator=(const Application&) = delete;
    ~Application() {
        kill();
        ::close(from_);
    }
    std::int64_t hear() const {
        std::int64_t number = -99;
        const auto got = ::read(from_, &number, sizeof(number));
        REQUIRE(got == sizeof(number));
        return number;
    }
    /// Waits until the application sends a number or ends.
    void wait_for_word() const {
        pollfd word{.fd = from_, .events = POLLIN, .revents = 0};
        REQUIRE(::poll(&word, 1, 60'000) == 1);
    }
    /// All numbers that were sent but not read. Call it after the application's end.
    std::vector<std::int64_t> hear_rest() const {
        std::vector<std::int64_t> all;
        for (std::int64_t number = 0; ::read(from_, &number, sizeof(number)) == sizeof(number);) all.push_back(number);
        return all;
    }
    /// Returns the status of waitpid; 0 if the process was killed before.
    int kill() {
        if (pid_ <= 0) return 0;
        int status = 0;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        return status;
    }

private:
    pid_t pid_ = -1;
    int from_ = -1;
};

inline std::vector<std::string> staged(const Options& options) {
    return node::staging_directories(options.staging).value();
}

// The process in "... agent 4711 serves ..." of the last agent that started here; -1 before its first line.
inline pid_t agent_in_log(const std::string& directory) {
    std::ifstream log(directory + "/agent.log");
    pid_t last = -1;
    for (std::string line; std::getline(log, line);)
        if (const auto at = line.find(" agent "); at != std::string::npos && line.find(" serves ") != std::string::npos)
            last = static_cast<pid_t>(std::strtol(line.c_str() + at + 7, nullptr, 10));
    return last;
}

// The same, and a failed test before its first line: kill(-1) would reach every process.
inline pid_t agent_of(const std::string& directory) {
    const auto agent = agent_in_log(directory);
    REQUIRE(agent > 0);
    return agent;
}

inline void wait_until(const std::function<bool()>& done) { REQUIRE(soon(done, std::chrono::seconds(60))); }

inline void kill_agents(const Options& options) {
    for (const auto& directory : staged(options)) {
        if (!sys::lock_is_held(node::agent_lock_path(directory))) continue;
        // A session holds the lock while it makes its page, and an agent before it writes its first line.
        wait_until([&] { return agent_in_log(directory) > 0 || !sys::lock_is_held(node::agent_lock_path(directory)); });
        const auto agent = agent_in_log(directory);
        if (agent <= 0) continue;
        ::kill(agent, SIGKILL);
        // A living application may have started the next agent by now. That agent holds the lock.
        wait_until(
            [&] { return !sys::lock_is_held(node::agent_lock_path(directory)) || agent_of(directory) != agent; });
    }
}

// Waits until every agent has ended, or only lingers to keep staged snapshots for a restart.
inline void wait_for_agents(const Options& options) {
    const auto lingers = [](const std::string& directory) {
        const auto old = node::Watch::open(directory);
        return old && old->page().lingering.load() == 1;
    };
    for (const auto& directory : staged(options)) {
        const bool left =
            soon([&] { return !sys::lock_is_held(node::agent_lock_path(directory)) || lingers(directory); },
                 std::chrono::seconds(60));
        std::ostringstream log;
        if (!left) log << std::ifstream(directory + "/agent.log").rdbuf();
        REQUIRE_MESSAGE(left, "an agent still works after 60 s; its log:\n" << log.str());
    }
}

inline std::string forebay_program() {
    if (const char* program = std::getenv("FOREBAY_AGENT"); program != nullptr) return program;
    return std::filesystem::path(sys::own_object_path()).parent_path().parent_path() / "bin" / "forebay";
}

struct Said {
    std::string text;
    int exit_code = 0;
};
// The output and exit code of `forebay ARGUMENTS`.
inline Said forebay_run(const std::string& arguments) {
    std::FILE* pipe = ::popen((forebay_program() + " " + arguments + " 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    Said output;
    for (int byte = std::fgetc(pipe); byte != EOF; byte = std::fgetc(pipe)) output.text += static_cast<char>(byte);
    output.exit_code = WEXITSTATUS(::pclose(pipe));
    return output;
}
inline std::string forebay_command(const std::string& arguments, int exit_code = 0) {
    const auto output = forebay_run(arguments);
    CHECK_MESSAGE(output.exit_code == exit_code, output.text);
    return output.text;
}

}  // namespace forebay::test
