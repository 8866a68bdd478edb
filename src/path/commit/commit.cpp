#include "path/commit/commit.hpp"

#include <fmt/format.h>

#include <set>

#include "core/base/limits.hpp"
#include "core/base/try.hpp"
#include "path/catalog/marks.hpp"
#include "path/catalog/names.hpp"
#include "path/catalog/run.hpp"
#include "path/commit/gather.hpp"
#include "path/commit/publish.hpp"

namespace forebay::commit {

namespace {

// The agents synced the node files before they gave them names, but perhaps not the names.
Result<> write_manifest(sys::Store& store, const std::string& part, const format::Manifest& manifest) {
    std::set<std::string> folders;
    for (const auto& line : manifest.nodes)
        if (const auto slash = line.path.rfind('/'); slash != std::string::npos)
            folders.insert(part + "/" + line.path.substr(0, slash));
    // write_text_durable() syncs only the part itself, so subdirectories with node files are synced here.
    for (const auto& folder : folders) FB_TRY(store.sync_directory(folder));
    FB_TRY(sys::write_text_durable(store, part + "/" + catalog::manifest_name, format::encode_manifest(manifest)));
    // Analyses may have marked the snapshot before it had a manifest (catalog/marks.hpp). This comes before the rename,
    // so either the marker or this agent sees the work of the other.
    FB_TRY(catalog::complete_marks(store, part));
    return {};
}

// Removes the temporary files that moved with the directory when another agent gave it its final name. Nobody needs
// them: a writer that comes now finds the snapshot committed. recover removes files that cannot be removed here.
void sweep(sys::Store& store, const std::string& directory) {
    const auto entries = store.list(directory);
    if (!entries) return;
    for (const auto& entry : *entries)
        if (!entry.is_directory && sys::is_temporary(entry.name))
            static_cast<void>(sys::remove_unless_renamed(store, directory + "/" + entry.name));
}

}  // namespace

SnapshotKey key_of(const std::string& run, const std::string& stream, const format::Record& record) {
    return {run, stream, record.step, record.which_save(), record.nodes, record.form};
}

Result<Commit> commit_if_complete(sys::Store& store, const SnapshotKey& key, std::uint64_t run_id,
                                  std::uint32_t* look_first_at, std::vector<std::string>* others) {
    if (key.nodes == 0 || key.nodes > limits::nodes_max || key.step < 0)
        return Error{ErrorKind::refused,
                     fmt::format("cannot commit step {} of stream \"{}\" with {} nodes: steps start at "
                                 "0, nodes are 1 to {}.",
                                 key.step, key.stream, key.nodes, limits::nodes_max)};
    const SnapshotPlace place{key.run, key.stream, key.step};
    const auto part = place.stream_directory() + "/" + catalog::part_name(key.step, key.save.snapshot_id);
    FB_TRY_ASSIGN(before, find_committed(store, place, key.save));
    if (before) return Commit::already;
    bool writes = false;
    const auto outcome = [&]() -> Result<Commit> {
        const catalog::WantedSnapshot wanted{.snapshot_id = key.save.snapshot_id,
                                             .step = key.step,
                                             .nodes = key.nodes,
                                             .form = key.form,
                                             .run_id = run_id,
                                             .look_first_at = look_first_at == nullptr ? 0 : *look_first_at};
        FB_TRY_ASSIGN(absent, catalog::form_of(key.form).absent(store, part, wanted));
        if (absent && look_first_at != nullptr) *look_first_at = *absent;
        if (absent) return Commit::waiting;
        FB_TRY(catalog::check_identity(store, key.run, run_id));
        FB_TRY_ASSIGN(manifest, gather(store, part, wanted));
        // If several agents assemble a combined file at once, a late agent changes the file's time. The snapshot then
        // does not count for retention, and stays longer.
        FB_TRY(catalog::note_changes(store, part, manifest));
        writes = true;
        FB_TRY(write_manifest(store, part, manifest));
        return publish(store, place, part, manifest.head(), others);
    }();
    const bool is_gone = outcome ? *outcome == Commit::waiting : outcome.error().kind == ErrorKind::missing;
    if (!is_gone) return outcome;
    // Another agent renamed the part during this call, or the part was never whole.
    FB_TRY_ASSIGN(now, find_committed(store, place, key.save));
    if (now && writes) {
        sweep(store, *now);
        FB_TRY(catalog::complete_marks(store, *now));  // our manifest may have replaced a marked manifest
    }
    return now ? Commit::already : outcome;
}

}  // namespace forebay::commit
