#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "api/state.hpp"
#include "base/limits.hpp"
#include "drain/agent.hpp"
#include "stage/await.hpp"

namespace forebay {

namespace {

// A started agent that has not said "ready" by then will not.
constexpr std::chrono::seconds agent_start_max{30};
// After it is told to end, an agent with nothing left to do leaves at once.
constexpr std::chrono::seconds agent_end_max{15};

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

}  // namespace

std::string absolute_path(const std::string& path) {
    auto text = std::filesystem::absolute(path).lexically_normal().string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
}

SessionState::~SessionState() {
    stop_ = true;
    if (staging) stage::ring(staging->control().bell);
    if (thread_.joinable()) thread_.join();
}

void SessionState::log(const std::string& line) const {
    if (options.log && topology.world->rank() == 0) options.log(line);
}

Result<> SessionState::check_open() const {
    if (staging) return {};
    return Error{ErrorKind::refused, "forebay: the session is closed."};
}

Result<> SessionState::open(std::unique_ptr<comm::Group> world, const Options& wanted) {
    options = wanted;
    FB_TRY(comm::agree(*world, check(options)));
    topology = comm::find_topology(std::move(world), options.virtual_nodes);
    const auto own = absolute_path(options.run);
    std::vector<std::byte> run;
    if (topology.world->rank() == 0)
        run.assign(std::as_bytes(std::span(own)).begin(), std::as_bytes(std::span(own)).end());
    topology.world->broadcast_sized(run, 0);
    options.run.assign(reinterpret_cast<const char*>(run.data()), run.size());
    id = sys::random_u64();
    topology.world->broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
    FB_TRY(comm::agree(*topology.world, topology.world->rank() == 0 ? open_target() : Result<>()));
    FB_TRY(open_staging());
    FB_TRY(comm::agree(*topology.world, topology.leads() ? ensure_agent() : Result<>()));
    log(fmt::format("forebay: run {}, {} ranks on {} nodes, staged in {}", options.run, topology.world->size(),
                    topology.nodes, staging->directory()));
    return {};
}

// Before the first step, not after an hour of computing: can a snapshot be written there at all?
Result<> SessionState::open_target() {
    auto& store = sys::posix_store();
    FB_TRY(store.make_directories(options.run));
    const auto probe = fmt::format("{}/.probe.{}-{:016x}.tmp", options.run, sys::process_id(), id);
    FB_TRY(sys::write_text_durable(store, probe, "forebay\n"));
    return store.remove(probe);
}

Result<> SessionState::open_staging() {
    const auto directory = stage::staging_directory(options.staging, options.run, topology.virtual_index);
    const auto take = [&](Result<stage::Staging> made) -> Result<> {
        if (!made) return made.error();
        staging.emplace(std::move(*made));
        return {};
    };
    if (topology.leads()) {
        const stage::SessionFile file{
            .run = options.run, .host = sys::host_name(), .process = sys::process_id(), .agent = options.agent};
        FB_TRY(comm::agree(*topology.world, take(stage::Staging::create(directory, file, options.close_wait))));
    } else {
        FB_TRY(comm::agree(*topology.world, {}));
    }
    FB_TRY(comm::agree(*topology.world, topology.leads() ? Result<>() : take(stage::Staging::join(directory))));
    alignment_bytes = options.huge_pages ? sys::page_bytes_of(directory) : limits::page_bytes;
    topology.node->broadcast(std::as_writable_bytes(std::span(&alignment_bytes, 1)), 0);
    return {};
}

Result<> SessionState::ensure_agent() {
    if (staging->agent_lives()) return {};
    return options.agent.mode == AgentMode::thread ? start_thread() : start_process();
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
    if (thread_.joinable()) thread_.join();
    FB_TRY_ASSIGN(lock, sys::FileLock::take(stage::agent_lock_path(staging->directory())));
    stage::SessionFile file{
        .run = options.run, .host = sys::host_name(), .process = sys::process_id(), .agent = options.agent};
    thread_ = std::thread([this, held = std::move(lock), file = std::move(file)]() mutable {
        drain::Agent(sys::posix_store(), *staging, file, {}, [](const std::string&) {}).run(stop_);
        held.release();
    });
    return {};
}

Result<std::shared_ptr<StreamState>> SessionState::stream(const std::shared_ptr<SessionState>& self,
                                                          const std::string& name,
                                                          const StreamOptions& stream_options) {
    FB_TRY(check_open());
    FB_TRY(check(name, stream_options));
    if (const auto there = streams_[name].lock()) return there;
    auto made = std::make_shared<StreamState>(self, name, stream_options);
    FB_TRY(made->stager.add());
    streams_[name] = made;
    return made;
}

Result<> SessionState::close() {
    FB_TRY(check_open());
    auto& page = staging->control();
    std::vector<std::uint32_t> slots;
    for (std::uint32_t i = 0; i < page.slot_count.load(); ++i) slots.push_back(i);
    const bool leads = topology.leads();
    const auto mine = stage::await_commits(*staging, slots, options.close_wait,
                                           leads ? [this] { return ensure_agent(); } : std::function<Result<>()>());
    const auto committed = comm::agree(*topology.world, mine);
    for (const auto& [name, stream] : streams_) {
        const auto living = stream.lock();
        if (!living) continue;
        living->at_close = living->counters();
        living->stager.release();
    }
    Result<> removed;
    if (leads) {
        page.ending = 1;
        stage::ring(page.bell);
        const auto deadline = sys::Clock::now() + agent_end_max;
        while (mine && staging->agent_lives() && sys::Clock::now() < deadline)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (thread_.joinable()) {
        stop_ = true;  // a thread cannot outlive the application: what it could not commit stays staged
        stage::ring(page.bell);
        thread_.join();
    }
    topology.node->barrier();
    if (leads && mine && !staging->agent_lives()) removed = staging->remove();
    staging.reset();
    FB_TRY(committed);
    return comm::agree(*topology.world, removed);
}

}  // namespace forebay
