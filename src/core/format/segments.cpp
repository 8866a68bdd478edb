#include "core/format/segments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/crc32c.hpp"
#include "core/base/limits.hpp"

namespace forebay::format {

Segment segment_of(const NodeFile& file, std::size_t block, std::uint64_t i) {
    const auto& whole = file.blocks[block];
    const auto at = i * limits::segment_bytes;
    return {static_cast<std::uint32_t>(block), whole.first_segment + i, whole.offset_bytes + at,
            std::min(limits::segment_bytes, whole.size_bytes - at)};
}

std::vector<Segment> segments_by_offset(const NodeFile& file) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t b = 0; b < file.blocks.size(); ++b)
        if (file.blocks[b].size_bytes > 0 && file.stores(file.blocks[b].variable)) order.push_back(b);
    std::ranges::sort(order, {}, [&](std::uint32_t b) { return file.blocks[b].offset_bytes; });
    std::vector<Segment> segments;
    for (const auto b : order)
        for (std::uint64_t i = 0; i < segments_of(file.blocks[b].size_bytes); ++i)
            segments.push_back(segment_of(file, b, i));
    return segments;
}

Result<> check_segment(const NodeFile& file, const Segment& segment, std::span<const std::byte> bytes,
                       const std::string& name) {
    const auto sum = crc32c(bytes);
    if (sum == file.crc32c[segment.word]) return {};
    return damaged(file, segment, sum, name);
}

Error damaged(const NodeFile& file, const Segment& segment, std::uint32_t sum, const std::string& name) {
    const auto& block = file.blocks[segment.block];
    return {ErrorKind::corrupt,
            fmt::format("variable \"{}\" of rank {} in {} differs from the saved data: crc32c {:08x} read back, {:08x} "
                        "expected, bytes {}-{}.",
                        file.schema.variables[block.variable].name, block.rank, name, sum, file.crc32c[segment.word],
                        segment.offset, segment.offset + segment.bytes - 1)};
}

}  // namespace forebay::format
