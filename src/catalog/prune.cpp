#include <fmt/format.h>

#include "catalog/catalog.hpp"
#include "catalog/names.hpp"

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

Result<> remove(sys::Store& store, const std::string& run, const Snapshot& snapshot) {
    FB_TRY(discard_older_saves(store, run, snapshot));
    // A view without its snapshot would show fill values as if they were data: it goes first, for good.
    const auto stream_directory = run + "/" + snapshot.stream;
    FB_TRY_ASSIGN(had_views, remove_views(store, stream_directory, snapshot.step));
    if (had_views) FB_TRY(store.sync_directory(stream_directory));
    // Any id serves to name what is being removed; a snapshot whose manifest is unreadable has none.
    const auto manifest = load_manifest(store, snapshot.directory);
    return discard(store, snapshot.directory, snapshot.step, manifest ? manifest->snapshot_id : 0);
}

}  // namespace

Result<bool> remove_views(sys::Store& store, const std::string& stream_directory, std::int64_t step) {
    bool had_views = false;
    for (const auto convention : all_conventions)
        for (const auto& name : {view_name(step, convention), series_name(convention)}) {
            const auto view = stream_directory + "/" + name;
            FB_TRY_ASSIGN(exists, store.exists(view));
            if (exists) FB_TRY(store.remove(view));
            had_views |= exists;
        }
    return had_views;
}

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
    if (dry_run || pruned.removed.empty()) return pruned;
    // What is kept was seen, but its name may not be durable yet: its committer may have been killed before the sync.
    FB_TRY(store.sync_directory(run + "/" + stream));
    for (const auto& snapshot : pruned.removed) FB_TRY(remove(store, run, snapshot));
    return pruned;
}

}  // namespace forebay::catalog
