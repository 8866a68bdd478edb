// Acts of people and machines on a run between its sessions.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>

#include "campaign/acts.hpp"
#include "core/sys/store.hpp"
#include "forebay/forebay.hpp"
#include "path/agent/leftovers.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/run.hpp"
#include "path/catalog/run_lock.hpp"
#include "path/commit/commit.hpp"
#include "path/node/staging.hpp"
#include "support/packed_files.hpp"
#include "support/temp_directory.hpp"

namespace forebay::campaign {

void Program::between() {
    if (chance(2)) {
        const auto hours = below(11) - 5;
        act(fmt::format("clock {:+} h", hours));
        shift_clock(hours * hour);
    }
    switch (below(13)) {
        case 0: return remove();
        case 1: return move();
        case 2: return mount_away();
        case 3: return recover();
        case 4: return prune_above();
        case 5: return prune_line();
        case 6: return copy();
        case 7: return unreadable();
        case 8: return mark_all();
        case 9: return misplace();
        case 10: return copy_over();
        default: return;
    }
}

void Program::remove() {
    const bool whole = chance(2);
    act(whole ? "rm -rf RUN" : "rm -rf RUN/*");
    if (whole) fs::remove_all(run_);
    else
        for (const auto& entry : fs::directory_iterator(run_))
            if (entry.path().filename().string().front() != '.') fs::remove_all(entry.path());
    model_ = Model(keep_);
    // Staged snapshots belong to the removed run, so they stay staged.
    pending_ = false;
}

void Program::move() {
    const auto to = base_ / fmt::format("moved-{}", ++number_);
    act("mv RUN");
    fs::rename(run_, to);
    run_ = to;
}

void Program::mount_away() {
    const auto hidden = base_ / fmt::format("hidden-{}", ++number_);
    act("the target is not mounted");
    fs::rename(run_, hidden);
    fs::create_directory(run_);
    for (const auto& directory : staged()) {
        const auto drained = agent::drain_leftover(directory, {}, {.remove = true});
        // Snapshots of runs that were removed earlier are refused as well.
        if (drained && std::ranges::any_of(*drained, &agent::Drained::committed))
            problem("what is staged was committed into a run that is not there");
    }
    if (!fs::is_empty(run_)) problem("something was made where the target is not mounted");
    if (chance(2)) {
        // A user does not notice and starts a new run in the empty mount point.
        auto real = std::move(model_);
        const bool pending = std::exchange(pending_, false);
        const auto last = last_step_;
        model_ = Model(keep_);
        session();
        if (problems_.empty()) check_target();
        model_ = std::move(real);
        pending_ = pending;
        last_step_ = last;
    }
    act("mounted again");
    fs::remove_all(run_);
    fs::rename(hidden, run_);
}

// A user tries something in a copy, then discards the copy and the snapshots staged for it.
void Program::copy() {
    const auto own = run_;
    run_ = base_ / fmt::format("copy-{}", ++number_);
    act("cp -a RUN");
    fs::copy(own, run_, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    if (!pending_) {
        const auto model = model_;
        const auto last = last_step_;
        session();
        if (problems_.empty()) check_target();
        model_ = model;
        last_step_ = last;
        pending_ = false;
    }
    act("the copy goes");
    fs::remove_all(run_);
    run_ = own;
}

void Program::recover() {
    act("recover");
    auto& store = sys::posix_store();
    const auto id = catalog::identity_of(store, run_);
    if (!id) return problem("identity: " + id.error().text());
    const auto left = agent::find_leftovers(base_ / "memory", run_, *id, catalog::run_lock_key(store, run_).value());
    if (!left) return problem("leftovers: " + left.error().text());
    agent::LeftoverOptions how;
    how.remove = true;
    how.moved_to = run_;
    for (const auto& leftover : agent::drain_leftovers(left->own, {}, how)) {
        if (!leftover.staged) problem("drain: " + leftover.staged.error().text());
        else
            for (const auto& drained : *leftover.staged)
                if (!drained.committed) problem(fmt::format("drain: {}: {}", drained.name(), drained.text));
    }
    const auto done = commit::recover(store, run_, chance(2));
    if (!done) problem("recover: " + done.error().text());
    pending_ = false;
}

void Program::prune_above() {
    const auto living = model_.living();
    if (pending_ || living.empty()) return;
    const auto step = std::max<std::int64_t>(0, living.rbegin()->first - below(3));
    act(fmt::format("prune --above {}", step));
    auto& store = sys::posix_store();
    const auto session = catalog::claim(
        store, run_, {.host = "a shell", .user = "me", .boot = "", .lock_path = "", .lock_id = "", .process = 1},
        {.watch = 0ms});
    if (!session) return problem("claim: " + session.error().text());
    expect(catalog::end_run_lock(store, run_, *session), "end_claim");
    const auto removed = catalog::prune_above(store, run_, stream_name, step, *session, false);
    if (!removed) return problem("prune_above: " + removed.error().text());
    model_.begin_line(step, true);
}

void Program::prune_line() {
    if (pending_ || !model_.last_line_has_saves()) return;
    auto& store = sys::posix_store();
    const auto history = catalog::history(store, run_, stream_name);
    if (!history) return problem("history: " + history.error().text());
    act(fmt::format("prune --line {}", format::name_of(history->line())));
    const auto removed = catalog::prune_line(store, run_, stream_name, history->line(), false);
    if (!removed) return problem("prune_line: " + removed.error().text());
    model_.drop_last_line();
}

}  // namespace forebay::campaign
