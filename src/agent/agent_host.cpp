#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "agent/agent.hpp"
#include "agent/claim_keeper.hpp"
#include "agent/spool.hpp"
#include "agent/target.hpp"
#include "base/limits.hpp"
#include "catalog/run.hpp"
#include "catalog/views.hpp"
#include "commit/publish.hpp"

namespace forebay::agent {

namespace {

// How often a lingering agent looks whether somebody has opened a session.
constexpr std::chrono::milliseconds linger_pause{500};
// A process that was killed a moment ago still has its locks, on a machine that does other work.
constexpr std::chrono::seconds killed_agent_max{2};

Result<node::SessionFile> session_of(const std::string& directory) {
    const auto path = directory + "/session.json";
    FB_TRY_ASSIGN(text, sys::read_text(sys::posix_store(), path, limits::session_bytes_max));
    return node::decode_session(text, path);
}

std::string said_of(const std::set<std::string>& others, const std::string& stream_directory) {
    std::string text;
    for (const auto& path : others)
        if (path.starts_with(stream_directory + "/")) text += (text.empty() ? "" : "\n  ") + catalog::stays_text(path);
    return text;
}

}  // namespace

namespace {

// The last act of an agent whose session is over and has everything committed. Whoever opens a session here meanwhile
// has the application's lock, and takes over what is there.
void free_directory(node::Staging& staging, const Log& log) {
    auto& page = staging.control();
    page.lingering = node::lingering_frees;
    const auto lock = sys::FileLock::take(node::application_lock_path(staging.directory()));
    if (!lock) {
        page.lingering = 0;
        return;
    }
    // Small files that came at the last moment stay, and the directory with them; `forebay drain` understands it.
    auto removed = remove_spools(staging.directory());
    if (removed) removed = staging.remove();
    else page.lingering = 0;
    log(removed ? "what was staged is committed, and is freed" : removed.error().line());
}

// Until somebody opens a session here, or has it end, or the time is over.
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

}  // namespace

Result<bool> run_agent(const std::string& directory, const std::function<void()>& ready, const ViewMaker& make_view,
                       const Log& log, Hosted hosted) {
    FB_TRY_ASSIGN(session, session_of(directory));
    auto lock = sys::FileLock::take(node::agent_lock_path(directory));
    if (!lock && lock.error().kind == ErrorKind::retry) {
        ready();
        return true;
    }
    if (!lock) return lock.error();
    FB_TRY_ASSIGN(staging, node::Staging::join(directory));
    FB_TRY(sys::pin_to_cpus(session.agent.cpus));
    log(fmt::format("agent {} serves {} for run {}", sys::process_id(), directory, session.run));
    ready();
    const std::atomic<bool> never{false};
    bool all = false;
    {  // whoever only keeps what is staged holds no connection to a forwarder
        FB_TRY_ASSIGN(target, target_of(session.run, session.forwarding, make_view));
        if (!session.forwarding.to.empty())
            log(fmt::format("it writes through {}", fmt::join(session.forwarding.to, ", ")));
        const ClaimKeeper claim(*target.store, staging, session.run, log);
        SpoolKeeper spool(*target.store, directory, session, log);
        all = Agent(*target.store, staging, session, target.make_view, log).run(never);
        if (const auto packed = spool.finish(); !packed) {
            log(fmt::format("the spool is not packed: {}", packed.error().line()));
            all = false;
        }
    }
    if (!all) {
        log(fmt::format("agent leaves; next: forebay drain {}", directory));
        return false;
    }
    if (hosted == Hosted::process && staging.control().ending.load() == 0) {
        log(fmt::format("everything is committed; what is staged is kept {} s more for a restart",
                        std::chrono::duration<double>(session.agent.linger).count()));
        linger(staging, session.agent.linger);
    }
    log("agent leaves, everything is committed");
    free_directory(staging, log);
    return true;
}

namespace {

// Which run takes what is staged; an error where that cannot be, and nothing is freed.
Result<> find_run(node::SessionFile& session, const LeftoverOptions& options, sys::Store& store,
                  const std::string& directory) {
    if (!options.into.empty()) {
        session.run = options.into;
        session.adopts = true;
        FB_TRY_ASSIGN(id, catalog::make_identity(store, session.run));
        session.run_id = id;
        return {};
    }
    if (!options.moved_to.empty()) session.run = options.moved_to;
    const auto checked = [&]() -> Result<> {
        if (session.run_id != 0) return catalog::check_identity(store, session.run, session.run_id);
        FB_TRY_ASSIGN(id, catalog::identity_of(store, session.run));
        FB_TRY_ASSIGN(exists, store.exists(session.run));
        if (exists && id == 0) return {};
        return Error{exists ? ErrorKind::refused : ErrorKind::missing,
                     fmt::format("{} {}.", session.run,
                                 exists ? "has an identity, which what is staged does not name" : "does not exist")};
    }();
    if (checked) return {};
    // Not `missing`, which says that nothing is staged.
    return Error{checked.error().kind == ErrorKind::retry ? ErrorKind::retry : ErrorKind::refused,
                 fmt::format("what is staged in {} is not drained: {}", directory, checked.error().what),
                 "the staged copies, there",
                 fmt::format("mount the file system of {} and try again; or forebay drain {} --into ANOTHER-RUN keeps "
                             "them, forebay drain {} --drop removes them",
                             session.run, directory, directory)};
}

}  // namespace

Result<std::vector<Drained>> drain_leftover(const std::string& directory, const ViewMaker& make_view,
                                            const LeftoverOptions& options) {
    node::dismiss_lingering(directory);
    FB_TRY_ASSIGN(written, session_of(directory));
    auto session = written;
    // Those of the session have mostly ended with its job; through whom to write now is for the caller to say.
    session.forwarding = options.forwarding;
    FB_TRY_ASSIGN(target, target_of(options.into.empty() ? session.run : options.into, session.forwarding, make_view));
    FB_TRY(find_run(session, options, *target.store, directory));
    FB_TRY_ASSIGN(locked, node::LockedDirectory::lock(directory, session.run));
    FB_TRY_ASSIGN(left, node::staged_files(directory));
    // Slots of a dead session are taken over as a new session takes them over; the page then says what is left. The
    // session's file stays as it was: what cannot be committed now is still of that run.
    FB_TRY_ASSIGN(staging, node::Staging::create(std::move(locked), written, killed_agent_max));
    FB_TRY_ASSIGN(lock, sys::FileLock::take(node::agent_lock_path(directory)));
    auto& page = staging.control();
    page.ending = 1;
    // Here a person looks on: what cannot be committed stays staged and is named.
    std::vector<bool> already(page.slot_count.load(), false);
    for (std::uint32_t i = 0; i < page.slot_count.load(); ++i) {
        auto& slot = page.slots[i];
        slot.inherited = 0;
        const auto file = std::ranges::find(left, staging.slot_path(i), &node::StagedFile::path);
        if (file == left.end()) continue;
        if (session.adopts) slot.state = node::SlotState::sealed;
        const commit::Place place{session.run, file->stream, slot.step.load()};
        const auto found = commit::find_committed(*target.store, place, file->peek.record.which_save());
        // What cannot be looked at now is told by the drain.
        already[i] = slot.state.load() == node::SlotState::committed || (found && *found);
    }
    const std::atomic<bool> never{false};
    Agent agent(*target.store, staging, session, target.make_view, [](const std::string&) {});
    const bool all = agent.run(never, std::chrono::seconds(0));
    std::vector<Drained> outcome;
    for (std::uint32_t i = 0; i < page.slot_count.load(); ++i) {
        const auto& slot = page.slots[i];
        const auto state = slot.state.load();
        if (slot.step.load() < 0) continue;
        const bool committed = state == node::SlotState::committed, waiting = state == node::SlotState::drained;
        outcome.push_back({page.streams[slot.stream].name.data(), slot.step.load(), staging.slot_path(i), committed,
                           already[i], waiting,
                           committed
                               ? said_of(agent.others(), session.run + "/" + page.streams[slot.stream].name.data())
                           : waiting ? "drained; node files of other nodes are still missing"
                                     : node::error_in(slot.error_kind, slot.error_text).line()});
    }
    auto packed = SpoolKeeper(*target.store, directory, session, [](const std::string&) {}).finish();
    lock.release();
    // A file may come at the last moment: then the directory stays.
    if (packed && all && options.remove) packed = staging.remove();
    if (!packed)
        outcome.push_back({.stream = spool_stream(directory, session.host),
                           .step = -1,
                           .staged_path = directory,
                           .text = packed.error().line()});
    return outcome;
}

std::vector<DrainedDirectory> drain_leftovers(const std::vector<std::string>& directories, const ViewMaker& make_view,
                                              const LeftoverOptions& options) {
    std::vector<DrainedDirectory> all;
    for (const auto& directory : directories) {
        // Without `remove` the copies are to stay, and there is nothing else to do.
        if (options.remove) node::dismiss_lingering(directory);
        const auto in_use = {node::application_lock_path(directory), node::agent_lock_path(directory)};
        if (!std::filesystem::exists(directory) || std::ranges::any_of(in_use, sys::lock_is_held)) continue;
        auto staged = drain_leftover(directory, make_view, options);
        const bool taken = !staged && std::ranges::any_of(in_use, sys::lock_is_held);  // by a session, a moment ago
        if (!taken) all.push_back({directory, std::move(staged)});
    }
    if (all.size() < 2) return all;
    for (auto& one : all)
        if (one.staged && std::ranges::any_of(*one.staged, &Drained::waiting))
            one.staged = drain_leftover(one.directory, make_view, options);
    return all;
}

namespace {

bool holds_uncommitted(const std::string& directory) {
    const auto page = node::Staging::join(directory);
    if (!page) return true;
    for (std::uint32_t i = 0; i < page->control().slot_count.load(); ++i) {
        const auto state = page->control().slots[i].state.load();
        if (state != node::SlotState::empty && state != node::SlotState::committed) return true;
    }
    return false;
}

}  // namespace

Result<Leftovers> find_leftovers(const std::string& staging, const std::string& run, std::uint64_t run_id,
                                 std::uint64_t last_claim) {
    Leftovers found;
    FB_TRY_ASSIGN(directories, node::staging_directories(staging));
    std::ranges::sort(directories);
    for (const auto& directory : directories) {
        const auto session = session_of(directory);
        if (!session) continue;   // killed before it had staged anything
        std::error_code unequal;  // one of both does not exist
        const bool here = session->run == run || std::filesystem::equivalent(session->run, run, unequal);
        const bool same = session->run_id == run_id;
        // Of a copied run both have the identity: the one that still lies where it was staged for has it.
        const bool moved = same && last_claim != 0 && session->claim == last_claim &&
                           !catalog::check_identity(sys::posix_store(), session->run, run_id);
        if (same && (here || moved)) found.own.push_back(directory);
        else if ((here || same) && holds_uncommitted(directory) &&
                 (here || !catalog::check_identity(sys::posix_store(), session->run, run_id)))
            found.others.push_back(directory);
    }
    return found;
}

}  // namespace forebay::agent
