// How a session is opened: what ranks agree on, the run and its claim, the node's staging, the agent.

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "bindings/api/alike.hpp"
#include "bindings/api/state.hpp"
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
#include "path/agent/leftovers.hpp"
#include "path/agent/target.hpp"
#include "path/catalog/claim.hpp"
#include "path/catalog/run.hpp"

namespace forebay {

namespace {

// A session that could not be opened tells its target so, if that answers.
constexpr std::chrono::seconds give_up_max{5};
// All have seen the agents of an earlier session leave; one that was started at that moment leaves as well.
constexpr std::chrono::seconds old_agent_max{10};

template <class T>
void broadcast_number(comm::Group& group, T& number) {
    group.broadcast(std::as_writable_bytes(std::span(&number, 1)), 0);
}

// The agent would refuse its environment when it starts, which would look as if the program were the wrong one.
Result<> check_kernel_of(const AgentOptions& agent) {
    if (agent.mode != AgentMode::process) return {};
    for (const auto& [name, value] : agent.environment) {
        if (name != "FOREBAY_CRC") continue;
        const auto checked = check_crc32c_kernel(value);
        if (!checked)
            return because(checked.error(), "agent.environment: " + checked.error().what, {},
                           "take FOREBAY_CRC out of agent.environment: the fastest is used then");
    }
    return {};
}

// Agents get the names, since they may have no sight of the file.
Result<> read_excluded_targets(AgentOptions& agent) {
    if (!agent.exclude_targets.starts_with('@')) return {};
    FB_TRY_ASSIGN(path, absolute_path(agent.exclude_targets.substr(1), "the file of agent.exclude_targets"));
    FB_TRY_ASSIGN(targets, sys::target_list("@" + path, "agent.exclude_targets"));
    agent.exclude_targets = fmt::format("{}", fmt::join(targets, ","));
    return {};
}

}  // namespace

Result<> SessionState::prepare(const GroupHolder& holder, const Options& wanted) {
    options = wanted;
    say_ = say_of(options, holder.group().rank() == 0);
    if (options.agent.mode == AgentMode::dedicated)  // each agent of a machine serves a part of its ranks
        options.virtual_nodes = std::max(options.virtual_nodes, static_cast<int>(holder.posts().size()));
    opening = {.unix_ns = sys::unix_ns(), .steady = sys::Clock::now()};
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
    if (holder.group().rank() != 0) return {};
    FB_TRY_ASSIGN(run, absolute_path(options.run, "the run directory"));
    options.run = run;
    return {};
}

Result<> SessionState::open(GroupHolder& holder) {
    FB_TRY(take_profile(holder.group()));
    FB_TRY_ASSIGN(found, comm::find_topology(holder.take(), options.virtual_nodes));
    topology = std::move(found);
    auto& world = *topology.world;
    FB_TRY(world.broadcast_sized(options.run, 0));
    FB_TRY(share_wish());
    id = sys::random_u64();
    broadcast_number(world, id);
    const auto started = start(holder);
    if (!started) give_up();
    return started;
}

Result<> SessionState::start(const GroupHolder& holder) {
    auto& world = *topology.world;
    const auto of_leader = [&](const auto& work) {
        return comm::agree(world, [&] { return topology.leads() ? work() : Result<>(); });
    };
    node::Forwarding forwarding;
    FB_TRY(of_leader([&]() -> Result<> {
        FB_TRY_ASSIGN(forwarders, find_forwarders(holder.forwarding()));
        forwarding = std::move(forwarders);
        for (const auto& [name, stream] : options.streams) FB_TRY(look_for_scripts(name, stream));
        return {};
    }));
    FB_TRY(comm::agree(world, [&] { return world.rank() == 0 ? open_target(forwarding) : Result<>(); }));
    broadcast_number(world, claim.run_id);
    // A node without keys, or without the way to the server, would be heard of at its first drain.
    FB_TRY(of_leader([&]() -> Result<> {
        if (world.rank() == 0 || !forwarding.to.empty() || !sys::is_far(options.run)) return {};
        const auto seen = catalog::check_identity(sys::target_store(), options.run, claim.run_id);
        return seen ? seen
                    : because(seen.error(),
                              fmt::format("{}, as {} sees it: {}", options.run, sys::host_name(), seen.error().what));
    }));
    // First the node, then the run: a session that is refused has then changed nothing of one that lives.
    std::optional<node::LockedDirectory> locked;
    std::string directory;
    FB_TRY(lock_staging(locked));
    if (locked) directory = locked->path();
    FB_TRY(comm::agree(world, [&] { return topology.node->broadcast_sized(directory, 0); }));
    FB_TRY(wait_for_old_agents(directory));
    FB_TRY(comm::agree(world, [&] { return world.rank() == 0 ? claim_run(directory) : Result<>(); }));
    broadcast_number(world, claim.session);
    broadcast_number(world, claim.last_key);
    broadcast_number(world, claim.key);
    FB_TRY_ASSIGN(neighbours, find_neighbours());
    FB_TRY(open_staging(std::move(locked), directory, holder.posts(), forwarding, neighbours));
    FB_TRY(of_leader([&] { return beside_.host->ensure(); }));
    FB_TRY(of_leader([&] { return topology.virtual_index == 0 ? drain_leftovers(forwarding) : Result<>(); }));
    log([&] {
        return fmt::format("run {}, session {}, {} on {}, staged in {}", options.run, claim.session,
                           show_count(world.size(), "rank"), show_count(topology.nodes, "node"), staging->directory());
    });
    return find_crew();
}

// A session that cannot be opened leaves nothing behind but what it found.
void SessionState::give_up() {
    if (topology.leads() && staging) {
        auto& page = staging->control();
        page.ending = 1;
        node::ring(page.bell);
        if (beside_.host) beside_.host->end(stuck_agent_end_max);
        bool empty = !staging->agent_lives();  // else it frees the directory as it leaves
        for (std::uint32_t i = 0; i < page.slot_count.load(); ++i)
            empty = empty && page.slots[i].state.load() == node::SlotState::empty;
        if (empty) static_cast<void>(staging->remove());
    }
    // No agent does it, perhaps; and where the target hangs, a next session has to watch the claim.
    if (claim.session != 0 && topology.world->rank() == 0)
        static_cast<void>(attempt([this] {
            return within(
                give_up_max, "the run directory " + options.run,
                [store = target_, run = options.run, own = claim.session] {
                    return catalog::end_claim(*store, run, own);
                },
                say_);
        }));
    timings.reset();
    staging.reset();
}

// What sessions with other virtual nodes, or under another path of the run, left staged on this machine. What is of
// other runs at this path is told, and left alone.
Result<> SessionState::drain_leftovers(const node::Forwarding& forwarding) {
    FB_TRY_ASSIGN(left, agent::find_leftovers(options.staging, options.run, claim.run_id, claim.last_key));
    for (const auto& directory : left.others) {
        const auto note = note_line(
            fmt::format("{} on {} holds staged snapshots that are not of this run: of another one that lay at {}, or "
                        "of a copy of it. They are neither restored nor committed",
                        directory, sys::host_name(), options.run),
            fmt::format("forebay drain {} --into ANOTHER-RUN on {} keeps them, --drop removes them", directory,
                        sys::host_name()));
        // A program that begins at step 0 over the output of a day is seen without a log too, and on each node that
        // has a part of it.
        if (say_) log([&] { return note; });
        else static_cast<void>(attempt([&] { warn(note); }));
    }
    opening.left = left.own;
    // Those that this session uses are held by it.
    const auto drained =
        agent::drain_leftovers(left.own, {}, {.remove = true, .forwarding = forwarding, .moved_to = options.run});
    for (const auto& directory : drained) {
        if (!directory.staged) log([&] { return directory.staged.error().line(); });
        for (const auto& one : directory.staged ? *directory.staged : std::vector<agent::Drained>())
            log([&] {
                return fmt::format("{} was left staged in {}: {}", one.name(), directory.directory,
                                   one.committed ? "it is committed now" : one.text);
            });
    }
    return {};
}

Result<> SessionState::open_staging(std::optional<node::LockedDirectory> locked, const std::string& directory,
                                    std::span<agent::Post> posts, const node::Forwarding& forwarding,
                                    const node::Neighbourhood& neighbours) {
    auto& world = *topology.world;
    const auto take = [&](Result<node::Staging> made) -> Result<> {
        if (!made) return made.error();
        staging.emplace(std::move(*made));
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
                                     .forwarding = forwarding,
                                     .neighbours = neighbours};
        for (const auto& path : node::emptied_files(directory))
            log([&] {
                return fmt::format(
                    "staged file {} has fewer bytes than any snapshot, and is passed over: what it held is "
                    "lost, unless it was committed",
                    path);
            });
        FB_TRY(take(node::Staging::create(std::move(*locked), file, old_agent_max)));
        if (options.agent.timings) {
            FB_TRY_ASSIGN(made,
                          node::TimingRings::create(directory, static_cast<std::uint32_t>(topology.node->size())));
            timings.emplace(std::move(made));
        }
        staging->control().session = claim.session;
        staging->control().shows_life = world.rank() == 0 ? 1 : 0;
        staging->control().nodes = static_cast<std::uint32_t>(topology.nodes);
        staging->control().job_ends_unix_ns = told_end_of_job(options.job, opening.unix_ns);
        beside_.host = agent::host_of(options.agent, directory,
                                      posts.empty() ? nullptr : &posts[topology.virtual_index % posts.size()], say_);
        return sys::posix_store().make_directories(node::spool_path(directory));
    }));
    FB_TRY(comm::agree(world, [&]() -> Result<> {
        if (topology.leads()) return {};
        FB_TRY(take(node::Staging::join(directory)));
        if (!options.agent.timings) return {};
        FB_TRY_ASSIGN(opened, node::TimingRings::open(directory, true));
        timings.emplace(std::move(opened));
        return {};
    }));
    alignment_bytes = options.huge_pages ? sys::page_bytes_of(directory) : limits::page_bytes;
    topology.node->broadcast(std::as_writable_bytes(std::span(&alignment_bytes, 1)), 0);
    return {};
}

}  // namespace forebay
