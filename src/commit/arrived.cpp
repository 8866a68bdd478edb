#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "catalog/node_reader.hpp"
#include "catalog/region.hpp"
#include "commit/gather.hpp"
#include "format/manifest.hpp"
#include "format/shared.hpp"

namespace forebay::commit {

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
        const auto first = (wanted.look_first_at / per_file + i) % files * per_file;
        const auto path = fmt::format("{}/{}", directory, format::node_path(first, wanted.nodes, per_file));
        if (first + 1 == wanted.nodes) {  // alone in the last file, which is no combined one then
            FB_TRY_ASSIGN(exists, store.exists(path));
            if (!exists) return std::optional(first);
            continue;
        }
        FB_TRY_ASSIGN(absent, catalog::absent_region(store, path, wanted.snapshot_id, first, wanted.look_first_at));
        if (absent) return absent;
    }
    return std::optional<std::uint32_t>{};
}

}  // namespace

Result<std::optional<std::uint32_t>> absent_node(sys::Store& store, const std::string& directory,
                                                 const Wanted& wanted) {
    if (wanted.nodes_per_file == format::in_shared_file)
        return catalog::absent_region(store, directory + "/" + format::shared_file_name, wanted.snapshot_id, 0,
                                      wanted.look_first_at);
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
    FB_TRY_ASSIGN(nodes, catalog::arrived_regions(*file, *page, path));
    arrived.files += static_cast<std::uint32_t>(nodes.size());
    if (arrived.record || nodes.empty()) return {};
    std::vector<std::byte> pages(format::record_offset_bytes + format::record_size_bytes);
    FB_TRY(file->read(page->group.offset_of(nodes.front()), pages));
    FB_TRY_ASSIGN(peeked, format::peek(pages, path));
    arrived.record = peeked.record;
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
            if (!arrived.record) arrived.record = inside.record;
        } else if (entry.name == format::shared_file_name ||
                   (entry.name.starts_with("nodes-") && entry.name.ends_with(".h5"))) {
            FB_TRY(look_at_combined(store, path, arrived));
        } else if (entry.name.starts_with("node-") && entry.name.ends_with(".h5")) {
            ++arrived.files;
            if (arrived.record) continue;
            FB_TRY_ASSIGN(reader, catalog::NodeReader::open(store, path));
            arrived.record = reader.peek().record;
            arrived.nodes = arrived.record->nodes;
        }
    }
    return arrived;
}

}  // namespace forebay::commit
