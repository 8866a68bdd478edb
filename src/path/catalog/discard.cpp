#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/names.hpp"

namespace forebay::catalog {

Result<> discard(sys::Store& store, const std::string& directory, std::int64_t step, std::uint64_t snapshot_id) {
    const auto stream_directory = directory_of(directory);
    const auto gone = stream_directory + "/" + leftover_name({step, snapshot_id, Leftover::Kind::gone});
    FB_TRY_ASSIGN(left, store.exists(gone));
    if (left) {
        // An earlier discard() may have been killed between its rename and its sync.
        FB_TRY(store.sync_directory(stream_directory));
        FB_TRY(store.remove_tree(gone));
    }
    const auto renamed = store.rename(directory, gone);
    if (!renamed && renamed.error().kind != ErrorKind::missing) return renamed;
    // Make the rename durable first. Without the sync, a power cut could bring the name back without its files.
    FB_TRY(store.sync_directory(stream_directory));
    // The manifest goes first. A client of a network file system may still know the old name; without a manifest it
    // sees a removal and no damage (is_removed).
    FB_TRY(store.remove(gone + "/" + manifest_name));
    return store.remove_tree(gone);
}

}  // namespace forebay::catalog
