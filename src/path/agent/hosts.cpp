#include "path/agent/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/process.hpp"
#include "core/sys/store.hpp"
#include "core/sys/thread.hpp"
#include "path/agent/keeper.hpp"
#include "path/agent/serve.hpp"

namespace forebay::agent {

namespace {

// A started agent that is not ready by then will never be.
constexpr std::chrono::seconds agent_start_max{30};
// A thread that still works when its session is destroyed without close() may be stuck.
constexpr std::chrono::seconds abandoned_agent_max{1};

bool is_gone(const std::string& directory) {
    const auto there = sys::posix_store().exists(directory);
    return there && !*there;
}

// If somebody removed the directory, nothing is staged any more.
std::string safe_in(const std::string& directory) {
    if (is_gone(directory)) return "only committed snapshots: another process removed " + directory;
    return "the staged copies in " + directory;
}

// The error of a started agent shows how it ended.
std::string next_of(const Error& why, const std::string& directory) {
    if (is_gone(directory))
        return fmt::format(
            "find out which program empties {} (RemoveIPC of logind, tmpfiles, a script), then start again", directory);
    if (!why.next.empty())
        return fmt::format("{}; forebay drain {} on {} commits the staged copies", why.next, directory,
                           sys::host_name());
    return "set agent.program or FOREBAY_AGENT to the forebay command, agent.cpus to CPUs that this job may use, or "
           "agent.mode to \"thread\"";
}

/// Outlives its application, and ends by itself.
class ProcessHost final : public node::Host {
public:
    ProcessHost(AgentOptions options, std::string directory, node::Say say)
        : options_(std::move(options)), directory_(std::move(directory)), say_(std::move(say)) {}

    Result<> ensure() override {
        const auto lives = [this] { return sys::lock_is_held(node::agent_lock_path(directory_)); };
        if (lives()) return {};
        const sys::Spawn spawn{.program = agent_program(options_.program),
                               .arguments = {"agent", "--session", directory_},
                               .environment = options_.environment,
                               // A library that is preloaded into the application is not meant for the agent. With the
                               // second variable libpil4dfs lets an agent open files that the kernel misses (measured).
                               .environment_removed = {"LD_PRELOAD", "D_IL_COMPATIBLE"},
                               .log_path = node::agent_log_path(directory_),
                               .is_ready = lives,
                               .interrupted = say_.interrupted};
        const auto hosted = ask_keeper(directory_, spawn, agent_start_max);
        if (hosted && *hosted) return {};
        // Without the keeper's help the session starts the agent as it does without a keeper.
        const auto started = sys::spawn_daemon(spawn, agent_start_max);
        if (started) return {};
        return with_context(started.error(), fmt::format("no agent on {}: {}", sys::host_name(), started.error().what),
                            safe_in(directory_), next_of(started.error(), directory_));
    }
    void end(std::chrono::seconds) override {}

private:
    const AgentOptions options_;
    const std::string directory_;
    const node::Say say_;
};

/// An agent inside the application. Uncommitted snapshots stay staged when the application ends.
class ThreadHost final : public node::Host {
public:
    explicit ThreadHost(std::string directory) : directory_(std::move(directory)) {}
    ~ThreadHost() override { end(abandoned_agent_max); }

    Result<> ensure() override {
        if (sys::lock_is_held(node::agent_lock_path(directory_))) return {};
        FB_TRY_ASSIGN(serving, enter(directory_, {}, [](const Event&) {}));
        if (!serving) return {};
        serving->agent = "thread";
        thread_ = std::make_shared<Running>(std::move(*serving));
        auto started = sys::Thread::start([running = thread_] {
            // close() reports files that cannot be packed; slots report failed drains.
            static_cast<void>(attempt([&]() -> Result<> { return serve(running->serving, running->stop).packed; }));
            running->serving.lock.release();
            running->done = 1;
            sys::wake_all(running->done);
        });
        if (started) {
            // Not joined: the thread may hang in a dead mount. end() waits for `done`, with a limit.
            started->leave();
            return {};
        }
        thread_.reset();
        return with_context(started.error(), fmt::format("no agent on {}: {}", sys::host_name(), started.error().what),
                            safe_in(directory_), "allow this process more threads. A later call tries again");
    }

    void end(std::chrono::seconds wait_max) override {
        if (!thread_) return;
        thread_->stop = true;
        node::ring(thread_->serving.staging.control().bell);
        const auto deadline = sys::Clock::now() + wait_max;
        while (thread_->done.load() == 0 && sys::Clock::now() < deadline)
            sys::wait_on(thread_->done, 0, deadline - sys::Clock::now());
        thread_.reset();
    }

private:
    // Shared with the thread: a thread in a dead mount outlives its session.
    struct Running {
        explicit Running(Serving all) : serving(std::move(all)) {}
        Serving serving;
        std::atomic<bool> stop{false};
        std::atomic<std::uint32_t> done{0};
    };

    const std::string directory_;
    std::shared_ptr<Running> thread_;
};

/// A rank that serves all nodes of its machine, and ends their agents with their sessions.
class DedicatedHost final : public node::Host {
public:
    DedicatedHost(Post* post, std::string directory, node::Say say)
        : post_(post), directory_(std::move(directory)), say_(std::move(say)) {}

    Result<> ensure() override {
        if (sys::lock_is_held(node::agent_lock_path(directory_))) return {};
        if (post_ == nullptr)
            return Error{ErrorKind::refused,
                         "agent.mode is \"dedicated\", but no rank is dedicated: open the session over the "
                         "communicator from forebay::dedicate()",
                         "", "call it after MPI_Init, or set agent.mode to \"process\""};
        const auto asked = ask(*post_, directory_, agent_start_max, say_);
        if (asked) return {};
        return with_context(asked.error(), fmt::format("no agent on {}: {}", sys::host_name(), asked.error().what),
                            safe_in(directory_),
                            fmt::format("look at {}/agent.log, or set agent.mode to \"process\"", directory_));
    }
    void end(std::chrono::seconds) override {}

private:
    Post* const post_;
    const std::string directory_;
    const node::Say say_;
};

}  // namespace

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

PythonPlace python_place(const std::string& configured) {
    namespace fs = std::filesystem;
    PythonPlace place{configured.empty() ? "python3" : configured, {}};
    const auto here = fs::path(sys::own_object_path()).parent_path();
    std::error_code error;
    // SITE/forebay/lib of an installed package; BUILD/lib.
    for (const auto& packages : {here.parent_path().parent_path(), here.parent_path() / "python"}) {
        if (!fs::is_regular_file(packages / "forebay" / "insitu_worker.py", error)) continue;
        const char* const others = std::getenv("PYTHONPATH");
        const auto path = packages.string() + (others != nullptr && *others != '\0' ? std::string(":") + others : "");
        place.environment.emplace_back("PYTHONPATH", path);
        place.packages = packages.string();
        // PREFIX/lib/pythonX.Y/site-packages
        const auto beside = packages.parent_path().parent_path().parent_path() / "bin" / "python3";
        if (configured.empty() && packages.filename() == "site-packages" && fs::exists(beside, error))
            place.program = beside.string();
        break;
    }
    return place;
}

std::unique_ptr<node::Host> host_of(const AgentOptions& options, const std::string& directory, Post* post,
                                    const node::Say& say) {
    switch (options.mode) {
        case AgentMode::process: break;
        case AgentMode::thread: return std::make_unique<ThreadHost>(directory);
        case AgentMode::dedicated: return std::make_unique<DedicatedHost>(post, directory, say);
    }
    return std::make_unique<ProcessHost>(options, directory, say);
}

}  // namespace forebay::agent
