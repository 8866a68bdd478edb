#include "path/agent/serve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/describe/storage_targets.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/process.hpp"
#include "path/agent/event_sinks.hpp"
#include "path/agent/neighbour_side.hpp"
#include "path/agent/placement.hpp"
#include "path/agent/run_lock_keeper.hpp"
#include "path/agent/run_report.hpp"
#include "path/agent/side_station.hpp"
#include "path/agent/spool.hpp"
#include "path/agent/status_writer.hpp"
#include "path/agent/timed_store.hpp"
#include "path/agent/timing_keeper.hpp"
#include "path/catalog/run.hpp"

namespace forebay::agent {

namespace {

// How often a lingering agent checks if somebody opened a session.
constexpr std::chrono::milliseconds linger_pause{500};

// The last act of an agent when its session is over and everything is committed. A session that opens here meanwhile
// has the application's lock, and takes over the staged data.
void free_directory(node::Staging& staging, const Tell& tell) {
    auto& page = staging.control();
    page.lingering = node::lingering_frees;
    const auto lock = sys::FileLock::take(node::application_lock_path(staging.directory()));
    if (!lock) {
        page.lingering = 0;
        return;
    }
    // Small files that came at the last moment stay, and so does the directory: `forebay drain` handles it.
    auto removed = remove_spools(staging.directory());
    if (removed) removed = staging.remove();
    else page.lingering = 0;
    if (removed) tell({.what = What::freed});
    else tell({.what = What::not_freed, .detail = removed.error().line()});
}

// Waits until somebody opens a session here or ends it, or until the time is over.
void linger(node::Staging& staging, std::chrono::milliseconds linger_max) {
    auto& page = staging.control();
    page.lingering = 1;
    const auto deadline = sys::Clock::now() + linger_max;
    while (page.ending.load() == 0 && !staging.application_lives() && sys::Clock::now() < deadline) {
        const auto seen = page.bell.load();
        if (page.ending.load() != 0) break;
        sys::wait_on(page.bell, seen, std::min<std::chrono::nanoseconds>(linger_pause, deadline - sys::Clock::now()));
    }
}

NodeFileOfRun file_of(const Serving& serving, const char* name, const char* ending) {
    return {.run = serving.session.run,
            .run_id = serving.session.run_id,
            .host = serving.session.host,
            .virtual_node = node::virtual_index_of(serving.staging.directory()),
            .name = name,
            .ending = ending};
}

// Called at the end of the session: the agent of its first rank writes the report.
void report_run(sys::Store& store, const Serving& serving, std::uint32_t nodes, const Tell& tell) {
    const auto& page = serving.staging.control();
    const bool over = page.ending.load() != 0 || !serving.staging.application_lives();
    if (!over || page.shows_life.load() == 0 || nodes == 0 || nodes > reported_nodes_max) return;
    const auto file = file_of(serving, "report", "txt");
    const auto written = attempt([&] { return write_run_report(store, file, page.session.load()); });
    if (!written) tell({.what = What::unreported, .place = file.run, .detail = written.error().line()});
}

// encode_session() has checked that both are valid.
std::shared_ptr<Placement> placement_of(const AgentOptions& options, const Tell& tell) {
    const auto numbers = [](const std::string& text) {
        const auto parsed = describe::parse_storage_targets(text, "");
        return parsed ? *parsed : std::vector<std::uint32_t>();
    };
    return std::make_shared<Placement>(PlacementOptions{.targets = numbers(options.storage_targets),
                                                        .excluded = numbers(options.exclude_targets),
                                                        .avoid_slow = options.avoid_slow_targets},
                                       tell);
}

// The file of metrics is named after the staging directory: the name is unique on a machine.
StatusOf status_of(const Serving& serving) {
    StatusOf of{
        .file = file_of(serving, "status", "json"), .agent = serving.agent, .began_unix_ns = serving.began_unix_ns};
    const auto& directory = serving.session.agent.metrics_directory;
    const auto& staging = serving.staging.directory();
    if (!directory.empty())
        of.metrics_path = fmt::format("{}/forebay-{}.prom", directory, staging.substr(staging.rfind('/') + 1));
    return of;
}

/// An application that closes its session notes that first.
bool has_died(const Serving& serving) { return serving.staging.control().ending.load() == 0; }

/// True if it keeps the staged data for a restart, when all is committed.
bool lingers(const Serving& serving) { return serving.agent == "process" && has_died(serving); }

}  // namespace

Result<node::SessionFile> session_of(const std::string& directory) {
    const auto path = node::session_path(directory);
    FB_TRY_ASSIGN(text, sys::read_text(sys::posix_store(), path, limits::session_bytes_max));
    return node::decode_session(text, path);
}

Result<node::SessionFile> served_session_of(const std::string& directory) {
    const auto path = node::drained_as_path(directory);
    const auto text = sys::read_text(sys::posix_store(), path, limits::session_bytes_max);
    if (!text && text.error().kind == ErrorKind::missing) return session_of(directory);
    FB_TRY(text);
    return node::decode_session(*text, path);
}

Result<std::optional<Serving>> enter(const std::string& directory, const ViewMaker& make_view, Tell tell) {
    FB_TRY(session_of(directory));  // an error of the directory is clearer than an error of its lock
    auto lock = sys::FileLock::take(node::agent_lock_path(directory));
    if (!lock && lock.error().kind == ErrorKind::retry) return std::optional<Serving>();
    FB_TRY(lock);
    // A new session holds the lock while it replaces the session file and the page, so both are of one session now.
    FB_TRY_ASSIGN(session, session_of(directory));
    FB_TRY_ASSIGN(staging, node::Staging::join(directory));
    FB_TRY_ASSIGN(target, target_of(session.run, session.forwarding, make_view));
    return std::optional(
        Serving{std::move(target), std::move(staging), std::move(session), std::move(*lock), std::move(tell)});
}

// The layers of stores, from the target up. The loop writes through all of them; the run lock, the spool and the status
// line are small and go straight to the target.
//
//   target.store       the file system or bucket, or a forwarder that writes there
//   neighbours.way()   through another agent of the job, while this node is excluded or slow
//   timed()            measures each call, if the session keeps timings
//   placed()           chooses the storage targets of a new node file
//
// The sinks of events, in their order. A sink that cannot keep an event reports that to the sinks above it, so no sink
// hears of its own failure.
//
//   serving.tell       the log
//   to_page()          the control page: the application, and monitors on this node
//   to_run()           the file of events in the run
//   status             the status line, for monitors on other hosts
//   prober             of the events of the placement only: probes storage targets once the first target is avoided
//   timings            keeps when saves and drains began and ended
//
// The events of the loop go to `neighbours` before all of these: when a drain begins, it chooses the way.
Served serve(Serving& serving, const std::atomic<bool>& stop, std::chrono::seconds peers_wait) {
    // The target ends with the draining: an agent that only lingers holds no connection to a forwarder.
    const auto target = std::exchange(serving.target, {});
    const auto here = to_all({serving.tell, to_page(serving.staging.control())});
    StatusWriter status(target.store, serving.staging, status_of(serving), here);
    const auto to_others = to_all({here, to_run(*target.store, file_of(serving, "events", "jsonl"), here),
                                   [&](const Event& event) { status.hear(event); }});
    // The thread of probes starts when the first storage target is slow.
    std::optional<Prober> prober;
    std::shared_ptr<Placement> placement;
    placement = placement_of(
        serving.session.agent,
        to_all({to_others, [&](const Event& event) {
                    if (event.what == What::avoids && !prober)
                        prober.emplace([store = target.store, placement,
                                        in = fmt::format("{}/{}", serving.session.run, catalog::own_directory)] {
                            probe_one(*store, in, *placement);
                        });
                }}));
    std::optional<TimingKeeper> timings;
    if (serving.session.agent.timings)
        timings.emplace(target.store, serving.staging, file_of(serving, "timings", "bin"), serving.agent,
                        serving.session.agent.block_bytes, to_others, placement.get());
    const auto tell = timings ? to_all({to_others, [&](const Event& event) { timings->hear(event); }}) : to_others;
    NeighbourSide neighbours(target.store, serving.session, serving.staging, file_of(serving, "status", "json"),
                             to_others);
    const auto timed_store = timings ? timed(neighbours.way(), *timings) : nullptr;
    const auto placed_store = placed(timed_store ? *timed_store : neighbours.way(), *placement);
    auto& store = *placed_store;
    const RunLockKeeper claim(*target.store, serving.staging, serving.session.run, tell);
    SpoolKeeper spool(*target.store, serving.staging.directory(), serving.session, tell);
    const auto stations = [&](Slots& slots) {
        std::vector<std::unique_ptr<Station>> all;
        const auto station = [&](const Analysts& analysts) {
            return std::make_unique<InsituStation>(slots, serving.staging.directory(), serving.session.agent, tell,
                                                   InsituPace(), analysts);
        };
        // The scripts come first: they start, and the loop does not wait for them.
        all.push_back(std::make_unique<SideStation>(slots, station(scripts)));
        all.push_back(station(built_in));
        return all;
    };
    const auto tell_loop = [&](const Event& event) {
        neighbours.hear(event);
        tell(event);
    };
    Agent agent(store, serving.staging, serving.session, target.make_view, tell_loop, stations);
    Served served{.committed = agent.run(stop, peers_wait)};
    served.packed = spool.finish();
    served.others = agent.others();
    neighbours.stay(stop);
    if (timings) timings->finish();
    if (timings) report_run(*target.store, serving, timings->nodes(), to_others);
    const bool is_done = served.committed && served.packed;
    if (is_done && lingers(serving)) status.end("lingering", serving.session.agent.linger);
    else status.end(!is_done ? "left" : has_died(serving) ? "died" : "ended");
    return served;
}

Result<> write_left(const std::string& directory) {
    FB_TRY_ASSIGN(session, session_of(directory));
    FB_TRY_ASSIGN(staging, node::Staging::join(directory));
    FB_TRY_ASSIGN(target, target_of(session.run, session.forwarding, {}));
    Serving serving{std::move(target), std::move(staging), std::move(session), {}, [](const Event&) {}};
    StatusWriter(serving.target.store, serving.staging, status_of(serving), serving.tell, {}, "left");
    return {};
}

Result<bool> run_agent(const std::string& directory, const std::function<void()>& ready, const ViewMaker& make_view,
                       const Log& log, Hosted hosted) {
    const auto tell = to_log(log);
    FB_TRY_ASSIGN(serving, enter(directory, make_view, tell));
    if (!serving) {
        ready();
        return true;
    }
    if (hosted == Hosted::rank) serving->agent = "rank";
    auto& staging = serving->staging;
    const auto& session = serving->session;
    FB_TRY(sys::pin_to_cpus(session.agent.cpus));
    tell({.what = What::serves,
          .count = static_cast<std::uint64_t>(sys::process_id()),
          .place = directory,
          .detail = session.run});
    ready();
    if (!session.forwarding.to.empty())
        tell({.what = What::forwards, .detail = fmt::format("{}", fmt::join(session.forwarding.to, ", "))});
    const std::atomic<bool> never{false};
    const auto served = serve(*serving, never);
    if (!served.packed) tell({.what = What::not_packed, .detail = served.packed.error().line()});
    if (!served.committed || !served.packed) {
        tell({.what = What::leaves_work, .place = directory});
        return false;
    }
    if (lingers(*serving)) {
        tell({.what = What::lingers, .seconds = std::chrono::duration<double>(session.agent.linger).count()});
        linger(staging, session.agent.linger);
        // The writer above ended its connection to a forwarder, so the last status needs a new target.
        if (const auto target = target_of(session.run, session.forwarding, {}))
            StatusWriter(target->store, staging, status_of(*serving), tell, {}, has_died(*serving) ? "died" : "ended");
    }
    tell({.what = What::leaves});
    free_directory(staging, tell);
    return true;
}

}  // namespace forebay::agent
