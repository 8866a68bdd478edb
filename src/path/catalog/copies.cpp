#include "path/catalog/copies.hpp"

#include <utility>

#include "core/base/try.hpp"

namespace forebay::catalog {

void Copies::add_memory(const format::Manifest& manifest, std::span<const node::StagedFile> staged) {
    for (const auto& file : staged) {
        const auto node = file.peek.record.node;
        if (file.peek.record.snapshot_id != manifest.snapshot_id || node >= manifest.nodes.size()) continue;
        const auto& line = manifest.nodes[node];
        if (line.node != node || format::staged_crc32c(line) != file.peek.record_crc32c) continue;
        memory_.try_emplace(node, InMemory{.path = file.path, .mapping = {}});
    }
    if (in_memory() && memory_.size() == manifest.nodes.size())
        source_ = "staged copy on this node, " + memory_.begin()->second.path;
}

void Copies::leave_memory() {
    memory_.clear();
    source_ = directory_;
}

std::string Copies::name_of(const format::NodeLine& line) const {
    const auto copy = memory_.find(line.node);
    return copy != memory_.end() ? copy->second.path : catalog::name_of(directory_, line);
}

std::uint32_t Copies::record_crc32c(const format::NodeLine& line) const {
    return in_memory(line) ? format::staged_crc32c(line) : line.record_crc32c;
}

Result<NodeReader> Copies::open(const format::NodeLine& line) const {
    const auto copy = memory_.find(line.node);
    if (copy == memory_.end()) return NodeReader::open(*target_, directory_, line, sys::Access::read_direct);
    return NodeReader::open(sys::posix_store(), copy->second.path, NodeReader::Length::at_least);
}

Result<sys::Mapping*> Copies::map(const format::NodeLine& line) {
    auto& copy = memory_.at(line.node);
    if (!copy.mapping.mapped()) {
        FB_TRY_ASSIGN(mapping, sys::Mapping::open(copy.path, false));
        copy.mapping = std::move(mapping);
    }
    return &copy.mapping;
}

Result<std::unique_ptr<sys::File>> Copies::open_direct(const format::NodeLine& line) const {
    return open_line(*target_, directory_, line, sys::Access::read_direct);
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
