#include <fmt/format.h>

#include <algorithm>

#include "catalog/catalog.hpp"
#include "catalog/names.hpp"
#include "catalog/views.hpp"

namespace forebay::catalog {

namespace {

// Why the snapshot does not count, or nothing.
Result<> whole(sys::Store& store, const Snapshot& snapshot) {
    FB_TRY_ASSIGN(manifest, load_manifest(store, snapshot.directory));
    if (manifest.step != snapshot.step)
        return Error{ErrorKind::corrupt,
                     fmt::format("{} holds the manifest of step {}.", snapshot.directory, manifest.step)};
    return check_whole(store, snapshot.directory, manifest);
}

// What a cut replacement left of the same step must not take the place that becomes free.
Result<> discard_older_saves(sys::Store& store, const std::string& run, const Snapshot& snapshot) {
    FB_TRY_ASSIGN(left, leftovers(store, run, snapshot.stream));
    for (const auto& leftover : left)
        if (leftover.kind == Leftover::Kind::old && leftover.step == snapshot.step)
            FB_TRY(discard(store, leftover.directory, leftover.step, leftover.snapshot_id));
    return {};
}

Result<FoundViews> remove(sys::Store& store, const std::string& run, const Snapshot& snapshot) {
    FB_TRY(discard_older_saves(store, run, snapshot));
    // A view without its snapshot would show fill values as if they were data: it goes first, for good.
    const auto stream_directory = run + "/" + snapshot.stream;
    FB_TRY_ASSIGN(found, remove_views(store, stream_directory, snapshot.step, ViewsOf::step_and_series));
    if (!found.views.empty()) FB_TRY(store.sync_directory(stream_directory));
    // Any id serves to name what is being removed; a snapshot whose manifest is unreadable has none.
    const auto manifest = load_manifest(store, snapshot.directory);
    FB_TRY(discard(store, snapshot.directory, snapshot.step, manifest ? manifest->snapshot_id : 0));
    return found;
}

}  // namespace

Result<Pruned> prune(sys::Store& store, const std::string& run, const std::string& stream, int keep, bool dry_run,
                     std::int64_t spared) {
    if (keep < 0)
        return Error{ErrorKind::refused,
                     fmt::format("cannot keep {} snapshots of stream \"{}\": 0 keeps all, 1 or more "
                                 "keeps as many whole ones.",
                                 keep, stream)};
    FB_TRY_ASSIGN(all, snapshots(store, run, stream));
    Pruned pruned;
    int counted = 0;
    for (const auto& snapshot : all) {
        if (keep > 0 && counted >= keep && snapshot.step != spared) {
            pruned.removed.push_back(snapshot);
            continue;
        }
        pruned.kept.push_back(snapshot);
        if (keep == 0) continue;
        if (const auto verdict = whole(store, snapshot); verdict) ++counted;
        else pruned.problems.push_back(fmt::format("step {} does not count: {}", snapshot.step, verdict.error().text));
    }
    if (pruned.removed.empty()) return pruned;
    // What is kept was seen, but its name may not be durable yet: its committer may have been killed before the sync.
    const auto stream_directory = run + "/" + stream;
    if (!dry_run) FB_TRY(store.sync_directory(stream_directory));
    for (const auto& snapshot : pruned.removed) {
        FB_TRY_ASSIGN(found, dry_run ? find_views(store, stream_directory, snapshot.step, ViewsOf::step_and_series)
                                     : remove(store, run, snapshot));
        for (const auto& path : found.others)  // a series is met with each step
            if (std::ranges::count(pruned.others, path) == 0) pruned.others.push_back(path);
    }
    return pruned;
}

}  // namespace forebay::catalog
