#include <fmt/format.h>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/names.hpp"

namespace forebay::catalog {

namespace {

// The caller may remove `directory` itself under both of its names.
Result<> check_not_committed(sys::Store& store, const std::string& leftover, const std::string& directory) {
    FB_TRY_ASSIGN(committed, committed_name(store, leftover));
    if (!committed || *committed == directory) return {};
    return two_names(leftover, *committed);
}

}  // namespace

Result<std::optional<std::string>> committed_name(sys::Store& store, const std::string& leftover) {
    return sys::second_name(store, leftover, [](const sys::Entry& entry) {
        return entry.is_directory && (step_of(entry.name) || aside_of(entry.name));
    });
}

Error two_names(const std::string& leftover, const std::string& committed) {
    return {
        ErrorKind::refused,
        fmt::format("{} and {} are two names of one directory, since a rename was interrupted", leftover, committed),
        "the committed snapshot: neither name was removed",
        fmt::format("copy {} to another directory, remove both names, and move the copy to {}. DFS_USE_DTX=1 for "
                    "dfuse and the agents prevents this on DAOS",
                    committed, committed)};
}

Result<> discard(sys::Store& store, const std::string& directory, std::int64_t step, std::uint64_t snapshot_id) {
    const auto stream_directory = directory_of(directory);
    const auto gone = stream_directory + "/" + leftover_name({step, snapshot_id, Leftover::Kind::gone});
    FB_TRY(check_not_committed(store, directory, directory));
    FB_TRY_ASSIGN(left, store.exists(gone));
    if (left) {
        FB_TRY(check_not_committed(store, gone, directory));
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
