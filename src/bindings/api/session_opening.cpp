#include "bindings/api/session_opening.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "bindings/api/alike.hpp"
#include "core/base/attempt.hpp"
#include "core/base/crc32c.hpp"
#include "core/base/error_text.hpp"
#include "core/base/limits.hpp"
#include "core/base/show_text.hpp"
#include "core/base/try.hpp"
#include "core/base/units.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/far_module.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/machine.hpp"
#include "core/sys/private_file.hpp"
#include "core/sys/process.hpp"
#include "core/sys/target_list.hpp"
#include "core/sys/wait_until.hpp"
#include "path/agent/keeper.hpp"
#include "path/agent/leftovers.hpp"
#include "path/agent/target.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/run_lock.hpp"

namespace forebay {

namespace {

// The time to release the run lock of a session that could not be opened.
constexpr std::chrono::seconds give_up_max{5};
// Every agent of an earlier session has been seen to leave. An agent started at that moment leaves as well, within this
// time.
constexpr std::chrono::seconds old_agent_max{10};

template <class T>
void broadcast_number(comm::Group& group, T& number) {
    group.broadcast(std::as_writable_bytes(std::span(&number, 1)), 0);
}

// Otherwise the agent would refuse its environment when it starts, and the error would look like a wrong program.
Result<> check_kernel_of(const AgentOptions& agent) {
    if (agent.mode != AgentMode::process) return {};
    for (const auto& [name, value] : agent.environment) {
        if (name != "FOREBAY_CRC") continue;
        const auto checked = check_crc32c_kernel(value);
        if (!checked)
            return with_context(checked.error(), "agent.environment: " + checked.error().what, {},
                                "remove FOREBAY_CRC from agent.environment, and the fastest kernel is used");
    }
    return {};
}

// Agents get the names, since they may not see the file.
Result<> read_excluded_targets(AgentOptions& agent) {
    if (!agent.exclude_targets.starts_with('@')) return {};
    FB_TRY_ASSIGN(path, absolute_path(agent.exclude_targets.substr(1), "the file of agent.exclude_targets"));
    FB_TRY_ASSIGN(targets, sys::target_list("@" + path, "agent.exclude_targets"));
    agent.exclude_targets = fmt::format("{}", fmt::join(targets, ","));
    return {};
}

}  // namespace

Result<> SessionOpening::prepare(const Options& wanted) {
    auto& options = session_.options;
    options = wanted;
    session_.say_ = say_of(options, holder_.group().rank() == 0);
    if (options.agent.mode == AgentMode::dedicated)  // each agent of a machine serves some of its ranks
        options.virtual_nodes = std::max(options.virtual_nodes, static_cast<int>(holder_.posts().size()));
    session_.opening = {.unix_ns = sys::unix_ns(), .steady = sys::Clock::now()};
    FB_TRY(check(options));
    FB_TRY(check_crc32c_kernel());
    FB_TRY(check_kernel_of(options.agent));
    for (auto& [name, stream] : options.streams) FB_TRY(place_scripts(name, stream));
    // Programs of the job, and the agent, have other current directories.
    if (!options.staging.empty()) {
        FB_TRY_ASSIGN(staging_path, absolute_path(options.staging, "the staging directory"));
        options.staging = staging_path;
    }
    if (auto& directory = options.agent.metrics_directory; !directory.empty()) {
        FB_TRY_ASSIGN(whole, absolute_path(directory, "the directory of metrics"));
        directory = whole;
    }
    // Only rank 0's path counts: open() broadcasts it.
    if (holder_.group().rank() != 0) return {};
    FB_TRY_ASSIGN(run, absolute_path(options.run, "the run directory"));
    options.run = run;
    return {};
}

Result<> SessionOpening::open() {
    auto& options = session_.options;
    // Before the topology, since a profile may set virtual_nodes.
    FB_TRY_ASSIGN(profile, take_profile(holder_.group(), session_.say_, options));
    session_.beside_.profile = std::move(profile);
    FB_TRY_ASSIGN(topology, comm::find_topology(holder_.take(), options.virtual_nodes));
    session_.topology = std::move(topology);
    auto& world = *session_.topology.world;
    FB_TRY(world.broadcast_sized(options.run, 0));
    FB_TRY_ASSIGN(wish, share_wish(world));
    session_.claim.wish = std::move(wish);
    session_.id = sys::random_u64();
    broadcast_number(world, session_.id);
    const auto started = start();
    if (!started) give_up();
    return started;
}

Result<> SessionOpening::start() {
    const auto& options = session_.options;
    const auto& say = session_.say_;
    auto& topology = session_.topology;
    auto& claim = session_.claim;
    auto& world = *topology.world;
    const auto of_leader = [&](const auto& work) {
        return comm::agree(world, [&] { return topology.leads() ? work() : Result<>(); });
    };
    FB_TRY(of_leader([&]() -> Result<> {
        FB_TRY_ASSIGN(forwarders, find_forwarders(options, topology.node_index, holder_.forwarding(), say));
        forwarding_ = std::move(forwarders);
        // A missing script fails the opening, not the first analysis.
        for (const auto& [name, stream] : options.streams) FB_TRY(look_for_scripts(name, stream));
        return {};
    }));
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        if (world.rank() != 0) return {};
        FB_TRY_ASSIGN(opened, open_run(options, forwarding_, say));
        session_.target_ = std::move(opened.target);
        claim.run_id = opened.run_id;
        return {};
    }));
    broadcast_number(world, claim.run_id);
    // Without this look, a node without keys or without a route to the server would fail only at its first drain.
    FB_TRY(of_leader([&]() -> Result<> {
        if (world.rank() == 0 || !forwarding_.to.empty() || !sys::is_far(options.run)) return {};
        const auto seen = catalog::check_identity(sys::target_store(), options.run, claim.run_id);
        return seen ? seen
                    : with_context(seen.error(), fmt::format("{}, as seen from {}: {}", options.run, sys::host_name(),
                                                             seen.error().what));
    }));
    // The node comes first, then the run: a refused session has then changed nothing of a living session.
    std::string directory;
    FB_TRY_ASSIGN(locked, lock_staging(options, topology, claim.run_id, say));
    if (locked) directory = locked->path();
    FB_TRY(comm::agree(world, [&] { return topology.node->broadcast_sized(directory, 0); }));
    FB_TRY(wait_for_old_agents(options, topology, directory, say));
    FB_TRY(comm::agree(world, [&] {
        return world.rank() == 0 ? lock_run(options, session_.target_, directory, say, claim) : Result<>();
    }));
    broadcast_number(world, claim.session);
    broadcast_number(world, claim.last_key);
    broadcast_number(world, claim.key);
    FB_TRY_ASSIGN(neighbours, find_neighbours(options.agent, topology, say));
    FB_TRY(open_staging(std::move(locked), directory, neighbours));
    // The agent starts after the session file and the page are complete: it reads both.
    FB_TRY(of_leader([&] { return session_.beside_.host->ensure(); }));
    if (world.rank() == 0) warn_of_step(directory);
    // Once a machine, for all of its virtual nodes.
    FB_TRY(of_leader([&] { return topology.virtual_index == 0 ? drain_leftovers() : Result<>(); }));
    if (claim.session > 1) tell_left_in_memory(session_);
    session_.log([&] {
        return fmt::format("run {}, session {}, {} on {}, staged in {}", options.run, claim.session,
                           show_count(world.size(), "rank"), show_count(topology.nodes, "node"),
                           session_.staging->directory());
    });
    FB_TRY_ASSIGN(crew, find_crew(options, topology, say));
    session_.beside_.crew = std::move(crew);
    return {};
}

// A session that cannot be opened leaves nothing new behind.
void SessionOpening::give_up() {
    const auto& topology = session_.topology;
    const auto& claim = session_.claim;
    auto& staging = session_.staging;
    if (topology.leads() && staging) {
        auto& page = staging->control();
        page.ending = 1;
        node::ring(page.bell);
        if (auto* host = session_.host()) host->end(stuck_agent_end_max);
        bool empty = !staging->agent_lives();  // else the agent frees the directory when it leaves
        for (std::uint32_t i = 0; i < page.slot_count.load(); ++i)
            empty = empty && page.slots[i].state.load() == node::SlotState::empty;
        // Slots may hold snapshots of an earlier session. Then the directory stays.
        if (empty) static_cast<void>(staging->remove());
    }
    // Perhaps no agent releases the lock. If the target hangs too, the next session has to watch the lock.
    if (claim.session != 0 && topology.world->rank() == 0)
        static_cast<void>(attempt([this] {
            return within(
                give_up_max, "the run directory " + session_.options.run,
                [store = session_.target_, run = session_.options.run, own = session_.claim.session] {
                    return catalog::end_run_lock(*store, run, own);
                },
                session_.say_);
        }));
    session_.timings.reset();
    staging.reset();
}

// Drains leftovers on this machine of sessions of this run with other virtual nodes or under another path. Leftovers of
// other runs at this path are reported and left alone.
Result<> SessionOpening::drain_leftovers() {
    const auto& options = session_.options;
    const auto& claim = session_.claim;
    FB_TRY_ASSIGN(left, agent::find_leftovers(options.staging, options.run, claim.run_id, claim.last_key));
    for (const auto& directory : left.others) {
        const auto note =
            note_line(fmt::format("{} on {} holds staged snapshots of another run at {}, or of a copy of it. They are "
                                  "neither restored nor committed",
                                  directory, sys::host_name(), options.run),
                      fmt::format("forebay drain {} --into ANOTHER-RUN on {} keeps them, --drop removes them",
                                  directory, sys::host_name()));
        // A program that begins at step 0 over the output of a day must be noticed without a log too, on each node with
        // a part of that output.
        if (session_.say()) session_.log([&] { return note; });
        else static_cast<void>(attempt([&] { warn(note); }));
    }
    session_.opening.left = left.own;
    // Directories in use by this session are locked by it, so they are skipped.
    const auto drained =
        agent::drain_leftovers(left.own, {}, {.remove = true, .forwarding = forwarding_, .moved_to = options.run});
    for (const auto& directory : drained) {
        if (!directory.staged) session_.log([&] { return directory.staged.error().line(); });
        for (const auto& item : directory.staged ? *directory.staged : std::vector<agent::Drained>())
            session_.log([&] {
                return fmt::format("{} was still staged in {}: {}", item.name(), directory.directory,
                                   item.committed ? "it is committed now" : item.text);
            });
    }
    return {};
}

void SessionOpening::warn_of_step(const std::string& directory) const {
    if (session_.options.agent.mode != AgentMode::process) return;
    static_cast<void>(attempt([&] {
        const auto line = agent::step_warning(directory);
        if (line.empty()) return;
        if (session_.say()) session_.log([&] { return line; });
        else warn(line);
    }));
}

Result<> SessionOpening::open_staging(std::optional<node::LockedDirectory> locked, const std::string& directory,
                                      const node::Neighbourhood& neighbours) {
    auto& options = session_.options;
    const auto& topology = session_.topology;
    const auto& claim = session_.claim;
    auto& staging = session_.staging;
    auto& timings = session_.timings;
    const auto posts = holder_.posts();
    auto& world = *topology.world;
    const auto take = [&](Result<node::Staging> result) -> Result<> {
        if (!result) return result.error();
        staging.emplace(std::move(*result));
        return {};
    };
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        if (!topology.leads()) return {};
        FB_TRY(read_excluded_targets(options.agent));
        const node::SessionFile file{.run = options.run,
                                     .run_id = claim.run_id,
                                     .claim = claim.key,
                                     .host = sys::host_name(),
                                     .process = sys::process_id(),
                                     .agent = options.agent,
                                     .forwarding = forwarding_,
                                     .neighbours = neighbours};
        for (const auto& path : node::emptied_files(directory))
            session_.log([&] {
                return fmt::format(
                    "staged file {} is shorter than any snapshot, and is skipped. Its data are lost, unless they were "
                    "committed",
                    path);
            });
        FB_TRY(take(node::Staging::create(std::move(*locked), file, old_agent_max)));
        if (options.agent.timings) {
            FB_TRY_ASSIGN(rings,
                          node::TimingRings::create(directory, static_cast<std::uint32_t>(topology.node->size())));
            timings.emplace(std::move(rings));
        }
        staging->control().session = claim.session;
        // One agent of the session renews the run lock.
        staging->control().shows_life = world.rank() == 0 ? 1 : 0;
        staging->control().nodes = static_cast<std::uint32_t>(topology.nodes);
        // Without the batch system, which may be slow: the first job() asks it.
        staging->control().job_ends_unix_ns = told_end_of_job(options.job, session_.opening.unix_ns);
        session_.beside_.host =
            agent::host_of(options.agent, directory,
                           posts.empty() ? nullptr : &posts[topology.virtual_index % posts.size()], session_.say_);
        return sys::posix_store().make_directories(node::spool_path(directory));
    }));
    // The other ranks join after the first rank has made the directory: the agreement above is the barrier.
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        if (topology.leads()) return {};
        FB_TRY(take(node::Staging::join(directory)));
        if (!options.agent.timings) return {};
        FB_TRY_ASSIGN(opened, node::TimingRings::open(directory, true));
        timings.emplace(std::move(opened));
        return {};
    }));
    auto& alignment_bytes = session_.alignment_bytes;
    alignment_bytes = options.huge_pages ? sys::page_bytes_of(directory) : limits::page_bytes;
    broadcast_number(*topology.node, alignment_bytes);
    return {};
}

}  // namespace forebay
