#include "path/commit/gather.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/try.hpp"
#include "path/catalog/catalog.hpp"
#include "path/catalog/names.hpp"

namespace forebay::commit {

namespace {

using catalog::not_of_this, catalog::WantedSnapshot;

Result<> belongs(const format::NodeFile& head, const WantedSnapshot& wanted, std::uint32_t node,
                 const std::string& path) {
    const auto& record = head.record;
    if (record.snapshot_id != wanted.snapshot_id)
        return not_of_this(path, fmt::format("its snapshot is {}, {} expected", catalog::id_text(record.snapshot_id),
                                             catalog::id_text(wanted.snapshot_id)));
    if (record.step != wanted.step)
        return not_of_this(path, fmt::format("it holds step {}, {} expected", record.step, wanted.step));
    const auto& lineage = record.lineage;
    if (lineage.run_id != 0 && wanted.run_id != 0 && lineage.run_id != wanted.run_id)
        return not_of_this(path, fmt::format("it is of the run {}, but this is the run {}",
                                             catalog::id_text(lineage.run_id), catalog::id_text(wanted.run_id)));
    if (record.node != node || record.nodes != wanted.nodes)
        return not_of_this(path, fmt::format("it is node {} of {}, node {} of {} expected", record.node, record.nodes,
                                             node, wanted.nodes));
    return {};
}

// Checks that every rank of the world is in exactly one node file.
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

class ManifestMaker {
public:
    ManifestMaker(sys::Store& store, const std::string& directory, const WantedSnapshot& wanted)
        : store_(store), directory_(directory), wanted_(wanted) {
        manifest_.snapshot_id = wanted.snapshot_id;
        manifest_.step = wanted.step;
        manifest_.nodes.reserve(wanted.nodes);
    }

    Result<format::Manifest> gather() {
        FB_TRY(catalog::form_of(wanted_.form)
                   .assemble(store_, directory_, wanted_,
                             [this](const auto& head, std::uint32_t node, const auto& path, const auto& name) {
                                 return add(head, node, path, name);
                             }));
        FB_TRY(ranks_.all_seen(directory_));
        return std::move(manifest_);
    }

private:
    Result<> add(const format::NodeFile& head, std::uint32_t node, const std::string& path, const std::string& name);

    sys::Store& store_;
    const std::string& directory_;
    const WantedSnapshot& wanted_;
    format::Manifest manifest_;
    RankCount ranks_{0};
};

Result<> ManifestMaker::add(const format::NodeFile& head, std::uint32_t node, const std::string& path,
                            const std::string& name) {
    FB_TRY(belongs(head, wanted_, node, name));
    // assemble() hands over the heads in the order of the nodes, so node 0 sets the values that the rest must have.
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
        return not_of_this(name, "its place in the history of the run differs from node 0");
    FB_TRY(ranks_.add(head, name));
    manifest_.sealed_unix_ns = std::max(manifest_.sealed_unix_ns, head.record.sealed_unix_ns);
    manifest_.nodes.push_back(format::line_of(head, path));
    return {};
}

}  // namespace

Result<format::Manifest> gather(sys::Store& store, const std::string& directory, const WantedSnapshot& wanted) {
    return ManifestMaker(store, directory, wanted).gather();
}

}  // namespace forebay::commit
