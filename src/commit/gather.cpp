#include "commit/gather.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "catalog/catalog.hpp"
#include "catalog/names.hpp"
#include "catalog/node_reader.hpp"
#include "format/shared.hpp"

namespace forebay::commit {

namespace {

Error not_of_this(const std::string& path, const std::string& why) {
    return {ErrorKind::refused, fmt::format("{} does not belong to this snapshot: {}", path, why),
            "nothing was committed, moved or removed; the staged copies stay on their nodes",
            "move the file away and drain that node again"};
}

Result<> belongs(const format::NodeFile& head, const Wanted& wanted, std::uint32_t node, const std::string& path) {
    const auto& record = head.record;
    if (record.snapshot_id != wanted.snapshot_id)
        return not_of_this(path, fmt::format("its snapshot is {}, {} expected", catalog::id_text(record.snapshot_id),
                                             catalog::id_text(wanted.snapshot_id)));
    if (record.step != wanted.step)
        return not_of_this(path, fmt::format("it holds step {}, {} expected", record.step, wanted.step));
    const auto& lineage = record.lineage;
    if (lineage.run_id != 0 && wanted.run_id != 0 && lineage.run_id != wanted.run_id)
        return not_of_this(path, fmt::format("it is of the run {}, this is the run {}",
                                             catalog::id_text(lineage.run_id), catalog::id_text(wanted.run_id)));
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

namespace {

class Gatherer {
public:
    Gatherer(sys::Store& store, const std::string& directory, const Wanted& wanted)
        : store_(store), directory_(directory), wanted_(wanted) {
        manifest_.snapshot_id = wanted.snapshot_id;
        manifest_.step = wanted.step;
        manifest_.nodes.reserve(wanted.nodes);
    }

    Result<format::Manifest> gather() {
        for (std::uint32_t node = 0; node < wanted_.nodes;) {
            const auto path = format::node_path(node, wanted_.nodes, wanted_.nodes_per_file);
            const auto full_path = fmt::format("{}/{}", directory_, path);
            const bool alone = wanted_.nodes_per_file == 1 || node + 1 == wanted_.nodes;
            if (wanted_.nodes_per_file == format::in_shared_file) {
                FB_TRY(add_shared(path, full_path));
                node = wanted_.nodes;
            } else if (alone) {
                FB_TRY_ASSIGN(head, catalog::load_head(store_, full_path));
                FB_TRY(add(head, node++, path, full_path));
            } else {
                FB_TRY(add_combined(node, path, full_path));
            }
        }
        FB_TRY(ranks_.all_seen(directory_));
        return std::move(manifest_);
    }

private:
    Result<> add(const format::NodeFile& head, std::uint32_t node, const std::string& path, const std::string& name);
    Result<> add_combined(std::uint32_t& node, const std::string& path, const std::string& full_path);
    Result<> add_shared(const std::string& path, const std::string& full_path);
    Result<> write_head(const std::string& full_path, const std::vector<std::byte>& head, std::uint64_t file_bytes);

    sys::Store& store_;
    const std::string& directory_;
    const Wanted& wanted_;
    format::Manifest manifest_;
    RankCount ranks_{0};
};

Result<> Gatherer::add(const format::NodeFile& head, std::uint32_t node, const std::string& path,
                       const std::string& name) {
    FB_TRY(belongs(head, wanted_, node, name));
    if (node == 0) {
        manifest_.time = head.record.time;
        manifest_.world_ranks = head.record.world_ranks;
        manifest_.lineage = head.record.lineage;
        manifest_.schema = head.schema;
        manifest_.shapes = format::distinct_shapes(head.schema);
        ranks_ = RankCount(head.record.world_ranks);
    } else if (head.schema != manifest_.schema) {
        return not_of_this(name, "its variables differ from those of node 0");
    } else if (head.record.world_ranks != manifest_.world_ranks) {
        return not_of_this(name, fmt::format("it was saved by {} ranks, node 0 by {}", head.record.world_ranks,
                                             manifest_.world_ranks));
    }
    if (head.record.lineage != manifest_.lineage)
        return not_of_this(name, "it stands elsewhere in the history of the run than node 0");
    FB_TRY(ranks_.add(head, name));
    manifest_.sealed_unix_ns = std::max(manifest_.sealed_unix_ns, head.record.sealed_unix_ns);
    manifest_.nodes.push_back(format::line_of(head, path));
    return {};
}

// All nodes of one combined file, and then its head, which shows them to HDF5 programs.
Result<> Gatherer::add_combined(std::uint32_t& node, const std::string& path, const std::string& full_path) {
    FB_TRY_ASSIGN(file, store_.open(full_path, sys::Access::read));
    FB_TRY_ASSIGN(page, catalog::load_page(*file, full_path));
    const auto& group = page.group;
    if (group.first_node != node || group.nodes_per_file != wanted_.nodes_per_file)
        return not_of_this(full_path, fmt::format("it holds {} nodes from {}, {} a file", group.nodes(),
                                                  group.first_node, group.nodes_per_file));
    std::vector<format::Region> regions;
    for (; node < group.first_node + group.nodes(); ++node) {
        const auto name = full_path + "/" + format::region_name(node);
        FB_TRY_ASSIGN(head, catalog::load_region(*file, page, node, name));
        if (format::page_of(head.record) != page)
            return not_of_this(name, "its record places the nodes of this file elsewhere than the file's page");
        FB_TRY(add(head, node, path, name));
        regions.push_back(format::region_of(head));
    }
    FB_TRY(file->close());
    return write_head(full_path, format::encode_combined_head(page, manifest_.schema, regions), 0);
}

// The length of a combined file is that of its last arrival. A shared one may end with bytes that nobody writes, and
// the agent that set the length may have lost its host before its sync: here it is set durably.
Result<> Gatherer::write_head(const std::string& full_path, const std::vector<std::byte>& head,
                              std::uint64_t file_bytes) {
    FB_TRY_ASSIGN(out, store_.open(full_path, sys::Access::update));
    FB_TRY(out->write(0, head));
    if (file_bytes != 0) FB_TRY(out->truncate(file_bytes));
    FB_TRY(out->sync());
    return out->close();
}

// All nodes: each one's bytes must lie where those before it end, and all where the rows of all place them.
Result<> Gatherer::add_shared(const std::string& path, const std::string& full_path) {
    FB_TRY_ASSIGN(file, store_.open(full_path, sys::Access::read));
    FB_TRY_ASSIGN(page, catalog::load_page(*file, full_path));
    if (page.nodes != wanted_.nodes || !page.group.is_shared())
        return not_of_this(full_path, fmt::format("it holds {} nodes, {} expected", page.nodes, wanted_.nodes));
    format::SharedPlan plan{.places = page.group.shared, .offsets = {}};
    std::vector<std::uint64_t> rows;
    for (std::uint32_t node = 0; node < wanted_.nodes; ++node) {
        const auto name = full_path + "/" + format::region_name(node);
        FB_TRY_ASSIGN(head, catalog::load_region(*file, page, node, name));
        if (format::page_of(head.record) != page || !head.is_shared)
            return not_of_this(name, "its record places the nodes of this file elsewhere than the file's page");
        FB_TRY(add(head, node, path, name));
        if (node == 0) {
            rows.assign(head.schema.tables.size(), 0);
            for (const auto& extent : head.extents) plan.offsets.push_back(extent.shared_offset_bytes);
        }
        const auto expected = format::own_offsets(plan, head.schema, rows);
        if (!std::ranges::equal(head.extents, expected, {}, &format::Extent::shared_offset_bytes))
            return not_of_this(name, "its bytes lie elsewhere than those of the nodes before it end");
        for (std::uint32_t table = 0; table < rows.size(); ++table) rows[table] += head.rows(table);
    }
    FB_TRY(file->close());
    const auto& places = page.group.shared;
    const auto whole = format::place_shared(manifest_.schema, places, rows);
    const auto naming = static_cast<format::SharedNaming>(places.naming);
    if (places.heads_offset != format::shared_heads_offset(manifest_.schema, naming) || whole.places != plan.places ||
        whole.offsets != plan.offsets)
        return not_of_this(full_path, "its page and its nodes place the variables elsewhere than their rows do");
    return write_head(full_path, format::encode_shared_head(page, manifest_.schema, rows), places.file_bytes);
}

}  // namespace

Result<format::Manifest> gather(sys::Store& store, const std::string& directory, const Wanted& wanted) {
    return Gatherer(store, directory, wanted).gather();
}

}  // namespace forebay::commit
