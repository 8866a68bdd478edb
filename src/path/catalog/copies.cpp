#include "path/catalog/copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/try.hpp"

namespace forebay::catalog {

namespace {

class MemoryCopies final : public Copies {
public:
    MemoryCopies(const format::Manifest& manifest, std::span<const node::StagedFile> staged) {
        for (const auto& file : staged) {
            const auto node = file.peek.record.node;
            if (file.peek.record.snapshot_id != manifest.snapshot_id || node >= manifest.nodes.size()) continue;
            const auto& line = manifest.nodes[node];
            // A compressed or shared file has another record than the staged file, so compare the staged checksum.
            if (line.node != node || format::staged_crc32c(line) != file.peek.record_crc32c) continue;
            copies_.try_emplace(node, Copy{.path = file.path, .mapping = {}});
        }
    }
    bool has_any() const { return !copies_.empty(); }

    bool has(const format::NodeLine& line) const override { return copies_.contains(line.node); }
    std::string place() const override { return "staged copy on this node, " + copies_.begin()->second.path; }
    std::string name_of(const format::NodeLine& line) const override { return copies_.at(line.node).path; }
    std::uint32_t record_crc32c(const format::NodeLine& line) const override { return format::staged_crc32c(line); }
    Result<> check_record(const format::NodeLine&) const override { return {}; }
    Result<NodeReader> open(const format::NodeLine& line) const override {
        return NodeReader::open(sys::posix_store(), copies_.at(line.node).path, NodeReader::Length::at_least);
    }
    bool is_mapped() const override { return true; }
    Result<sys::Mapping*> map(const format::NodeLine& line) override {
        auto& copy = copies_.at(line.node);
        if (!copy.mapping.mapped()) {
            FB_TRY_ASSIGN(mapping, sys::Mapping::open(copy.path, false));
            copy.mapping = std::move(mapping);
        }
        return &copy.mapping;
    }
    Result<std::unique_ptr<sys::File>> open_direct(const format::NodeLine& line) const override {
        return sys::posix_store().open(copies_.at(line.node).path, sys::Access::read_direct);
    }

private:
    struct Copy {
        std::string path;
        sys::Mapping mapping;
    };
    std::map<std::uint32_t, Copy> copies_;  // by NodeLine::node
};

class TargetCopies final : public Copies {
public:
    TargetCopies(sys::Store& store, std::string directory) : store_(store), directory_(std::move(directory)) {}

    bool has(const format::NodeLine&) const override { return !directory_.empty(); }
    std::string place() const override { return directory_; }
    std::string name_of(const format::NodeLine& line) const override { return catalog::name_of(directory_, line); }
    std::uint32_t record_crc32c(const format::NodeLine& line) const override { return line.record_crc32c; }
    Result<> check_record(const format::NodeLine& line) const override {
        return read_healing([&](sys::Access access) -> Result<> {
            FB_TRY_ASSIGN(reader, NodeReader::open(store_, directory_, line, access));
            if (reader.peek().record_crc32c == line.record_crc32c) return {};
            return Error{ErrorKind::corrupt,
                         fmt::format("{} is not the committed file: record {:08x}, expected {:08x}.", name_of(line),
                                     reader.peek().record_crc32c, line.record_crc32c)};
        });
    }
    Result<NodeReader> open(const format::NodeLine& line) const override {
        return NodeReader::open(store_, directory_, line, sys::Access::read_direct);
    }
    bool is_mapped() const override { return false; }
    Result<sys::Mapping*> map(const format::NodeLine& line) override {
        return Error{ErrorKind::unsupported, fmt::format("{} is at the target and is not mapped", name_of(line))};
    }
    Result<std::unique_ptr<sys::File>> open_direct(const format::NodeLine& line) const override {
        return open_line(store_, directory_, line, sys::Access::read_direct);
    }

private:
    sys::Store& store_;
    const std::string directory_;
};

}  // namespace

std::unique_ptr<Copies> copies_in_memory(const format::Manifest& manifest, std::span<const node::StagedFile> staged) {
    auto copies = std::make_unique<MemoryCopies>(manifest, staged);
    return copies->has_any() ? std::move(copies) : nullptr;
}

std::unique_ptr<Copies> copies_at_target(sys::Store& target, const std::string& directory) {
    return std::make_unique<TargetCopies>(target, directory);
}

SnapshotCopies::SnapshotCopies(sys::Store& target, std::string directory)
    : directory_(std::move(directory)), source_(directory_), target_(copies_at_target(target, directory_)) {}

void SnapshotCopies::add(std::unique_ptr<Copies> place, const format::Manifest& manifest) {
    if (!place) return;
    const bool has_all = std::ranges::all_of(manifest.nodes, [&](const auto& line) { return place->has(line); });
    // Only the first complete place is the source, because places are read in this order.
    if (has_all && source_ == directory_) source_ = place->place();
    faster_.push_back(std::move(place));
}

void SnapshotCopies::fall_back() {
    faster_.clear();
    source_ = directory_;
}

Copies& SnapshotCopies::of(const format::NodeLine& line) const {
    const auto first = std::ranges::find_if(faster_, [&](const auto& place) { return place->has(line); });
    return first != faster_.end() ? **first : *target_;
}

Result<format::Manifest> manifest_of_staged(const std::string& path) {
    FB_TRY_ASSIGN(reader, NodeReader::open(sys::posix_store(), path, NodeReader::Length::at_least));
    FB_TRY_ASSIGN(head, reader.head());
    const auto& record = head.record;
    return format::Manifest{.snapshot_id = record.snapshot_id,
                            .step = record.step,
                            .time = record.time,
                            .sealed_unix_ns = record.sealed_unix_ns,
                            .world_ranks = record.world_ranks,
                            .lineage = record.lineage,
                            .schema = head.schema,
                            .shapes = format::distinct_shapes(head.schema),
                            .nodes = {format::line_of(head, format::node_path(0, 1))}};
}

}  // namespace forebay::catalog
