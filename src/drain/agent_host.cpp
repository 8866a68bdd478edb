#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "catalog/views.hpp"
#include "drain/agent.hpp"
#include "drain/publish.hpp"
#include "drain/spool.hpp"
#include "drain/target.hpp"

namespace forebay::drain {

namespace {

Result<stage::SessionFile> session_of(const std::string& directory) {
    const auto path = directory + "/session.json";
    FB_TRY_ASSIGN(text, sys::read_text(sys::posix_store(), path, limits::session_bytes_max));
    return stage::decode_session(text, path);
}

std::string said_of(const std::set<std::string>& others, const std::string& stream_directory) {
    std::string text;
    for (const auto& path : others)
        if (path.starts_with(stream_directory + "/")) text += (text.empty() ? "" : "\n  ") + catalog::stays_text(path);
    return text;
}

}  // namespace

Result<bool> run_agent(const std::string& directory, const std::function<void()>& ready, const ViewMaker& make_view,
                       const Log& log) {
    FB_TRY_ASSIGN(session, session_of(directory));
    auto lock = sys::FileLock::take(stage::agent_lock_path(directory));
    if (!lock && lock.error().kind == ErrorKind::retry) {
        ready();
        return true;
    }
    if (!lock) return lock.error();
    FB_TRY_ASSIGN(staging, stage::Staging::join(directory));
    FB_TRY(sys::pin_to_cpus(session.agent.cpus));
    log(fmt::format("agent {} serves {} for run {}", sys::process_id(), directory, session.run));
    ready();
    const std::atomic<bool> never{false};
    FB_TRY_ASSIGN(target, target_of(session.run, session.forwarding, make_view));
    if (!session.forwarding.to.empty())
        log(fmt::format("it writes through {}", fmt::join(session.forwarding.to, ", ")));
    SpoolKeeper spool(*target.store, directory, session, log);
    bool all = Agent(*target.store, staging, session, target.make_view, log).run(never);
    if (const auto packed = spool.finish(); !packed) {
        log(fmt::format("the spool is not packed: {}", packed.error().text));
        all = false;
    }
    log(all ? "agent leaves, everything is committed" : fmt::format("agent leaves; next: forebay drain {}", directory));
    return all;
}

Result<std::vector<Drained>> drain_leftover(const std::string& directory, const ViewMaker& make_view, bool remove,
                                            const stage::Forwarding& forwarding) {
    FB_TRY_ASSIGN(session, session_of(directory));
    // Those of the session have mostly ended with its job; through whom to write now is for the caller to say.
    session.forwarding = forwarding;
    FB_TRY_ASSIGN(target, target_of(session.run, session.forwarding, make_view));
    // Slots of a dead session are taken over as a new session takes them over; the page then says what is left.
    FB_TRY_ASSIGN(staging, stage::Staging::create(directory, session, std::chrono::milliseconds(0)));
    FB_TRY_ASSIGN(lock, sys::FileLock::take(stage::agent_lock_path(directory)));
    auto& page = staging.control();
    page.ending = 1;
    // Here a person looks on: what cannot be committed stays staged and is named.
    std::vector<bool> already;
    for (std::uint32_t i = 0; i < page.slot_count.load(); ++i) {
        auto& slot = page.slots[i];
        slot.inherited = 0;
        const Place place{session.run, page.streams[slot.stream].name.data(), slot.step.load()};
        const auto found =
            slot.step.load() < 0 ? Result<bool>(false) : find_committed(*target.store, place, slot.snapshot_id.load());
        already.push_back(found && *found);  // what cannot be looked at now is told by the drain
    }
    const std::atomic<bool> never{false};
    Agent agent(*target.store, staging, session, target.make_view, [](const std::string&) {});
    const bool all = agent.run(never, std::chrono::seconds(0));
    std::vector<Drained> outcome;
    for (std::uint32_t i = 0; i < page.slot_count.load(); ++i) {
        const auto& slot = page.slots[i];
        const auto state = slot.state.load();
        if (slot.step.load() < 0) continue;
        const bool committed = state == stage::SlotState::committed, waiting = state == stage::SlotState::drained;
        outcome.push_back({page.streams[slot.stream].name.data(), slot.step.load(), staging.slot_path(i), committed,
                           already[i], waiting,
                           committed
                               ? said_of(agent.others(), session.run + "/" + page.streams[slot.stream].name.data())
                           : waiting ? "drained; node files of other nodes are still missing"
                                     : std::string(slot.error_text.data())});
    }
    FB_TRY(SpoolKeeper(sys::posix_store(), directory, session, [](const std::string&) {}).finish());
    lock.release();
    if (all && remove) FB_TRY(staging.remove());
    return outcome;
}

std::vector<DrainedDirectory> drain_leftovers(const std::vector<std::string>& directories, const ViewMaker& make_view,
                                              bool remove, const stage::Forwarding& forwarding) {
    std::vector<DrainedDirectory> all;
    for (const auto& directory : directories) {
        const auto in_use = {stage::application_lock_path(directory), stage::agent_lock_path(directory)};
        if (std::ranges::any_of(in_use, sys::lock_is_held)) continue;
        auto staged = drain_leftover(directory, make_view, remove, forwarding);
        if (staged || staged.error().kind != ErrorKind::refused) all.push_back({directory, std::move(staged)});
    }
    if (all.size() < 2) return all;
    for (auto& one : all)
        if (one.staged && std::ranges::any_of(*one.staged, &Drained::waiting))
            one.staged = drain_leftover(one.directory, make_view, remove, forwarding);
    return all;
}

}  // namespace forebay::drain
