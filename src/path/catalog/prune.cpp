// Removes snapshots: prune() by retention, prune_above() all above a step, prune_line() all of one line. Each function
// reads the history and selects snapshots (retention.cpp). Then it writes marks (mark_starts), and then it removes one
// snapshot after the other (remove), its views before its files.
//
// The marks come first. A removed manifest may be the only proof that the run went back; without a mark an abandoned
// snapshot would count as living again.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "core/format/packed.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/history.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/removal.hpp"
#include "path/catalog/retention.hpp"
#include "path/catalog/views.hpp"

namespace forebay::catalog {

namespace {

// Removes leftovers of an interrupted replacement of this step, so recover cannot put them in the free place. A
// leftover that is another name of a committed snapshot stays with it. Returns the second names of this snapshot.
Result<std::vector<std::string>> discard_older_saves(sys::Store& store, const std::string& run,
                                                     const Snapshot& snapshot) {
    std::vector<std::string> second_names;
    FB_TRY_ASSIGN(left, leftovers(store, run, snapshot.stream));
    for (const auto& leftover : left) {
        if (leftover.kind != Leftover::Kind::old || leftover.step != snapshot.step) continue;
        FB_TRY_ASSIGN(committed, committed_name(store, leftover.directory));
        if (!committed) FB_TRY(discard(store, leftover.directory, leftover.step, leftover.snapshot_id));
        else if (*committed == snapshot.directory) second_names.push_back(leftover.directory);
    }
    return second_names;
}

bool has_name_of_step(const Snapshot& snapshot) { return step_of(leaf_of(snapshot.directory)).has_value(); }

Result<FoundViews> remove(sys::Store& store, const std::string& run, const Snapshot& snapshot) {
    const auto stream_directory = run + "/" + snapshot.stream;
    FoundViews views;
    std::vector<std::string> second_names;
    if (has_name_of_step(snapshot)) {
        FB_TRY_ASSIGN(names, discard_older_saves(store, run, snapshot));
        second_names = std::move(names);
        // Without its snapshot a view shows fill values as data. So it goes first, durably.
        FB_TRY_ASSIGN(there, remove_views(store, stream_directory, snapshot.step, ViewsOf::step_and_series));
        if (!there.views.empty()) FB_TRY(store.sync_directory(stream_directory));
        views = std::move(there);
    }
    // Any id is good for the name of a removal. An unreadable manifest has none.
    const auto manifest = load_manifest(store, snapshot.directory);
    FB_TRY(discard(store, snapshot.directory, snapshot.step, manifest ? manifest->snapshot_id : 0));
    for (const auto& name : second_names) FB_TRY(store.remove_tree(name));
    return views;
}

// True if all snapshots with unreadable manifests go. While one of them exists, names like line-1.step-000310 count too
// (history.hpp), and may be the only proof that a snapshot was abandoned.
bool ends_names(const History& history, const std::function<bool(const Version&)>& stays) {
    bool any = false;
    for (const auto* list : {&history.living, &history.abandoned})
        for (const auto& version : *list) {
            if (!version.readable && stays(version)) return false;
            any |= !version.readable;
        }
    return any;
}

// Marks the starts that only removed snapshots prove, if they abandon a snapshot that stays. `start` is known anyway.
Result<> mark_starts(sys::Store& store, const std::string& stream_directory, const History& history,
                     const Pruned& pruned, const std::optional<format::LineStart>& start = {}) {
    const auto stays = [&](const Version& version) {
        return std::ranges::find(pruned.removed, version.snapshot.directory, &Snapshot::directory) ==
               pruned.removed.end();
    };
    History after{.starts = {}, .marked = {}, .pruned_above = {}, .dropped = history.dropped};
    const auto add = [&](const format::LineStart& known) {
        if (std::ranges::find(history.dropped, known.line) == history.dropped.end()) after.starts.push_back(known);
    };
    if (start) add(*start);
    std::ranges::for_each(history.marked, add);
    for (const auto* list : {&history.living, &history.abandoned})
        for (const auto& version : *list)
            if (stays(version)) std::ranges::for_each(version.head.lineage.lines, add);
    const bool names_end = ends_names(history, stays);
    for (const auto& version : history.abandoned) {
        const auto line = version.head.lineage.line();
        if (!version.readable || !stays(version) || after.abandons(line, version.head.step)) continue;
        auto starts = history.starts;
        // If no start proves it, only its name shows that this version is abandoned, and such names stop counting. A
        // made up next turn of its line, which goes on from the step below, keeps it abandoned.
        if (names_end) starts.push_back({{line.session, line.turn + 1}, version.head.step - 1});
        for (const auto& known : starts) {
            if (!format::abandons(known, line, version.head.step)) continue;
            FB_TRY(mark_removed(store, stream_directory, known));
            after.starts.push_back(known);
            break;
        }
    }
    return {};
}

// Removes the snapshots in `pruned`. A dry run only looks for files that would stay.
Result<> remove_all(sys::Store& store, const std::string& run, bool dry_run, Pruned& pruned) {
    for (const auto& snapshot : pruned.removed) {
        const auto look = [&]() -> Result<FoundViews> {
            if (!has_name_of_step(snapshot)) return FoundViews{};
            return find_views(store, run + "/" + snapshot.stream, snapshot.step, ViewsOf::step_and_series);
        };
        FB_TRY_ASSIGN(views, dry_run ? look() : remove(store, run, snapshot));
        for (const auto& path : views.others)  // each step finds the same series again
            if (std::ranges::count(pruned.others, path) == 0) pruned.others.push_back(path);
    }
    return {};
}

Result<> check_has_lines(const std::string& stream) {
    if (!format::is_packed_stream(stream)) return {};
    return Error{ErrorKind::refused,
                 fmt::format("stream \"{}\" holds packed files, so the run cannot go back in it", stream),
                 "nothing was removed", "use forebay extract, or rm -r of single batches"};
}

}  // namespace

Result<> mark_before_removal(sys::Store& store, const std::string& run, const std::string& stream,
                             const std::string& directory) {
    FB_TRY_ASSIGN(all, history(store, run, stream));
    Pruned pruned;
    pruned.removed.push_back({stream, 0, directory});
    return mark_starts(store, run + "/" + stream, all, pruned);
}

Result<Pruned> prune_above(sys::Store& store, const std::string& run, const std::string& stream, std::int64_t step,
                           std::uint32_t session, bool dry_run) {
    FB_TRY(check_has_lines(stream));
    FB_TRY_ASSIGN(all, history(store, run, stream));
    Pruned above;
    for (const auto& version : all.living)
        if (version.head.step > step) above.removed.push_back(version.snapshot);
    above.reasons.assign(above.removed.size(), fmt::format("it is above step {}", step));
    // The line comes first. Otherwise, after the removal, a copy staged on some node could count as the newest
    // snapshot.
    if (!dry_run) {
        const format::LineStart start{{session, 0}, step};
        FB_TRY(mark_starts(store, run + "/" + stream, all, above, start));
        FB_TRY(mark_start(store, run + "/" + stream, start));
    }
    FB_TRY(remove_all(store, run, dry_run, above));
    return above;
}

Result<Pruned> prune_line(sys::Store& store, const std::string& run, const std::string& stream,
                          const format::Line& line, bool dry_run) {
    FB_TRY(check_has_lines(stream));
    FB_TRY_ASSIGN(all, history(store, run, stream));
    // On a line that the run left, remove only abandoned snapshots: the snapshots below the point where the run left it
    // are part of the living state.
    const bool is_on_it = (all.living.empty() ? all.latest_line() : all.line()) == line;
    Pruned own;
    for (const auto* list : {&all.living, &all.abandoned})
        for (const auto& version : *list)
            if (version.readable && version.head.lineage.line() == line && (is_on_it || list == &all.abandoned))
                own.removed.push_back(version.snapshot);
    own.reasons.assign(own.removed.size(), fmt::format("it is on line {}", format::name_of(line)));
    const bool has_none = own.removed.empty() && !(is_on_it && line.session != 0);
    if (has_none)
        return Error{ErrorKind::missing,
                     fmt::format("line {} is not the current line, and has no snapshot, in stream \"{}\" of {}",
                                 format::name_of(line), stream, run),
                     "", fmt::format("forebay ls {}", run)};
    if (!dry_run) {
        if (is_on_it) {
            all.dropped.push_back(line);
            std::erase_if(all.starts, [&](const auto& start) { return start.line == line; });
        }
        FB_TRY(mark_starts(store, run + "/" + stream, all, own));
        if (is_on_it) FB_TRY(mark_dropped(store, run + "/" + stream, line));
    }
    FB_TRY(remove_all(store, run, dry_run, own));
    if (dry_run || !is_on_it) return own;
    // The dropped line does not count now, so snapshots that it abandoned are living again and need their own names.
    FB_TRY_ASSIGN(now, history(store, run, stream));
    FB_TRY(name_by_line(store, run, now));
    if (now.living.empty()) own.left_by = now.abandoned.empty() ? format::Line{} : now.latest_line();
    return own;
}

Result<Pruned> prune(sys::Store& store, const std::string& run, const std::string& stream, const Retention& what) {
    if (what.keep < 0)
        return Error{
            ErrorKind::refused,
            fmt::format(
                "cannot keep {} snapshots of stream \"{}\": 0 keeps all, 1 or more keeps as many whole snapshots.",
                what.keep, stream)};
    FB_TRY_ASSIGN(all, history(store, run, stream));
    if (const auto last = all.last_session(); what.session != 0 && last > what.session) {
        Pruned nothing;
        nothing.later_session = last;
        return nothing;
    }
    if (!what.dry_run) {
        // Rename first: after the removal nothing else may show that a snapshot is abandoned.
        FB_TRY_ASSIGN(renamed, name_by_line(store, run, all));
        if (renamed) {
            FB_TRY_ASSIGN(named, history(store, run, stream));
            all = std::move(named);
        }
    }
    // A first, cheap pass: if nothing would go even if all snapshots with whole files count, no data need to be read.
    auto trusting = what;
    if (what.proof)
        trusting.proof = [&](const Snapshot& snapshot) -> Result<> {
            FB_TRY_ASSIGN(manifest, load_manifest(store, snapshot.directory));
            return check_whole(store, snapshot.directory, manifest);
        };
    auto pruned = select_snapshots(store, all, trusting);
    if (pruned.removed.empty()) return pruned;
    if (what.proof) pruned = select_snapshots(store, all, what);
    if (pruned.removed.empty()) return pruned;
    // A kept snapshot was seen, but its name may not be durable: its committer may have been killed before the sync.
    if (!what.dry_run) {
        FB_TRY(store.sync_directory(run + "/" + stream));
        FB_TRY(mark_starts(store, run + "/" + stream, all, pruned));
    }
    FB_TRY(remove_all(store, run, what.dry_run, pruned));
    return pruned;
}

}  // namespace forebay::catalog
