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

Result<> remove(sys::Store& store, const std::string& stream_directory, const Snapshot& snapshot) {
    // Any id serves to name what is being removed; a snapshot whose manifest is unreadable has none.
    const auto manifest = load_manifest(store, snapshot.directory);
    const auto id = manifest ? manifest->snapshot_id : 0;
    const auto gone = stream_directory + "/" + leftover_name({snapshot.step, id, Leftover::Kind::gone});
    // A view without its snapshot would show fill values as if they were data: it goes first, for good.
    const auto view = stream_directory + "/" + view_name(snapshot.step);
    FB_TRY_ASSIGN(has_view, store.exists(view));
    if (has_view) {
        FB_TRY(store.remove(view));
        FB_TRY(store.sync_directory(stream_directory));
    }
    FB_TRY(store.remove_tree(gone));
    FB_TRY(store.rename(snapshot.directory, gone));
    // Durable before the first file goes: else a power cut could bring the name back without its files.
    FB_TRY(store.sync_directory(stream_directory));
    return store.remove_tree(gone);
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
    if (dry_run) return pruned;
    for (const auto& snapshot : pruned.removed) FB_TRY(remove(store, run + "/" + stream, snapshot));
    return pruned;
}

}  // namespace forebay::catalog
