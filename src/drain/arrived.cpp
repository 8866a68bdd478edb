#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "catalog/node_reader.hpp"
#include "drain/gather.hpp"
#include "drain/region.hpp"
#include "format/manifest.hpp"
#include "format/shared.hpp"

namespace forebay::drain {

namespace {

Result<std::optional<std::uint32_t>> absent_file(sys::Store& store, const std::string& directory, std::uint32_t nodes) {
    std::string listed = "\n";  // no path: the first node lists its folder
    std::vector<sys::Entry> entries;
    for (std::uint32_t node = 0; node < nodes; ++node) {
        const auto path = format::node_path(node, nodes);
        const auto slash = path.rfind('/');
        const auto folder = slash == std::string::npos ? std::string{} : path.substr(0, slash);
        if (folder != listed) {
            auto found = store.list(folder.empty() ? directory : fmt::format("{}/{}", directory, folder));
            if (!found && found.error().kind == ErrorKind::missing) return std::optional(node);
            if (!found) return found.error();
            entries = std::move(*found);
            listed = folder;
        }
        const auto name = slash == std::string::npos ? path : path.substr(slash + 1);
        const auto entry = std::ranges::lower_bound(entries, name, {}, &sys::Entry::name);
        if (entry == entries.end() || entry->name != name) return std::optional(node);
    }
    return std::optional<std::uint32_t>{};
}

// Round from the file of the node to ask first: where many are absent one of them is found soon, and the agents, which
// begin with their own, do not all look at the same one.
Result<std::optional<std::uint32_t>> absent_in_combined(sys::Store& store, const std::string& directory,
                                                        const Wanted& wanted) {
    const auto per_file = wanted.nodes_per_file;
    const auto files = (wanted.nodes + per_file - 1) / per_file;
    for (std::uint32_t i = 0; i < files; ++i) {
        const auto first = (wanted.asking / per_file + i) % files * per_file;
        const auto path = fmt::format("{}/{}", directory, format::node_path(first, wanted.nodes, per_file));
        if (first + 1 == wanted.nodes) {  // alone in the last file, which is no combined one then
            FB_TRY_ASSIGN(exists, store.exists(path));
            if (!exists) return std::optional(first);
            continue;
        }
        FB_TRY_ASSIGN(absent, absent_region(store, path, wanted.snapshot_id, first, wanted.asking));
        if (absent) return absent;
    }
    return std::optional<std::uint32_t>{};
}

}  // namespace

Result<std::optional<std::uint32_t>> absent_node(sys::Store& store, const std::string& directory,
                                                 const Wanted& wanted) {
    if (wanted.nodes_per_file == format::in_shared_file)
        return absent_region(store, directory + "/" + format::shared_file_name, wanted.snapshot_id, 0, wanted.asking);
    return wanted.nodes_per_file > 1 ? absent_in_combined(store, directory, wanted)
                                     : absent_file(store, directory, wanted.nodes);
}

namespace {

Result<> look_at_combined(sys::Store& store, const std::string& path, Arrived& arrived) {
    FB_TRY_ASSIGN(file, store.open(path, sys::Access::read));
    const auto page = catalog::load_page(*file, path);
    if (!page && (page.error().kind == ErrorKind::retry || page.error().kind == ErrorKind::unsupported))
        return page.error();
    if (!page) return {};  // begun, and nothing has come
    arrived.nodes = page->nodes;
    arrived.nodes_per_file = page->group.nodes_per_file;
    FB_TRY_ASSIGN(nodes, arrived_regions(*file, *page, path));
    arrived.files += nodes;
    return {};
}

}  // namespace

Result<Arrived> look_at_part(sys::Store& store, const std::string& directory) {
    FB_TRY_ASSIGN(entries, store.list(directory));
    Arrived arrived;
    for (const auto& entry : entries) {
        const auto path = directory + "/" + entry.name;
        if (entry.is_directory && !entry.name.starts_with('.')) {
            FB_TRY_ASSIGN(inside, look_at_part(store, path));
            arrived.files += inside.files;
            if (inside.nodes) arrived.nodes = inside.nodes;
            arrived.nodes_per_file = std::max(arrived.nodes_per_file, inside.nodes_per_file);
        } else if (entry.name == format::shared_file_name ||
                   (entry.name.starts_with("nodes-") && entry.name.ends_with(".h5"))) {
            FB_TRY(look_at_combined(store, path, arrived));
        } else if (entry.name.starts_with("node-") && entry.name.ends_with(".h5")) {
            ++arrived.files;
            if (arrived.nodes) continue;
            FB_TRY_ASSIGN(reader, catalog::NodeReader::open(store, path));
            arrived.nodes = reader.peek().record.nodes;
            arrived.nodes_per_file = std::max(arrived.nodes_per_file, reader.peek().record.group.nodes_per_file);
        }
    }
    return arrived;
}

}  // namespace forebay::drain
