// What an agent does with what it has drained: it commits it, and keeps the stream's window.

#include <fmt/format.h>

#include "agent/agent.hpp"
#include "agent/claim_keeper.hpp"
#include "base/attempt.hpp"
#include "catalog/claim.hpp"
#include "catalog/history.hpp"
#include "catalog/views.hpp"
#include "commit/commit.hpp"
#include "describe/conventions.hpp"
#include "move/retry.hpp"

namespace forebay::agent {

namespace {

using node::SlotState;

// How many looks find nothing before a drained part counts as removed: between two renames of a replacement there is
// nothing to see.
constexpr int absences_max = 4;

}  // namespace

bool Agent::commit_slot(std::uint32_t index) {
    auto& slot = page_.slots[index];
    auto peeked = format::peek(std::as_const(mine_[index].mapping).bytes(), staging_.slot_path(index));
    if (!peeked) {
        fail(index, peeked.error());
        return true;
    }
    const auto& record = peeked->record;
    const std::string stream = page_.streams[slot.stream].name.data();
    std::vector<std::string> others;
    const auto done =
        move::with_retries({.retries = session_.agent.retries, .pause = session_.agent.retry_pause}, nullptr, [&] {
            return commit::commit_if_complete(store_, commit::key_of(session_.run, stream, record), session_.run_id,
                                              &mine_[index].look_first_at, &others);
        });
    tell_of(others);
    const bool absent = done ? *done == commit::Commit::waiting : done.error().kind == ErrorKind::missing;
    if (absent && slot.inherited == 0) {
        const auto part = session_.run + "/" + stream + "/" + catalog::part_name(record.step, record.snapshot_id);
        const auto there = store_.exists(part);
        if (there && !*there) return part_gone(index, stream, record);
    }
    if (!done) {
        fail(index, done.error());
        return true;
    }
    if (*done == commit::Commit::waiting) {
        if (slot.inherited == 0) return false;
        log_(fmt::format(
            "step {} of stream '{}' lacks node files of other nodes of the earlier session; this node's is durable",
            record.step, stream));
        ++ended_;
        set(slot, SlotState::empty);
        return true;
    }
    if (*done == commit::Commit::superseded)
        log_(fmt::format("a later save of step {} of stream '{}' is committed; this one was removed", record.step,
                         stream));
    if (*done == commit::Commit::set_aside) tell_set_aside(index, record);
    committed(index, record, *done == commit::Commit::committed);
    return true;
}

// Another session has gone back behind this step, and saved it anew, while this one was still saving.
void Agent::tell_set_aside(std::uint32_t index, const format::Record& record) {
    const auto& slot = page_.slots[index];
    const Error aside{
        ErrorKind::refused,
        fmt::format("step {} of stream '{}' is committed, but aside, as one of line {}: a later session has gone back "
                    "behind it in run {}",
                    record.step, page_.streams[slot.stream].name.data(), format::name_of(record.lineage.line()),
                    session_.run),
        "both", fmt::format("forebay ls {}", session_.run)};
    log_(aside.line());
    if (slot.inherited == 0) say_lost(page_, aside);
}

// This node's file was durable in the part directory, which is not there now. It was renamed a moment ago; or another
// agent has committed it and retention has removed it since, after a later save; or somebody has removed it, and then
// it is drained again. What cannot be looked at now is looked at again.
bool Agent::part_gone(std::uint32_t index, const std::string& stream, const format::Record& record) {
    const auto later = [&]() -> Result<bool> {
        FB_TRY_ASSIGN(committed, is_committed(index));
        if (committed) return false;
        FB_TRY_ASSIGN(all, catalog::heads_of(store_, session_.run, stream));
        bool changing = false;
        for (const auto& version : all) {
            if (version.readable && format::is_later(version.head.which_save(), record.which_save())) return true;
            changing |= !version.readable;  // retention has just removed it, after a commit that was not listed yet
        }
        if (changing) return Error{ErrorKind::retry, "the list of snapshots changes"};
        return Error{ErrorKind::missing,
                     fmt::format("its node files are not in {}/{} any more.", session_.run, stream)};
    }();
    if (!later && (later.error().kind != ErrorKind::missing || ++mine_[index].absences < absences_max)) return false;
    mine_[index].absences = 0;
    if (!later) fail(index, later.error());
    else if (*later) committed(index, record, false);
    return true;
}

void Agent::committed(std::uint32_t index, const format::Record& record, bool by_us) {
    auto& slot = page_.slots[index];
    auto& stream = page_.streams[slot.stream];
    const auto step = slot.step.load();
    const std::string name = stream.name.data();
    count_missed_deadlines();
    if (slot.inherited == 0) ++page_.commits;
    ++ended_;
    if (stream.newest_durable_step.load() < step) stream.newest_durable_step = step;
    log_(fmt::format("step {} of stream '{}' is committed{}", step, name, by_us ? "" : " by another agent"));
    set(slot, SlotState::committed);
    if (by_us)
        keep_window(slot.stream, {name, step, session_.run + "/" + name + "/" + catalog::step_name(step)},
                    record.lineage.line());
}

// What the committing agent does for all: the view, the names of what the line has left behind, the retention window.
void Agent::keep_window(std::uint32_t index, const catalog::Snapshot& snapshot, const format::Line& line) {
    const auto& stream = page_.streams[index];
    for (const auto& known : describe::known_conventions) {
        const auto convention = known.convention;
        if ((stream.view >> static_cast<unsigned>(convention) & 1u) == 0 || !make_view_) continue;
        if (const auto made = attempt([&] { return make_view_(store_, snapshot, convention); }); !made)
            log_(fmt::format("no view {} of step {}: {}", catalog::view_name(snapshot.step, convention), snapshot.step,
                             made.error().line()));
    }
    if (page_.lost.load() != 0) return;  // what stays is for the session to say that has the run now
    // A stream that keeps all may hold thousands of snapshots: they are looked at once a line.
    if (stream.keep <= 0 && named_lines_[index] == line) return;
    // Nor for one that nobody has told it to yet: this agent may have been stopped for long.
    if (const auto session = page_.session.load(); session != 0) {
        const auto later = catalog::claimed_after(store_, session_.run, session);
        if (!later || *later) return;
    }
    const auto pruned = attempt([&] {
        return catalog::prune(store_, session_.run, snapshot.stream,
                              {.keep = stream.keep, .keep_abandoned = stream.keep_abandoned, .spared = snapshot.step});
    });
    if (!pruned) {
        log_(fmt::format("retention of stream '{}' failed: {}", snapshot.stream, pruned.error().line()));
        return;
    }
    named_lines_[index] = line;
    for (const auto& problem : pruned->problems) log_(problem);
    tell_of(pruned->others);
}

void Agent::tell_of(const std::vector<std::string>& others) {
    for (const auto& path : others)
        if (others_.insert(path).second) log_(catalog::stays_text(path));
}

}  // namespace forebay::agent
