#include "path/commit/reshard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "core/base/path.hpp"
#include "core/base/try.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/forms/file_form.hpp"
#include "path/catalog/marks.hpp"
#include "path/commit/gather.hpp"
#include "path/commit/reshard_plan.hpp"
#include "path/commit/reshard_writer.hpp"

namespace forebay::commit {

namespace {

constexpr std::string_view unfinished_end = ".tmp";

bool is_node_file(std::string name) {
    if (name.ends_with(unfinished_end)) name.resize(name.size() - unfinished_end.size());
    return std::ranges::any_of(catalog::all_forms(), [&](const auto* form) { return form->is_named(name); });
}

/// "g000": see format::node_path().
bool is_folder_of_node_files(const std::string& name) {
    return name.size() >= 4 && name.front() == 'g' &&
           std::all_of(name.begin() + 1, name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Whether it is there, and of no other ranks: in another number of files a node of the same number has others.
bool is_made(const Resharding& what, const std::string& path, std::uint32_t node,
             std::span<const std::uint32_t> ranks) {
    auto reader = catalog::NodeReader::open(*what.store, path);
    if (!reader) return false;
    const auto& record = reader->peek().record;
    if (record.snapshot_id != what.manifest.snapshot_id || record.node != node || record.nodes != what.nodes ||
        record.lineage != what.manifest.lineage)
        return false;
    const auto head = reader->head();
    return head && std::ranges::equal(head->ranks, ranks);
}

Result<> write_file(const Resharding& what, ReshardedNode& planned, const std::string& path) {
    FB_TRY(what.store->remove(path));  // what a killed call left may be somebody else's by now
    FB_TRY_ASSIGN(out, what.store->open(path, sys::Access::create));
    if (what.dress) FB_TRY(what.dress(path, false));
    FB_TRY(ReshardWriter(what, planned, *out).write());
    if (what.syncs) FB_TRY(out->sync());
    FB_TRY(out->close());
    return what.dress ? what.dress(path, true) : Result<>();
}

}  // namespace

std::uint32_t node_files_of(const format::Manifest& manifest, std::uint32_t wished) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(wished, rank_count(manifest)));
}

Result<> remove_stale(const Resharding& what) {
    std::set<std::string> wanted;
    for (std::uint32_t node = 0; node < what.nodes; ++node) wanted.insert(format::node_path(node, what.nodes));
    const auto clear = [&](const std::string& folder) -> Result<> {
        FB_TRY_ASSIGN(entries, what.store->list(what.directory + "/" + folder));
        for (const auto& entry : entries)
            if (!entry.is_directory && is_node_file(entry.name) && !wanted.contains(folder + entry.name))
                FB_TRY(what.store->remove(what.directory + "/" + folder + entry.name));
        return {};
    };
    FB_TRY(clear(""));
    FB_TRY_ASSIGN(entries, what.store->list(what.directory));
    for (const auto& entry : entries)
        if (entry.is_directory && !entry.is_link && is_folder_of_node_files(entry.name))
            FB_TRY(clear(entry.name + "/"));
    return {};
}

Result<> write_node_file(const Resharding& what, std::uint32_t node) {
    auto& store = *what.store;
    const auto path = what.directory + "/" + format::node_path(node, what.nodes);
    const auto folder = directory_of(path);
    FB_TRY_ASSIGN(planned, plan_node(store, what.source, what.manifest, what.nodes, node));
    if (!is_made(what, path, node, planned.layout.ranks)) {
        FB_TRY(sys::make_directories_below(store, what.directory, folder));
        const auto temporary = path + std::string(unfinished_end);
        if (auto written = write_file(what, planned, temporary); !written) {
            // The first error is the one to tell; a remainder that cannot be removed either is removed by a later call.
            static_cast<void>(store.remove(temporary));
            return written;
        }
        FB_TRY(store.rename(temporary, path));
    }
    return store.sync_directory(folder);
}

Result<> commit_resharded(const Resharding& what) {
    auto& store = *what.store;
    FB_TRY_ASSIGN(manifest, gather(store, what.directory,
                                   {.snapshot_id = what.manifest.snapshot_id,
                                    .step = what.manifest.step,
                                    .nodes = what.nodes,
                                    .run_id = what.manifest.lineage.run_id}));
    FB_TRY(catalog::note_changes(store, what.directory, manifest));
    FB_TRY_ASSIGN(marks, catalog::marks_of(store, what.source, what.manifest));
    manifest.marks = std::move(marks);
    FB_TRY(store.sync_directory(what.directory));  // folders of node files
    const auto path = what.directory + "/" + catalog::manifest_name;
    FB_TRY(sys::write_text_durable(store, path, format::encode_manifest(manifest)));
    return what.dress ? what.dress(path, true) : Result<>();
}

}  // namespace forebay::commit
