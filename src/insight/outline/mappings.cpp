#include "insight/outline/mappings.hpp"

#include "core/describe/geometry.hpp"

namespace forebay::outline {

namespace {

/// True if `next` continues `box` along the slowest dimension, so that both together form a larger box.
bool continues(const Box& box, const Box& next) {
    if (box.lo.dims() == 0 || next.lo[0] != box.lo[0] + box.size[0]) return false;
    for (int dim = 1; dim < box.lo.dims(); ++dim)
        if (next.lo[dim] != box.lo[dim] || next.size[dim] != box.size[dim]) return false;
    return true;
}

}  // namespace

std::vector<SourceMapping> array_mappings(const format::NodeFile& file, std::size_t variable) {
    const std::uint64_t element_bytes = file.schema.variables[variable].type.size_bytes;
    std::vector<SourceMapping> mappings;
    for (auto b = file.first_block[variable]; b < file.first_block[variable + 1]; ++b) {
        const auto& block = file.blocks[b];
        if (volume(block.box.size) == 0) continue;
        const auto first_element = (block.offset_bytes - file.extents[variable].offset_bytes) / element_bytes;
        if (!mappings.empty()) {
            auto& last = mappings.back();
            // The bytes must be adjacent too: blocks may have room between them.
            if (last.first_element + volume(last.box.size) == first_element && continues(last.box, block.box)) {
                last.box.size[0] += block.box.size[0];
                continue;
            }
        }
        mappings.push_back({first_element, block.box});
    }
    return mappings;
}

std::vector<SourceMapping> column_mappings(const format::NodeFile& file, std::size_t variable,
                                           std::uint64_t first_row) {
    const auto rows = file.rows(file.schema.variables[variable].table);
    if (rows == 0) return {};
    return {{0, Box{{first_row}, {rows}}}};
}

std::uint64_t flat_elements(const format::NodeFile& file, std::size_t variable) {
    return file.extents[variable].used_bytes / file.schema.variables[variable].type.size_bytes;
}

}  // namespace forebay::outline
