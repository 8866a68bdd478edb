#include "drain/gather.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "catalog/catalog.hpp"
#include "catalog/names.hpp"
#include "catalog/node_reader.hpp"

namespace forebay::drain {

namespace {

Error not_of_this(const std::string& path, const std::string& why) {
    return {ErrorKind::refused, fmt::format("{} does not belong to this snapshot: {}.\n"
                                            "  Safe: nothing was committed, moved or removed; the staged copies stay "
                                            "on their nodes.\n"
                                            "  Next: move the file away and drain that node again.",
                                            path, why)};
}

Result<> belongs(const format::NodeFile& head, const Wanted& wanted, std::uint32_t node, const std::string& path) {
    const auto& record = head.record;
    if (record.snapshot_id != wanted.snapshot_id)
        return not_of_this(path, fmt::format("its snapshot is {}, {} expected", catalog::id_text(record.snapshot_id),
                                             catalog::id_text(wanted.snapshot_id)));
    if (record.step != wanted.step)
        return not_of_this(path, fmt::format("it holds step {}, {} expected", record.step, wanted.step));
    if (record.node != node || record.nodes != wanted.nodes)
        return not_of_this(path, fmt::format("it is node {} of {}, node {} of {} expected", record.node, record.nodes,
                                             node, wanted.nodes));
    return {};
}

// Every rank of the world is in exactly one node file.
class RankCount {
public:
    explicit RankCount(std::uint32_t world_ranks) : seen_(world_ranks, false) {}

    Result<> add(const format::NodeFile& head, const std::string& path) {
        for (const auto rank : head.ranks) {
            if (rank >= seen_.size())
                return not_of_this(path, fmt::format("it holds rank {} of a world of {}", rank, seen_.size()));
            if (seen_[rank]) return not_of_this(path, fmt::format("rank {} is in another node file too", rank));
            seen_[rank] = true;
        }
        return {};
    }

    Result<> all_seen(const std::string& directory) const {
        const auto absent = std::ranges::find(seen_, false);
        if (absent == seen_.end()) return {};
        return not_of_this(directory,
                           fmt::format("no node file holds rank {} of {}", absent - seen_.begin(), seen_.size()));
    }

private:
    std::vector<bool> seen_;
};

}  // namespace

Result<std::optional<std::uint32_t>> absent_node(sys::Store& store, const std::string& directory, std::uint32_t nodes) {
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

Result<Arrived> look_at_part(sys::Store& store, const std::string& directory) {
    FB_TRY_ASSIGN(entries, store.list(directory));
    Arrived arrived;
    for (const auto& entry : entries) {
        const auto path = directory + "/" + entry.name;
        if (entry.is_directory && !entry.name.starts_with('.')) {
            FB_TRY_ASSIGN(inside, look_at_part(store, path));
            arrived.files += inside.files;
            if (!arrived.nodes) arrived.nodes = inside.nodes;
        } else if (entry.name.starts_with("node-") && entry.name.ends_with(".h5")) {
            ++arrived.files;
            if (arrived.nodes) continue;
            FB_TRY_ASSIGN(reader, catalog::NodeReader::open(store, path));
            arrived.nodes = reader.peek().record.nodes;
        }
    }
    return arrived;
}

Result<format::Manifest> gather(sys::Store& store, const std::string& directory, const Wanted& wanted) {
    format::Manifest manifest{.snapshot_id = wanted.snapshot_id, .step = wanted.step};
    manifest.nodes.reserve(wanted.nodes);
    RankCount ranks(0);
    for (std::uint32_t node = 0; node < wanted.nodes; ++node) {
        const auto path = format::node_path(node, wanted.nodes);
        const auto full_path = fmt::format("{}/{}", directory, path);
        FB_TRY_ASSIGN(head, catalog::load_head(store, full_path));
        FB_TRY(belongs(head, wanted, node, full_path));
        if (node == 0) {
            manifest.time = head.record.time;
            manifest.world_ranks = head.record.world_ranks;
            manifest.schema = head.schema;
            manifest.shapes = format::distinct_shapes(head.schema);
            ranks = RankCount(head.record.world_ranks);
        } else if (head.schema != manifest.schema) {
            return not_of_this(full_path, "its variables differ from those of node 0");
        } else if (head.record.world_ranks != manifest.world_ranks) {
            return not_of_this(full_path, fmt::format("it was saved by {} ranks, node 0 by {}", head.record.world_ranks,
                                                      manifest.world_ranks));
        }
        FB_TRY(ranks.add(head, full_path));
        manifest.sealed_unix_ns = std::max(manifest.sealed_unix_ns, head.record.sealed_unix_ns);
        manifest.nodes.push_back(format::line_of(head, path));
    }
    FB_TRY(ranks.all_seen(directory));
    return manifest;
}

}  // namespace forebay::drain
