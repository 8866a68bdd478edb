#include "path/agent/leftovers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "core/base/try.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/lock.hpp"
#include "core/sys/target_store.hpp"
#include "path/agent/event_sinks.hpp"
#include "path/agent/serve.hpp"
#include "path/agent/spool.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/views.hpp"
#include "path/commit/publish.hpp"
#include "path/node/watch.hpp"

namespace forebay::agent {

namespace {

// On a busy machine a process keeps its locks for a moment after it was killed.
constexpr std::chrono::seconds killed_agent_max{2};
// Another node commits when it has drained its part. Each look lists a directory of the target.
constexpr std::chrono::milliseconds nodes_look_pause{500};

std::string said_of(const std::set<std::string>& others, const std::string& stream_directory) {
    std::string text;
    for (const auto& path : others)
        if (path.starts_with(stream_directory + "/")) text += (text.empty() ? "" : "\n  ") + catalog::stays_text(path);
    return text;
}

// The ways to save the staged data, depending on the present state of the run's path.
std::string way_out(sys::Store& store, const std::string& run, const std::string& directory) {
    const auto ways = fmt::format(
        "forebay drain {0} --into NEW-RUN keeps the staged copies, forebay drain {0} --drop removes them", directory);
    const auto identity = catalog::identity_of(store, run);
    if (identity && *identity != 0)
        return fmt::format("if {} was moved, use forebay recover NEW-PATH, or move it back. Or {}", run, ways);
    if (!identity && identity.error().kind == ErrorKind::refused)
        return fmt::format(
            "repair the permissions of {} and of the directories above it (ls -ld), and try again. Or {}", run, ways);
    return fmt::format("mount the file system of {} and try again. Or {}", run, ways);
}

// Finds the run that takes the staged data. After an error nothing is freed.
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
                                 exists ? "has an identity, but the staged copies have none" : "does not exist")};
    }();
    if (checked) return {};
    // Not `missing`: that means that nothing is staged.
    return Error{checked.error().kind == ErrorKind::retry ? ErrorKind::retry : ErrorKind::refused,
                 fmt::format("the staged copies in {} were not drained: {}", directory, checked.error().what),
                 "the staged copies", way_out(store, session.run, directory)};
}

// Makes the agent treat the slots as its own: a person is watching, so snapshots that cannot be committed stay staged
// and are reported. Returns for each slot if its snapshot was committed before.
std::vector<bool> take_as_own(Serving& serving, const std::vector<node::StagedFile>& left) {
    auto& page = serving.staging.control();
    std::vector<bool> already(page.slot_count.load(), false);
    for (std::uint32_t i = 0; i < page.slot_count.load(); ++i) {
        auto& slot = page.slots[i];
        slot.inherited = 0;
        const auto file = std::ranges::find(left, serving.staging.slot_path(i), &node::StagedFile::path);
        if (file == left.end()) continue;
        if (serving.session.adopts) slot.state = node::SlotState::sealed;
        const commit::SnapshotPlace place{serving.session.run, file->stream, slot.step.load()};
        const auto committed = commit::find_committed(*serving.target.store, place, file->peek.record.which_save());
        // The drain reports errors of this look.
        already[i] = slot.state.load() == node::SlotState::committed || (committed && *committed);
    }
    return already;
}

std::vector<Drained> outcome_of(const Serving& serving, const Served& served, const std::vector<bool>& already) {
    std::vector<Drained> outcome;
    const auto& page = serving.staging.control();
    for (std::uint32_t i = 0; i < page.slot_count.load(); ++i) {
        const auto& slot = page.slots[i];
        if (slot.step.load() < 0) continue;
        const auto state = slot.state.load();
        const std::string stream = page.streams[slot.stream].name.data();
        Drained drained{.stream = stream,
                        .step = slot.step.load(),
                        .staged_path = serving.staging.slot_path(i),
                        .committed = state == node::SlotState::committed,
                        .already = already[i],
                        .waiting = state == node::SlotState::drained,
                        .text = node::error_in(slot.error_kind, slot.error_text).line()};
        if (drained.committed) drained.text = said_of(served.others, serving.session.run + "/" + stream);
        else if (drained.waiting) drained.text = "drained. Node files of other nodes are still missing";
        outcome.push_back(std::move(drained));
    }
    return outcome;
}

}  // namespace

Result<std::vector<Drained>> drain_leftover(const std::string& directory, const ViewMaker& make_view,
                                            const LeftoverOptions& options) {
    node::dismiss_lingering(directory);
    const auto read = session_of(directory);
    if (!read) return node::not_usable(directory, read.error());
    const auto& written = *read;
    auto session = written;
    // The session's forwarders have mostly ended with its job. The caller chooses the present ones.
    session.forwarding = options.forwarding;
    session.neighbours = {};
    FB_TRY_ASSIGN(target, target_of(options.into.empty() ? session.run : options.into, session.forwarding, make_view));
    FB_TRY(find_run(session, options, *target.store, directory));
    FB_TRY_ASSIGN(locked, node::LockedDirectory::lock(directory, session.run));
    FB_TRY_ASSIGN(left, node::staged_files(directory));
    // The slots of a dead session are taken over as by a new session; the page then shows the remaining work. The
    // session's file stays unchanged: snapshots that cannot be committed now still belong to its run.
    FB_TRY_ASSIGN(staging, node::Staging::create(std::move(locked), written, killed_agent_max));
    FB_TRY_ASSIGN(lock, sys::FileLock::take(node::agent_lock_path(directory)));
    FB_TRY_ASSIGN(served_as, node::encode_session(session));
    const auto served_as_path = node::drained_as_path(directory);
    FB_TRY(sys::write_text_durable(sys::posix_store(), served_as_path, served_as));
    Serving serving{std::move(target), std::move(staging),  std::move(session),
                    std::move(lock),   [](const Event&) {}, "drain"};
    serving.agent = "drain";
    serving.staging.control().ending = 1;
    const auto already = take_as_own(serving, left);
    const std::atomic<bool> never{false};
    auto served = serve(serving, never, std::chrono::seconds(0));
    auto outcome = outcome_of(serving, served, already);
    if (served.packed) served.packed = sys::posix_store().remove(served_as_path);
    serving.lock.release();
    // A file may come at the last moment: then the directory stays.
    if (served.packed && served.committed && options.remove) served.packed = serving.staging.remove();
    if (!served.packed)
        outcome.push_back({.stream = spool_stream(directory, serving.session.host),
                           .step = -1,
                           .staged_path = directory,
                           .text = served.packed.error().line()});
    return outcome;
}

std::vector<DrainedDirectory> drain_leftovers(const std::vector<std::string>& directories, const ViewMaker& make_view,
                                              const LeftoverOptions& options) {
    std::vector<DrainedDirectory> all;
    for (const auto& directory : directories) {
        // Without `remove` the copies must stay, and there is no other work.
        if (options.remove) node::dismiss_lingering(directory);
        const auto in_use = {node::application_lock_path(directory), node::agent_lock_path(directory)};
        // If a lock is unreadable, the drain returns the error.
        const auto is_held = [](const std::string& path) {
            const auto held = sys::lock_state(path);
            return held && *held;
        };
        if (!std::filesystem::exists(directory) || std::ranges::any_of(in_use, is_held)) continue;
        auto staged = drain_leftover(directory, make_view, options);
        const bool taken = !staged && std::ranges::any_of(in_use, is_held);  // by a session, a moment ago
        if (!taken) all.push_back({directory, std::move(staged)});
    }
    const auto waits = [](const DrainedDirectory& leftover) {
        return leftover.staged && std::ranges::any_of(*leftover.staged, &Drained::waiting);
    };
    const auto look_again = [&] {
        for (auto& leftover : all)
            if (waits(leftover)) leftover.staged = drain_leftover(leftover.directory, make_view, options);
    };
    // A later directory may have committed the snapshots of an earlier one.
    if (all.size() > 1) look_again();
    const auto deadline = sys::Clock::now() + options.nodes_wait;
    while (std::ranges::any_of(all, waits) && sys::Clock::now() < deadline) {
        std::this_thread::sleep_for(nodes_look_pause);
        look_again();
    }
    return all;
}

Result<Leftovers> find_leftovers(const std::string& staging, const std::string& run, std::uint64_t run_id,
                                 std::uint64_t last_run_lock) {
    Leftovers leftovers;
    FB_TRY_ASSIGN(directories, node::staging_directories(staging));
    std::ranges::sort(directories);
    for (const auto& directory : directories) {
        const auto session = session_of(directory);
        if (!session) continue;   // killed before it staged anything
        std::error_code unequal;  // one of them does not exist
        const bool here = session->run == run || std::filesystem::equivalent(session->run, run, unequal);
        const bool same = session->run_id == run_id;
        // A run and its copy have the same identity. The staged data belong to the run at the path in session.json.
        const auto is_gone = [&] {
            const auto seen = catalog::check_identity(sys::target_store(), session->run, run_id);
            return !seen && (seen.error().kind == ErrorKind::missing || seen.error().kind == ErrorKind::refused);
        };
        const bool moved = same && last_run_lock != 0 && session->claim == last_run_lock && is_gone();
        if (same && (here || moved)) leftovers.own.push_back(directory);
        else if ((here || same) && node::may_hold_uncommitted(directory) && (here || is_gone()))
            leftovers.others.push_back(directory);
    }
    return leftovers;
}

Result<> remove_status(const node::SessionFile& session, const std::string& directory) {
    auto& store = sys::target_store();
    FB_TRY(catalog::check_identity(store, session.run, session.run_id));
    const NodeFileOfRun file{.run = session.run,
                             .run_id = session.run_id,
                             .host = session.host,
                             .virtual_node = node::virtual_index_of(directory),
                             .name = "status",
                             .ending = "json"};
    const auto removed = store.remove(file.path());
    return removed || removed.error().kind == ErrorKind::missing ? Result<>() : removed;
}

}  // namespace forebay::agent
