// The agent of a node as its session starts and ends it: a process, a thread, or a dedicated rank.

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "agent/agent.hpp"
#include "agent/claim_keeper.hpp"
#include "agent/spool.hpp"
#include "agent/target.hpp"
#include "api/state.hpp"
#include "sys/machine.hpp"
#include "sys/thread.hpp"

namespace forebay {

namespace {

// A started agent that has not said "ready" by then will not.
constexpr std::chrono::seconds agent_start_max{30};

}  // namespace

// An agent inside the application. It has all it uses itself: stuck in a dead mount it outlives its session.
struct SessionState::AgentThread {
    agent::Target target;
    node::Staging staging;
    node::SessionFile file;
    sys::FileLock lock;
    std::atomic<bool> stop{false};
    std::atomic<std::uint32_t> done{0};
};

std::string agent_program(const std::string& configured) {
    if (!configured.empty()) return configured;
    if (const char* program = std::getenv("FOREBAY_AGENT"); program != nullptr && *program != '\0') return program;
    const auto here = std::filesystem::path(sys::own_object_path()).parent_path();
    for (const auto& candidate : {here / "forebay", here.parent_path() / "bin" / "forebay"}) {
        std::error_code error;
        if (std::filesystem::is_regular_file(candidate, error)) return candidate.string();
    }
    return "forebay";
}

Result<> SessionState::ensure_agent() {
    if (staging->agent_lives()) return {};
    switch (options.agent.mode) {
        case AgentMode::process: return start_process();
        case AgentMode::thread: return start_thread();
        case AgentMode::dedicated: return ask_dedicated();
    }
    return {};
}

Result<> SessionState::ask_dedicated() {
    if (posts_.empty())
        return Error{ErrorKind::refused,
                     "agent.mode is \"dedicated\", but no rank is: the session was not opened over what "
                     "forebay::dedicate() gave",
                     "", "call it after MPI_Init, or set agent.mode to \"process\""};
    const auto asked =
        agent::ask(posts_[topology.virtual_index % posts_.size()], staging->directory(), agent_start_max, say_);
    if (asked) return {};
    return because(asked.error(), fmt::format("no agent on {}: {}", sys::host_name(), asked.error().what),
                   "what is staged",
                   fmt::format("look at {}/agent.log, or set agent.mode to \"process\"", staging->directory()));
}

Result<> SessionState::start_process() {
    const auto program = agent_program(options.agent.program);
    auto environment = options.agent.environment;
    const auto started = sys::spawn_daemon({.program = program,
                                            .arguments = {"agent", "--session", staging->directory()},
                                            .environment = std::move(environment),
                                            // What is preloaded into the application is not meant for the agent.
                                            .environment_removed = {"LD_PRELOAD"},
                                            .log_path = node::agent_log_path(staging->directory()),
                                            .is_ready = [this] { return staging->agent_lives(); }},
                                           agent_start_max);
    if (started) return {};
    return because(started.error(), fmt::format("no agent on {}: {}", sys::host_name(), started.error().what),
                   "what is staged",
                   "set agent.program or FOREBAY_AGENT to the forebay command, or agent.mode to \"thread\"");
}

Result<> SessionState::start_thread() {
    FB_TRY_ASSIGN(lock, sys::FileLock::take(node::agent_lock_path(staging->directory())));
    FB_TRY_ASSIGN(joined, node::Staging::join(staging->directory()));
    node::SessionFile file{.run = options.run,
                           .run_id = run_id,
                           .claim = claim_,
                           .host = sys::host_name(),
                           .process = sys::process_id(),
                           .agent = options.agent};
    FB_TRY_ASSIGN(target, agent::target_of(options.run, forwarding_, {}));
    thread_.reset(new AgentThread{std::move(target), std::move(joined), std::move(file), std::move(lock)});
    auto started = sys::Thread::start([agent = thread_] {
        // What cannot be packed stays in the spool, and close() says so; what cannot be drained its slots say.
        static_cast<void>(attempt([&]() -> Result<> {
            const auto silent = [](const std::string&) {};
            const auto& [store, make_view] = agent->target;
            const agent::ClaimKeeper claim(*store, agent->staging, agent->file.run, silent);
            agent::SpoolKeeper spool(*store, agent->staging.directory(), agent->file, silent);
            agent::Agent(*store, agent->staging, agent->file, make_view, silent).run(agent->stop);
            return spool.finish();
        }));
        agent->lock.release();
        agent->done = 1;
        sys::wake_all(agent->done);
    });
    if (started) {
        started->leave();
        return {};
    }
    thread_.reset();
    return because(started.error(), fmt::format("no agent on {}: {}", sys::host_name(), started.error().what),
                   fmt::format("what is staged in {}", staging->directory()),
                   "allow this process more threads; a later call tries again");
}

// A thread cannot outlive the application: what it could not commit stays staged.
void SessionState::end_thread(std::chrono::seconds wait_max) {
    if (!thread_) return;
    thread_->stop = true;
    node::ring(thread_->staging.control().bell);
    const auto deadline = sys::Clock::now() + wait_max;
    while (thread_->done.load() == 0 && sys::Clock::now() < deadline)
        sys::wait_on(thread_->done, 0, deadline - sys::Clock::now());
    thread_.reset();
}

}  // namespace forebay
