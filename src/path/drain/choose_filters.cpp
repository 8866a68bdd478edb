#include <algorithm>

#include "core/base/limits.hpp"
#include "core/describe/geometry.hpp"
#include "path/drain/compress.hpp"

namespace forebay::drain {

namespace {

// Below this size a variable gains less than the lookup of its chunk's row costs. Scalars stay readable without a
// filter.
constexpr std::uint64_t packed_bytes_min = limits::packed_variable_bytes;

/// The field of one zfp chunk, slowest dimension first. If all boxes of the node have equal planes or rows and these
/// fit, whole planes or rows, because zfp gains from neighbours in every dimension. If not, a line of numbers.
Extents field_of(const format::NodeFile& file, std::size_t v, std::uint64_t elements_max) {
    const auto& variable = file.schema.variables[v];
    const auto first = file.first_block[v], last = file.first_block[v + 1];
    const auto total = file.extents[v].used_bytes / variable.type.size_bytes;
    const auto dims = variable.kind == Kind::array ? variable.shape.dims() : 1;
    Extents inner;  // trailing sizes that all boxes have, slowest first
    std::uint64_t volume = 1;
    for (int dim = dims - 1; dim > 0 && inner.dims() < 2; --dim) {
        const auto size = file.blocks[first].box.size[dim];
        const bool agreed = std::all_of(
            file.blocks.begin() + static_cast<std::ptrdiff_t>(first),
            file.blocks.begin() + static_cast<std::ptrdiff_t>(last),
            [&](const format::Block& block) { return block.size_bytes == 0 || block.box.size[dim] == size; });
        // zfp works in blocks of 4, so a smaller size wastes room.
        if (!agreed || size < 4 || volume * size * 4 > elements_max) break;
        volume *= size;
        Extents longer{size};
        for (int i = 0; i < inner.dims(); ++i) longer.push_back(inner[i]);
        inner = longer;
    }
    Extents field{std::min(total, elements_max) / volume};
    for (int i = 0; i < inner.dims(); ++i) field.push_back(inner[i]);
    return field;
}

format::StoredVariable packed(codec::Filter filter, std::uint64_t chunk_bytes) {
    return {.filter = filter.id, .values = std::move(filter.values), .chunk_bytes = chunk_bytes};
}

}  // namespace

std::vector<format::StoredVariable> choose_filters(const format::NodeFile& file, const node::CompressionRules& rules) {
    std::vector<format::StoredVariable> chosen(file.extents.size());
    for (std::size_t v = 0; v < chosen.size(); ++v) {
        const auto& variable = file.schema.variables[v];
        const auto& rule = rules.of(variable.name);
        const auto used = file.extents[v].used_bytes;
        if (rule.codec == Codec::none || variable.kind == Kind::replicated || used < packed_bytes_min) continue;
        // An agent whose build lacks the library stores the variable unchanged.
        const bool by_zfp = rule.codec == Codec::zfp && codec::zfp_takes(variable.type);
        if (by_zfp ? !codec::has_zfp() : !codec::has_blosc()) continue;
        const auto element = variable.type.size_bytes;
        const auto elements_max = limits::segment_bytes / element;
        if (by_zfp) {
            const auto field = field_of(file, v, elements_max);
            chosen[v] = packed(codec::zfp_filter(variable.type, field, rule.error), volume(field) * element);
        } else {
            const auto bytes = std::min(used / element, elements_max) * element;
            chosen[v] = packed(codec::blosc_filter(variable.type, rule.shuffle, bytes), bytes);
        }
    }
    return chosen;
}

}  // namespace forebay::drain
