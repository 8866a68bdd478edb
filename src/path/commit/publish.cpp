// Gives a complete part directory the name of its step. publish() tries until it succeeds or another save settles the
// matter. An attempt (Publisher::attempt_once) reads the save under the name and then decides:
//
//   nothing               rename the part there
//   this very save        done before: `already`
//   a batch               batches replace nothing: `taken`
//   another run's         `refused`
//   an earlier line's     that save moves to the name of its line, then as for nothing
//   an earlier save,      it moves aside, the part is renamed there, the old save is removed
//   or a damaged save
//   an unreadable         it becomes a part; recover() commits the part again if its node files are whole
//   manifest
//   a later, whole save   this save is removed, or gets the name of its own line if the lines differ
//
// Between the look and the rename another agent may rename too. So the agent looks again at a directory after it moved
// it aside, and puts it back (put_back) if it is not the expected save. A power cut between any two operations leaves
// the old save or the new save whole, and recover() finishes the rest.

#include "path/commit/publish.hpp"

#include <fmt/format.h>

#include <optional>

#include "core/base/try.hpp"
#include "core/format/packed.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/views.hpp"
#include "path/commit/unreadable.hpp"

namespace forebay::commit {

namespace {

// The most attempts to get the step's name while other programs take it. Each of them is another save of the step, or
// recover, and there are never many.
constexpr int publish_attempts_max = 8;

// The save that has a name; nothing if the name is free. An unreadable manifest counts as an empty save, earlier than
// all saves. The test of existence comes first: a directory that appears after load_manifest() would otherwise count as
// a directory without a manifest.
struct Occupant {
    Save save;
    std::uint64_t run_id = 0;
};
Result<std::optional<Occupant>> standing(sys::Store& store, const std::string& directory) {
    FB_TRY_ASSIGN(exists, store.exists(directory));
    if (!exists) return std::optional<Occupant>{};
    const auto manifest = catalog::load_manifest(store, directory);
    if (manifest) return std::optional(Occupant{manifest->head().which_save(), manifest->lineage.run_id});
    if (manifest.error().kind != ErrorKind::missing && manifest.error().kind != ErrorKind::corrupt)
        return manifest.error();
    return std::optional(Occupant{});
}

// The agent that renamed the directory may have lost power before its sync.
Result<> make_names_durable(sys::Store& store, const SnapshotPlace& place) {
    FB_TRY(store.sync_directory(place.stream_directory()));
    return store.sync_directory(place.run);
}

/// Brings a save under a name: the name of its step, or the name of its line.
class Publisher {
public:
    Publisher(sys::Store& store, const SnapshotPlace& place, std::string name, const std::string& directory,
              const Save& save, std::uint64_t run_id)
        : store_(store), place_(place), final_(std::move(name)), directory_(directory), save_(save), run_id_(run_id) {}

    Result<Commit> attempt_once();
    /// Paths that have the name of a view of a replaced save but are no views.
    const std::vector<std::string>& others() const { return others_; }

private:
    Result<bool> is_whole() const;
    Result<> remove_view(bool replaces);
    struct Aside {
        std::string path;
        std::vector<std::string> second_names = {};
    };
    Result<Aside> aside_of(const Save& earlier) const;
    Result<> remove_replaced(const Save& earlier, const Aside& aside) const;
    Result<> free_aside(const Save& earlier, const std::string& aside) const;
    Result<> move_aside(const Save& earlier, const std::string& aside) const;
    Error put_back(const std::string& aside, Error why) const;
    Result<Commit> replace(const Save& earlier) const;
    Result<Commit> publish_under_line() const;
    Result<> give_step_away(const Save& earlier) const;
    Error of_another_run(std::uint64_t run_id) const;
    Result<bool> keep_unreadable();
    bool is_for_step() const { return final_ == place_.final_directory(); }

    sys::Store& store_;
    const SnapshotPlace& place_;
    const std::string final_;
    const std::string& directory_;
    const Save save_;
    const std::uint64_t run_id_;
    std::vector<std::string> others_;
};

Result<bool> Publisher::is_whole() const {
    const auto manifest = catalog::load_manifest(store_, final_);
    const auto checked = manifest ? catalog::check_whole(store_, final_, *manifest) : Result<>(manifest.error());
    if (checked) return true;
    if (checked.error().kind == ErrorKind::retry) return checked.error();
    return false;
}

// A view of the old snapshot would show the new snapshot's bytes under the old layout, so the view goes first. An agent
// that was killed here may have removed the view without a sync. So for a replacement the directory is synced even if
// no view is left. A series has no entry for a new step.
Result<> Publisher::remove_view(bool replaces) {
    if (!is_for_step()) return {};  // only the step's name has views
    const auto which = replaces ? catalog::ViewsOf::step_and_series : catalog::ViewsOf::step;
    FB_TRY_ASSIGN(views, catalog::remove_views(store_, place_.stream_directory(), place_.step, which));
    if (replaces) others_ = std::move(views.others);
    return !views.views.empty() || replaces ? store_.sync_directory(place_.stream_directory()) : Result<>{};
}

// The name under which the save that is about to be replaced moves aside. After a cut rename its directory may have
// such a name already. Then the step's name becomes free by another name.
Result<Publisher::Aside> Publisher::aside_of(const Save& earlier) const {
    using Kind = catalog::Leftover::Kind;
    Aside aside;
    for (const auto kind : {Kind::old, Kind::gone, Kind::part}) {
        aside.path = place_.stream_directory() + "/" + catalog::leftover_name({place_.step, earlier.snapshot_id, kind});
        FB_TRY_ASSIGN(committed, catalog::committed_name(store_, aside.path));
        if (committed != final_) return aside;
        aside.second_names.push_back(aside.path);
    }
    return catalog::two_names(aside.path, final_);
}

Result<> Publisher::remove_replaced(const Save& earlier, const Aside& aside) const {
    FB_TRY(catalog::discard(store_, aside.path, place_.step, earlier.snapshot_id));
    // discard() has emptied them by another name.
    for (const auto& name : aside.second_names) FB_TRY(store_.remove_tree(name));
    return {};
}

// Makes the name `aside` free for the save that is about to be replaced. The name is taken if an earlier replacement
// moved this very save there and was killed. The agent then drained the staged copy and committed the save again.
Result<> Publisher::free_aside(const Save& earlier, const std::string& aside) const {
    FB_TRY_ASSIGN(exists, store_.exists(aside));
    if (!exists) return {};
    FB_TRY_ASSIGN(committed, find_committed(store_, place_, earlier));
    FB_TRY_ASSIGN(whole, committed ? is_whole() : Result<bool>(false));
    if (whole) return catalog::discard(store_, aside, place_.step, earlier.snapshot_id);
    return Error{ErrorKind::refused, fmt::format("{} blocks the commit of another save of step {}", aside, place_.step),
                 "", fmt::format("forebay recover {}", place_.run)};
}

// Another agent may have put a later save there after our look. We must not replace a save that we did not look at.
Result<> Publisher::move_aside(const Save& earlier, const std::string& aside) const {
    FB_TRY(store_.rename(final_, aside));
    const auto moved = standing(store_, aside);
    if (!moved) return put_back(aside, moved.error());
    if (*moved && (*moved)->save.snapshot_id == earlier.snapshot_id) return {};
    return put_back(aside, {ErrorKind::refused,
                            fmt::format("another save of step {} is committed in {} now", place_.step, final_)});
}

// Moves the old save back to its name and returns `why`, never success. If another save took the name meanwhile,
// publish() decides between the two as for any late save.
Error Publisher::put_back(const std::string& aside, Error why) const {
    if (store_.rename(aside, final_)) return why;
    const auto moved = catalog::load_manifest(store_, aside);
    if (!moved && moved.error().kind == ErrorKind::missing) return why;  // recover or another agent took it
    const auto settled = moved ? publish(store_, place_, aside, moved->head()) : Result<Commit>(moved.error());
    if (settled) return why;
    return with_context(
        why, why.what, fmt::format("the committed save of step {}, which would be replaced, in {}", place_.step, aside),
        fmt::format("forebay recover {}", place_.run));
}

// The save under the step's name belongs to an earlier line. It stays, under the name of its line.
Result<> Publisher::give_step_away(const Save& earlier) const {
    FB_TRY(catalog::set_aside(store_, final_, place_.step, earlier));
    const auto aside = place_.stream_directory() + "/" + catalog::aside_name(earlier.line, place_.step);
    const auto moved = standing(store_, aside);
    if (!moved) return moved.error();
    // After our look another agent may have given the name to a later save.
    if (!*moved || (*moved)->save.line == earlier.line) return {};
    return put_back(aside, {ErrorKind::refused,
                            fmt::format("another save of step {} is committed in {} now", place_.step, final_)});
}

Error Publisher::of_another_run(std::uint64_t run_id) const {
    return {ErrorKind::refused, fmt::format("{} holds a snapshot of another run, {}", final_, catalog::id_text(run_id)),
            "", "move it out of this run, or to another name"};
}

// An unreadable directory may hold the only whole copy of a save. Returns false if it has no node files, or those of
// this very save.
Result<bool> Publisher::keep_unreadable() {
    FB_TRY_ASSIGN(seen, look_at_unreadable(store_, final_));
    if (seen.files == 0 || (seen.record && seen.record->snapshot_id == save_.snapshot_id)) return false;
    const auto of_run = seen.record ? seen.record->lineage.run_id : 0;
    if (of_run != 0 && run_id_ != 0 && of_run != run_id_) return of_another_run(of_run);
    const auto part = part_of(final_, place_.step, seen);
    FB_TRY_ASSIGN(taken, store_.exists(part));
    if (taken)
        return Error{
            ErrorKind::refused,
            fmt::format(
                "step {} cannot be committed: the manifest in {} is unusable, and {} blocks the move of its node files",
                place_.step, final_, part),
            "both directories", fmt::format("forebay recover {}", place_.run)};
    // The view goes before the rename: it would show the new save's bytes under the old layout.
    FB_TRY(remove_view(true));
    FB_TRY(store_.rename(final_, part));
    const auto moved = standing(store_, part);
    if (!moved) return put_back(part, moved.error());
    // After our look another agent may have given the name to a readable save.
    if (*moved && (*moved)->save.snapshot_id != 0)
        return put_back(part, {ErrorKind::refused,
                               fmt::format("another save of step {} is committed in {} now", place_.step, final_)});
    FB_TRY(store_.sync_directory(place_.stream_directory()));
    return true;
}

Result<Commit> Publisher::attempt_once() {
    FB_TRY_ASSIGN(here, standing(store_, final_));
    if (here && here->save.snapshot_id == save_.snapshot_id) {
        FB_TRY(make_names_durable(store_, place_));
        return Commit::already;
    }
    // A later save of a state replaces an earlier save. A batch of packed files replaces nothing: the files of the
    // batch under this name exist nowhere else.
    if (here && format::is_packed_stream(place_.stream)) return Commit::taken;
    if (here && here->run_id != 0 && run_id_ != 0 && here->run_id != run_id_) return of_another_run(here->run_id);
    if (here && here->save.snapshot_id == 0) {
        FB_TRY_ASSIGN(is_kept, keep_unreadable());
        if (is_kept) here = {};
    }
    if (here && here->save.snapshot_id != 0 && here->save.line < save_.line) {
        FB_TRY(give_step_away(here->save));
        here = {};
    }
    const bool late = here && format::is_later(here->save, save_);
    FB_TRY_ASSIGN(stays, late ? is_whole() : Result<bool>(false));
    if (stays && here->save.line != save_.line) return publish_under_line();
    if (stays) {
        FB_TRY(make_names_durable(store_, place_));
        FB_TRY(catalog::discard(store_, directory_, place_.step, save_.snapshot_id));
        return Commit::superseded;
    }
    FB_TRY(remove_view(here.has_value()));
    if (here) return replace(here->save);
    FB_TRY(store_.rename(directory_, final_));
    FB_TRY(make_names_durable(store_, place_));
    return Commit::committed;
}

Result<Commit> Publisher::publish_under_line() const {
    const auto name = place_.stream_directory() + "/" + catalog::aside_name(save_.line, place_.step);
    FB_TRY_ASSIGN(outcome, Publisher(store_, place_, name, directory_, save_, run_id_).attempt_once());
    return outcome == Commit::committed ? Commit::set_aside : outcome;
}

Result<Commit> Publisher::replace(const Save& earlier) const {
    FB_TRY_ASSIGN(aside, aside_of(earlier));
    FB_TRY(free_aside(earlier, aside.path));
    FB_TRY(move_aside(earlier, aside.path));
    if (const auto renamed = store_.rename(directory_, final_); !renamed) return put_back(aside.path, renamed.error());
    // The old save is removed last: until the new name is durable, a power cut may bring the old name back.
    FB_TRY(make_names_durable(store_, place_));
    if (const auto removed = remove_replaced(earlier, aside); !removed)
        return with_context(removed.error(),
                            fmt::format("step {} is committed in {}, but the replaced save could not be removed: {}",
                                        place_.step, final_, removed.error().what),
                            "", fmt::format("forebay recover {}", place_.run));
    return Commit::committed;
}

}  // namespace

Result<std::optional<std::string>> find_committed(sys::Store& store, const SnapshotPlace& place, const Save& save) {
    const auto aside = place.stream_directory() + "/" + catalog::aside_name(save.line, place.step);
    for (const auto& directory : {place.final_directory(), aside}) {
        FB_TRY_ASSIGN(here, standing(store, directory));
        if (!here || here->save.snapshot_id != save.snapshot_id) continue;
        // The agent that renamed it may have lost power before its sync, so the answer waits for a sync.
        FB_TRY(make_names_durable(store, place));
        return std::optional(directory);
    }
    return std::optional<std::string>{};
}

Result<Commit> publish(sys::Store& store, const SnapshotPlace& place, const std::string& directory,
                       const format::ManifestHead& head, std::vector<std::string>* others) {
    Publisher publisher(store, place, place.final_directory(), directory, head.which_save(), head.lineage.run_id);
    for (int attempt = 1;; ++attempt) {
        auto outcome = publisher.attempt_once();
        if (others != nullptr) *others = publisher.others();
        if (outcome) return outcome;
        // `missing` or `refused`: another agent was faster. The next attempt looks at the new state of the name.
        const auto kind = outcome.error().kind;
        const bool overtaken = kind == ErrorKind::missing || kind == ErrorKind::refused;
        if (!overtaken || attempt == publish_attempts_max) return outcome;
    }
}

}  // namespace forebay::commit
