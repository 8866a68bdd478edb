#include "path/agent/committer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "core/base/attempt.hpp"
#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "core/describe/analysis_list.hpp"
#include "core/describe/conventions.hpp"
#include "core/format/packed.hpp"
#include "core/move/retry.hpp"
#include "path/agent/run_lock_keeper.hpp"
#include "path/agent/target.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/marks.hpp"
#include "path/catalog/run_lock.hpp"
#include "path/catalog/views.hpp"
#include "path/commit/commit.hpp"
#include "path/node/analysis_rules.hpp"
#include "path/node/timing_ring.hpp"

namespace forebay::agent {

namespace {

using node::SlotState;

// How often a long drain checks if peers have completed earlier snapshots.
constexpr std::chrono::milliseconds commit_pause{1000};

// True if analyses of the stream may mark its snapshots. Any script may.
bool may_be_marked(const node::StreamControl& stream) {
    const auto analyses = node::decode_analyses(stream.insitu.data());
    return analyses && std::ranges::any_of(*analyses, [](const Analysis& analysis) {
               return analysis.kind == Analysis::Kind::script ||
                      (!analysis.condition.empty() && std::ranges::count(analysis.action, Analysis::Action::mark) > 0);
           });
}

// Adds the snapshots that the stream's analyses may still mark: snapshots in its slots, the snapshot under analysis
// even if a save took its slot, and snapshots that other nodes still analyse. Without them a bad snapshot would count
// as good until then, and the last good snapshot would go.
Result<> add_unproved(sys::Store& store, const std::string& run, const node::Control& page, std::uint32_t index,
                      catalog::Retention& retention) {
    const auto& stream = page.streams[index];
    if (!may_be_marked(stream)) return {};
    const auto slots = std::span(page.slots).first(page.slot_count.load());
    retention.unproved = static_cast<int>(std::ranges::count(slots, index, &node::SlotControl::stream));
    FB_TRY_ASSIGN(saves, catalog::saves_in_analysis(store, run, stream.name.data()));
    retention.in_analysis = std::move(saves);
    for (const auto* const id : {&stream.in_analysis, &stream.in_scripts}) retention.in_analysis.insert(id->load());
    return {};
}

// Results of snapshots that the run abandoned get the name of their line too. Nothing of them is removed.
Result<> name_results(sys::Store& store, const std::string& run, const std::string& stream) {
    FB_TRY_ASSIGN(streams, catalog::streams(store, run));
    for (const auto& derived : streams)
        if (describe::source_stream(derived) == stream && !format::is_packed_stream(derived))
            FB_TRY(catalog::prune(store, run, derived, {}));
    return {};
}

}  // namespace

Committer::Committer(sys::Store& store, const node::SessionFile& session, const Schedule& schedule, Slots& slots,
                     ViewMaker make_view, const Tell& tell)
    : store_(store),
      session_(session),
      schedule_(schedule),
      slots_(slots),
      make_view_(std::move(make_view)),
      tell_(tell) {}

bool Committer::is_due() const {
    return sys::Clock::now() - looked_at_.load() >= commit_pause && slots_.waits_for_peers();
}

bool Committer::commit_drained() {
    looked_at_ = sys::Clock::now();
    bool changed = false;
    for (const auto slot : schedule_.waiting_for_peers()) changed |= commit(slot);
    return changed;
}

bool Committer::commit(std::uint32_t slot) {
    auto peeked = slots_.peek(slot);
    if (!peeked) {
        slots_.fail(slot, peeked.error());
        return true;
    }
    const auto& record = peeked->record;
    const auto stream = slots_.stream_name(slot);
    const bool inherited = slots_.control(slot).inherited != 0;
    std::vector<std::string> others;
    const auto done = move::with_retries(retry_options(session_), nullptr, [&] {
        return commit::commit_if_complete(store_, commit::key_of(session_.run, stream, record), session_.run_id,
                                          &slots_.notes(slot).look_first_at, &others);
    });
    tell_of(stream, others);
    const bool absent = done ? *done == commit::Commit::waiting : done.error().kind == ErrorKind::missing;
    if (absent && !inherited) {
        const auto part = session_.run + "/" + stream + "/" + catalog::part_name(record.step, record.snapshot_id);
        const auto there = store_.exists(part);
        // If the part exists, it only lacks node files of peers.
        if (there && !*there) return part_gone(slot, record);
    }
    slots_.notes(slot).absent_since.reset();
    if (!done) {
        slots_.fail(slot, done.error());
        return true;
    }
    if (*done == commit::Commit::waiting) {
        if (!inherited) return false;
        // The peers of an earlier session may never come. The node file is durable, so the slot becomes free.
        tell_(slots_.event(What::incomplete, slot));
        tell_(slots_.event(What::settled, slot));
        slots_.end_drain();
        slots_.set(slot, SlotState::empty);
        return true;
    }
    if (*done == commit::Commit::superseded) tell_(slots_.event(What::superseded, slot));
    if (*done == commit::Commit::set_aside) tell_set_aside(slot, record);
    end(slot, record, *done == commit::Commit::committed);
    return true;
}

// Another session went back behind this step and saved it again, while this session still saved.
void Committer::tell_set_aside(std::uint32_t slot, const format::Record& record) {
    const auto stream = slots_.stream_name(slot);
    const Error aside{ErrorKind::refused,
                      fmt::format("step {} of stream '{}' is committed, but aside, in the abandoned line {}: a later "
                                  "session has gone back behind it in run {}",
                                  record.step, stream, format::name_of(record.lineage.line()), session_.run),
                      "both", fmt::format("forebay ls {}", session_.run)};
    auto event = slots_.event(What::set_aside, slot);
    event.detail = aside.line();
    tell_(event);
    if (slots_.control(slot).inherited == 0) say_lost(slots_.page(), aside);
}

// Somebody copied snapshots into the run that count more than the snapshots of this session.
void Committer::tell_later(const catalog::Snapshot& snapshot, std::uint32_t session) {
    auto& page = slots_.page();
    const Error lost{ErrorKind::refused,
                     fmt::format("stream '{}' of run {} holds snapshots of session {}, and this is session {}: another "
                                 "session wrote to the run's directory",
                                 snapshot.stream, session_.run, session, page.session.load()),
                     "all snapshots of both sessions: nothing is removed", fmt::format("forebay ls {}", session_.run)};
    say_lost(page, lost);
    tell_({.what = What::not_pruned, .stream = snapshot.stream, .detail = lost.line()});
}

// This node's file was durable in the part directory, but the directory is gone. There are three reasons. It was just
// renamed, and the client of a network file system does not see that yet. Or another agent committed it and retention
// removed it after a later save. Or somebody removed it: then it is drained again. If the answer is not readable now,
// the agent looks again, for limits::names_stay_max: a snapshot beside it may be damaged for good.
bool Committer::part_gone(std::uint32_t slot, const format::Record& record) {
    const auto stream = slots_.stream_name(slot);
    const auto later = [&]() -> Result<bool> {
        // The list comes first: it opens the stream's directory anew, so names in it are up to date.
        FB_TRY_ASSIGN(all, catalog::heads_of(store_, session_.run, stream));
        FB_TRY_ASSIGN(committed, slots_.is_committed(slot));
        if (committed) return false;
        std::string unread;  // retention may have removed it after an unlisted commit
        for (const auto& version : all) {
            if (version.readable && format::is_later(version.head.which_save(), record.which_save())) return true;
            // An unreadable snapshot may be the later save.
            if (!version.readable) unread = version.readable.error().what;
        }
        return Error{ErrorKind::missing,
                     fmt::format("its node files are not in {}/{} any more{}", session_.run, stream,
                                 unread.empty() ? "." : ", and a later save cannot be seen there: " + unread)};
    }();
    auto& since = slots_.notes(slot).absent_since;
    if (!later && !since) since = sys::Clock::now();
    if (!later && sys::Clock::now() - *since < limits::names_stay_max) return false;
    since.reset();
    if (!later) slots_.fail(slot, later.error());
    else if (*later) end(slot, record, false);
    return true;
}

void Committer::end(std::uint32_t index, const format::Record& record, bool by_us) {
    auto& slot = slots_.control(index);
    auto& stream = slots_.stream(index);
    const auto step = slot.step.load();
    const auto name = slots_.stream_name(index);
    // Before the state changes: a committed slot does not count as late any more.
    slots_.count_missed_deadlines();
    if (slot.inherited == 0) {
        const auto took = std::max<std::int64_t>(0, node::steady_ns(sys::Clock::now()) - slot.sealed_steady_ns.load());
        stream.durable_ns_max = std::max(stream.durable_ns_max.load(), static_cast<std::uint64_t>(took));
        ++stream.commits;
        ++slots_.page().counts.commits;
    }
    slots_.end_drain();
    // An urgent later step may have been committed before.
    if (stream.counts.newest_durable_step.load() < step) stream.counts.newest_durable_step = step;
    auto committed = slots_.event(by_us ? What::committed : What::found_committed, index);
    committed.bytes = slot.drained_bytes.load();
    committed.seconds = slots_.notes(index).drain_seconds;
    tell_(committed);
    auto settled = slots_.event(What::settled, index);  // from here on the next save may have the slot
    slots_.set(index, SlotState::committed);
    // Views and retention come last: the next save does not wait for them.
    if (by_us) {
        const catalog::Snapshot snapshot{name, step, session_.run + "/" + name + "/" + catalog::step_name(step)};
        make_views(index, snapshot);
        const auto start = sys::Clock::now();
        keep_window(index, snapshot, record.lineage.line());
        settled.seconds = std::chrono::duration<double>(sys::Clock::now() - start).count();
    }
    tell_(settled);
}

void Committer::make_views(std::uint32_t slot, const catalog::Snapshot& snapshot) {
    const auto wanted = slots_.stream(slot).view;
    for (const auto& known : describe::known_conventions) {
        const auto convention = known.convention;
        if ((wanted >> static_cast<unsigned>(convention) & 1u) == 0 || !make_view_) continue;
        const auto start = sys::Clock::now();
        const auto outcome = attempt([&] { return make_view_(store_, snapshot, convention); });
        tell_({.what = outcome ? What::viewed : What::not_viewed,
               .stream = snapshot.stream,
               .step = snapshot.step,
               .slot = slot,
               .seconds = std::chrono::duration<double>(sys::Clock::now() - start).count(),
               .place = catalog::view_name(snapshot.step, convention),
               .detail = outcome ? std::string() : outcome.error().line()});
    }
}

// The committing agent does this for all nodes: names of the abandoned snapshots, and the retention window.
void Committer::keep_window(std::uint32_t slot, const catalog::Snapshot& snapshot, const format::Line& line) {
    const auto& page = slots_.page();
    const auto& stream = slots_.stream(slot);
    auto& named_line = named_lines_[slots_.control(slot).stream];
    if (page.lost.load() != 0) return;  // the session that has the run now decides
    // A stream that keeps all may hold thousands of snapshots: look at them once for each line.
    if (stream.keep <= 0 && named_line == line) return;
    // This agent may have been stopped for long, without news of a later session.
    if (const auto session = page.session.load(); session != 0) {
        const auto later = catalog::claimed_after(store_, session_.run, session);
        if (!later || *later) return;
    }
    const auto pruned = attempt([&]() -> Result<catalog::Pruned> {
        catalog::Retention what{.keep = stream.keep,
                                .keep_abandoned = stream.keep_abandoned,
                                .keep_also = snapshot.step,
                                .session = page.session.load()};
        FB_TRY(add_unproved(store_, session_.run, page, slots_.control(slot).stream, what));
        FB_TRY_ASSIGN(done, catalog::prune(store_, session_.run, snapshot.stream, what));
        if (named_line != line) FB_TRY(name_results(store_, session_.run, snapshot.stream));
        return done;
    });
    if (!pruned) {
        tell_({.what = What::not_pruned, .stream = snapshot.stream, .detail = pruned.error().line()});
        return;
    }
    if (pruned->later_session != 0) return tell_later(snapshot, pruned->later_session);
    named_line = line;
    for (const auto& removed : pruned->removed)
        tell_({.what = What::pruned, .stream = removed.stream, .step = removed.step});
    for (const auto& problem : pruned->problems)
        tell_({.what = What::problem, .stream = snapshot.stream, .detail = problem});
    tell_of(snapshot.stream, pruned->others);
}

void Committer::tell_of(const std::string& stream, const std::vector<std::string>& others) {
    for (const auto& path : others)
        if (others_.insert(path).second)
            tell_({.what = What::stays, .stream = stream, .detail = catalog::stays_text(path)});
}

}  // namespace forebay::agent
