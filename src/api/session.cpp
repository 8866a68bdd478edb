#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <thread>

#include "api/alike.hpp"
#include "api/state.hpp"
#include "base/bytes.hpp"
#include "base/limits.hpp"
#include "drain/agent.hpp"
#include "drain/spool.hpp"
#include "drain/target.hpp"
#include "stage/await.hpp"

namespace forebay {

namespace {

// A started agent that has not said "ready" by then will not.
constexpr std::chrono::seconds agent_start_max{30};
// After it is told to end, an agent with nothing left to do leaves at once; one that is stuck never does.
constexpr std::chrono::seconds agent_end_max{15}, stuck_agent_end_max{1};

// Before the first step, not after an hour of computing: can a snapshot be written there at all?
Result<> probe_target(sys::Store& store, const std::string& run, std::uint64_t id) {
    FB_TRY(sys::make_directories_durable(store, run));
    const auto probe = fmt::format("{}/.probe.{}-{:016x}.tmp", run, sys::process_id(), id);
    FB_TRY(sys::write_text_durable(store, probe, "forebay\n"));
    return store.remove(probe);
}

// A forwarder that is started by hand, in the same moment as the application, has a while to come.
Result<> once_there(std::chrono::milliseconds limit, ErrorKind not_yet, const std::function<Result<>()>& work) {
    constexpr std::chrono::milliseconds look_pause{200};
    const auto deadline = sys::Clock::now() + limit;
    while (true) {
        auto done = work();
        if (done || done.error().kind != not_yet || sys::Clock::now() + look_pause > deadline) return done;
        std::this_thread::sleep_for(look_pause);
    }
}

StreamOptions options_of_stream(const Options& options, const std::string& name) {
    for (const auto& [known, found] : options.streams)
        if (known == name) return found;
    return {};
}

std::string told_by_first(comm::Group& group, const std::string& mine) {
    const auto own = bytes_of(mine);
    std::vector<std::byte> bytes(own.begin(), own.end());
    group.broadcast_sized(bytes, 0);
    return std::string(text_of(bytes));
}

}  // namespace

// An agent inside the application. It has all it uses itself: stuck in a dead mount it outlives its session.
struct SessionState::AgentThread {
    drain::Target target;
    stage::Staging staging;
    stage::SessionFile file;
    sys::FileLock lock;
    std::atomic<bool> stop{false};
    std::atomic<std::uint32_t> done{0};
};

Result<> within(std::chrono::milliseconds limit, const std::string& what, std::function<Result<>()> work,
                const stage::Say& say) {
    constexpr std::chrono::milliseconds turn{200};
    std::packaged_task<Result<>()> task(std::move(work));
    auto answer = task.get_future();
    std::thread(std::move(task)).detach();
    for (stage::LongWait wait(say, limit); !wait.is_over(); wait.turn([&] { return what + " to answer"; }))
        if (answer.wait_for(std::min(turn, limit)) == std::future_status::ready) return answer.get();
    return Error{ErrorKind::retry,
                 fmt::format("forebay: {} does not answer for {} s. Nothing was written. Next: see whether its file "
                             "system is alive; open_wait sets how long to wait.",
                             what, std::chrono::duration<double>(limit).count())};
}

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

std::string absolute_path(const std::string& path) {
    auto text = std::filesystem::absolute(path).lexically_normal().string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
}

SessionState::~SessionState() { end_thread(stuck_agent_end_max); }

void SessionState::log(const std::string& line) const {
    if (say_) say_(line);
}

Result<> SessionState::check_open() const {
    if (staging) return {};
    return Error{ErrorKind::refused, "forebay: the session is closed."};
}

Result<> SessionState::open(GroupHolder& holder, const Result<Options>& wanted) {
    auto world = holder.take();
    posts_ = holder.posts();
    if (wanted) options = *wanted;
    FB_TRY(agree_on_options(*world, wanted));
    if (world->rank() == 0) say_ = log_of(options);
    if (options.agent.mode == AgentMode::dedicated)  // each agent of a machine serves a part of its ranks
        options.virtual_nodes = std::max(options.virtual_nodes, static_cast<int>(posts_.size()));
    opened_unix_ns = sys::unix_ns();
    topology = comm::find_topology(std::move(world), options.virtual_nodes);
    options.run = told_by_first(*topology.world, absolute_path(options.run));
    id = sys::random_u64();
    topology.world->broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
    FB_TRY(comm::agree(*topology.world, topology.leads() ? find_forwarders(holder.forwarding()) : Result<>()));
    FB_TRY(comm::agree(*topology.world, topology.world->rank() == 0 ? open_target() : Result<>()));
    FB_TRY(open_staging());
    FB_TRY(comm::agree(*topology.world, topology.leads() ? ensure_agent() : Result<>()));
    log(fmt::format("forebay: run {}, {} ranks on {} nodes, staged in {}", options.run, topology.world->size(),
                    topology.nodes, staging->directory()));
    return {};
}

Result<> SessionState::find_forwarders(const stage::Forwarding& of_job) {
    const auto& agent = options.agent;
    if (agent.forwarders > 0 && of_job.to.empty())
        return Error{ErrorKind::refused,
                     fmt::format("forebay: agent.forwarders is {}, but no host is one: the session was not opened over "
                                 "what forebay::dedicate() gave. Next: call it after MPI_Init, or set agent.forwarders "
                                 "to 0.",
                                 agent.forwarders)};
    if (agent.forwarders > 0) {
        forwarding_ = of_job;
    } else if (!agent.forward_to.empty()) {
        stage::LongWait wait(say_, options.open_wait);
        const auto found = once_there(options.open_wait, ErrorKind::missing, [&]() -> Result<> {
            wait.turn([&] { return "the token of the forwarders, " + agent.forward_token_file; });
            FB_TRY_ASSIGN(token, sys::read_private(agent.forward_token_file));
            forwarding_ = {.to = agent.forward_to, .token = token.substr(0, token.find_last_not_of("\r\n") + 1)};
            return {};
        });
        if (!found)
            return Error{
                found.error().kind,
                fmt::format("forebay: no token for the forwarders: {}. Next: start forebay forward first, with "
                            "--token-file {}.",
                            found.error().text, agent.forward_token_file)};
    }
    // Each node begins with another forwarder.
    auto& to = forwarding_.to;
    if (!to.empty())
        std::rotate(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(topology.node_index % to.size()), to.end());
    return {};
}

Result<> SessionState::open_target() {
    auto target = drain::target_of(options.run, forwarding_, {});
    if (!target) return Error{target.error().kind, "forebay: " + target.error().text};
    target_ = target->store;
    const auto wait = forwarding_.to.empty() ? std::chrono::milliseconds(0) : options.open_wait;
    return within(
        options.open_wait, "the run directory " + options.run,
        [store = target_, run = options.run, own = id, wait] {
            return once_there(wait, ErrorKind::retry, [&] { return probe_target(*store, run, own); });
        },
        say_);
}

Result<> SessionState::open_staging() {
    std::string directory;
    if (topology.leads()) {
        auto own = stage::staging_directory(options.staging, options.run, topology.virtual_index);
        FB_TRY(comm::agree(*topology.world, own ? Result<>() : Result<>(own.error())));
        directory = *own;
    } else {
        FB_TRY(comm::agree(*topology.world, {}));
    }
    directory = told_by_first(*topology.node, directory);
    FB_TRY(wait_for_old_agents(directory));
    const auto take = [&](Result<stage::Staging> made) -> Result<> {
        if (!made) return made.error();
        staging.emplace(std::move(*made));
        return {};
    };
    if (topology.leads()) {
        const stage::SessionFile file{.run = options.run,
                                      .host = sys::host_name(),
                                      .process = sys::process_id(),
                                      .agent = options.agent,
                                      .forwarding = forwarding_};
        FB_TRY(comm::agree(*topology.world, take(stage::Staging::create(directory, file, options.close_wait))));
    } else {
        FB_TRY(comm::agree(*topology.world, {}));
    }
    FB_TRY(comm::agree(*topology.world, topology.leads() ? Result<>() : take(stage::Staging::join(directory))));
    FB_TRY(comm::agree(*topology.world, topology.leads()
                                            ? sys::posix_store().make_directories(stage::spool_path(directory))
                                            : Result<>()));
    alignment_bytes = options.huge_pages ? sys::page_bytes_of(directory) : limits::page_bytes;
    topology.node->broadcast(std::as_writable_bytes(std::span(&alignment_bytes, 1)), 0);
    return {};
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
                     "forebay: agent.mode is \"dedicated\", but no rank is: the session was not opened over what "
                     "forebay::dedicate() gave. Next: call it after MPI_Init, or set agent.mode to \"process\"."};
    const auto asked =
        drain::ask(posts_[topology.virtual_index % posts_.size()], staging->directory(), agent_start_max, say_);
    if (asked) return {};
    return Error{asked.error().kind, fmt::format("forebay: no agent on {}: {}. Safe: what is staged. Next: look at "
                                                 "{}/agent.log, or set agent.mode to \"process\".",
                                                 sys::host_name(), asked.error().text, staging->directory())};
}

Result<> SessionState::start_process() {
    const auto program = agent_program(options.agent.program);
    auto environment = options.agent.environment;
    const auto started = sys::spawn_daemon({.program = program,
                                            .arguments = {"agent", "--session", staging->directory()},
                                            .environment = std::move(environment),
                                            // What is preloaded into the application is not meant for the agent.
                                            .environment_removed = {"LD_PRELOAD"},
                                            .log_path = staging->directory() + "/agent.log"},
                                           agent_start_max);
    if (started) return {};
    return Error{
        started.error().kind,
        fmt::format("forebay: no agent on {}: {} Safe: what is staged. Next: set agent.program or FOREBAY_AGENT to the "
                    "forebay command, or agent.mode to \"thread\".",
                    sys::host_name(), started.error().text)};
}

Result<> SessionState::start_thread() {
    FB_TRY_ASSIGN(lock, sys::FileLock::take(stage::agent_lock_path(staging->directory())));
    FB_TRY_ASSIGN(joined, stage::Staging::join(staging->directory()));
    stage::SessionFile file{
        .run = options.run, .host = sys::host_name(), .process = sys::process_id(), .agent = options.agent};
    FB_TRY_ASSIGN(target, drain::target_of(options.run, forwarding_, {}));
    thread_.reset(new AgentThread{std::move(target), std::move(joined), std::move(file), std::move(lock)});
    std::thread([agent = thread_] {
        const auto silent = [](const std::string&) {};
        const auto& [store, make_view] = agent->target;
        drain::SpoolKeeper spool(*store, agent->staging.directory(), agent->file, silent);
        drain::Agent(*store, agent->staging, agent->file, make_view, silent).run(agent->stop);
        // What cannot be packed stays in the spool, and close() says so.
        static_cast<void>(spool.finish());
        agent->lock.release();
        agent->done = 1;
        sys::wake_all(agent->done);
    }).detach();
    return {};
}

// A thread cannot outlive the application: what it could not commit stays staged.
void SessionState::end_thread(std::chrono::seconds wait_max) {
    if (!thread_) return;
    thread_->stop = true;
    stage::ring(thread_->staging.control().bell);
    const auto deadline = sys::Clock::now() + wait_max;
    while (thread_->done.load() == 0 && sys::Clock::now() < deadline)
        sys::wait_on(thread_->done, 0, deadline - sys::Clock::now());
    thread_.reset();
}

Result<std::shared_ptr<StreamState>> SessionState::stream(const std::shared_ptr<SessionState>& self,
                                                          const std::string& name,
                                                          const std::optional<StreamOptions>& wanted) {
    FB_TRY(check_open());
    const auto there = streams_[name].lock();
    const auto chosen = wanted ? *wanted : there ? there->stager.options() : options_of_stream(options, name);
    FB_TRY(agree_on_stream(*topology.world, name, chosen, there ? &there->stager.options() : nullptr));
    if (there) return there;
    auto made = std::make_shared<StreamState>(self, name, chosen);
    FB_TRY(made->stager.add());
    streams_[name] = made;
    return made;
}

void SessionState::leave_computing(std::optional<std::uint32_t> stream) {
    if (topology.leads()) step_clock_.leave(staging->control(), sys::Clock::now(), stream);
}

void SessionState::compute_again() {
    if (topology.leads()) step_clock_.come_back(staging->control(), sys::Clock::now());
}

// Files that nobody has packed go down with the staging directory: it stays, and whoever closes is told.
Result<> SessionState::check_spool() const {
    const auto spool = stage::spool_path(staging->directory());
    FB_TRY_ASSIGN(left, drain::look_at_spool(spool));
    if (left.files == 0) return {};
    return Error{ErrorKind::retry,
                 fmt::format("forebay: {} files of {} on {} are not packed. Safe: committed snapshots, and the files, "
                             "there. Next: look at {}/agent.log; forebay drain {}, before the allocation ends.",
                             left.files, spool, sys::host_name(), staging->directory(), staging->directory())};
}

Result<> SessionState::close() {
    FB_TRY(check_open());
    auto& page = staging->control();
    for (const auto& [name, stream] : streams_)
        if (const auto living = stream.lock()) living->stager.abandon();
    std::vector<std::uint32_t> slots;
    for (std::uint32_t i = 0; i < page.slot_count.load(); ++i) slots.push_back(i);
    const bool leads = topology.leads();
    const auto committed =
        stage::await_commits(*topology.world, *staging, slots, options.close_wait,
                             leads ? [this] { return ensure_agent(); } : std::function<Result<>()>(), say_);
    const bool all_here = stage::show_pending(*staging, slots).empty();  // on this node
    for (const auto& [name, stream] : streams_) {
        const auto living = stream.lock();
        if (!living) continue;
        living->at_close = living->counters();
        if (const auto late = living->at_close.deadlines_missed; late != 0)
            log(fmt::format("forebay: stream '{}': {} snapshots were not durable by their deadline", name, late));
        living->stager.release();
    }
    Result<> removed;
    if (leads) {
        page.ending = 1;
        stage::ring(page.bell);
        const auto deadline = sys::Clock::now() + agent_end_max;
        const auto spool_deadline = sys::Clock::now() + options.close_wait;
        stage::LongWait wait(say_, options.close_wait);
        while (all_here && staging->agent_lives() &&
               (sys::Clock::now() < deadline || (sys::Clock::now() < spool_deadline && !check_spool()))) {
            wait.turn([&] { return "the agent on " + sys::host_name() + " to end, in " + staging->directory(); });
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    end_thread(all_here ? agent_end_max : stuck_agent_end_max);
    topology.node->barrier();
    if (leads && all_here) removed = check_spool();
    if (leads && all_here && removed && !staging->agent_lives()) removed = staging->remove();
    job_.reset();  // else it takes requests that are meant for the next session
    target_.reset();
    staging.reset();
    FB_TRY(committed);
    return comm::agree(*topology.world, removed);
}

}  // namespace forebay
